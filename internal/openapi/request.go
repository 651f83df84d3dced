package openapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// request builds the request of a call. Its errors are about the arguments, for the model.
func (a *API) request(ctx context.Context, one *operation, given map[string]json.RawMessage) (*http.Request, error) {
	path, query, header := one.path, []string{}, http.Header{}
	var cookies []*http.Cookie
	for _, arg := range one.arguments {
		raw, ok := given[arg.key]
		if !ok || string(raw) == "null" && !arg.need {
			if arg.in == "path" {
				return nil, fmt.Errorf("argument %q is missing", arg.key)
			}
			continue
		}
		var err error
		switch arg.in {
		case "path":
			path, err = arg.fillPath(path, raw)
		case "query":
			var pairs [][2]string
			if pairs, err = arg.pairs(raw); len(pairs) > 0 {
				query = append(query, arg.queryText(pairs))
			}
		case "header":
			var text string
			text, err = arg.joined(raw, func(s string) string { return s })
			header.Set(arg.name, text)
		case "cookie":
			var pairs [][2]string
			pairs, err = arg.pairs(raw)
			for _, p := range pairs {
				cookies = append(cookies, &http.Cookie{Name: p[0], Value: url.QueryEscape(p[1])})
			}
		}
		if err != nil {
			return nil, err
		}
	}
	target, err := url.Parse(strings.TrimSuffix(one.base.String(), "/") + path)
	if err != nil || !sameOrigin(target, one.base) {
		return nil, fmt.Errorf("the path %q cannot be sent", path)
	}
	target.RawQuery = strings.Join(query, "&")
	req, err := http.NewRequestWithContext(ctx, one.method, target.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("the request cannot be built: %w", withoutAddress(err))
	}
	if one.body != nil {
		if err := one.setBody(req, given); err != nil {
			return nil, err
		}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	req.Header.Set("Accept", "application/json, */*;q=0.5")
	req.Header.Set("User-Agent", "tooldex")
	if one.home {
		a.authorize(req, one)
	}
	return req, nil
}

// setBody writes the body into a request, so that it can be sent again after a redirect.
func (one *operation) setBody(req *http.Request, given map[string]json.RawMessage) error {
	content, kind, err := one.body.write(one.arguments, given)
	if err != nil || content == nil {
		return err
	}
	with, err := http.NewRequestWithContext(req.Context(), req.Method, req.URL.String(), content)
	if err != nil {
		return err
	}
	req.Body, req.GetBody, req.ContentLength = with.Body, with.GetBody, with.ContentLength
	req.Header.Set("Content-Type", kind)
	return nil
}

// fillPath replaces the place of an argument in a path. A value stays one segment: it cannot lead to another operation.
func (a *argument) fillPath(path string, raw json.RawMessage) (string, error) {
	text, err := a.joined(raw, url.PathEscape)
	if err != nil {
		return "", err
	}
	if text == "" || text == "." || text == ".." {
		return "", fmt.Errorf("argument %q cannot be %q", a.key, text)
	}
	return strings.ReplaceAll(path, "{"+a.name+"}", text), nil
}

// authorize adds the configured headers, and the credentials of the first alternative that is configured as a whole.
func (a *API) authorize(req *http.Request, one *operation) {
	for _, alternative := range one.security {
		whole := len(alternative) > 0
		for name := range alternative {
			if a.o.Auth[name] == "" {
				whole = false
			}
		}
		if !whole {
			continue
		}
		for _, name := range keysOf(alternative) {
			if ref := a.schemes[name]; ref != nil && ref.Value != nil {
				applyScheme(req, ref.Value, a.o.Auth[name])
			}
		}
		break
	}
	for name, value := range a.o.Headers {
		if strings.EqualFold(name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
}

// applyScheme adds one credential to a request.
func applyScheme(req *http.Request, scheme *openapi3.SecurityScheme, value string) {
	switch {
	case scheme.Type == "apiKey" && scheme.In == "query":
		q := url.QueryEscape(scheme.Name) + "=" + url.QueryEscape(value)
		if req.URL.RawQuery != "" {
			q = req.URL.RawQuery + "&" + q
		}
		req.URL.RawQuery = q
	case scheme.Type == "apiKey" && scheme.In == "cookie":
		req.AddCookie(&http.Cookie{Name: scheme.Name, Value: value})
	case scheme.Type == "apiKey":
		req.Header.Set(scheme.Name, value)
	case scheme.Type == "http" && strings.EqualFold(scheme.Scheme, "basic"):
		req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(value)))
	default: // http bearer, oauth2 and openIdConnect
		req.Header.Set("Authorization", "Bearer "+value)
	}
}

// wants returns the security schemes that an operation asks for and none of whose alternatives is configured; nil if
// nothing is missing.
func (a *API) wants(one *operation) []string {
	missing := map[string]bool{}
	for _, alternative := range one.security {
		whole := true
		for name := range alternative {
			if a.o.Auth[name] == "" {
				missing[name], whole = true, false
			}
		}
		if whole {
			return nil
		}
	}
	return keysOf(missing)
}
