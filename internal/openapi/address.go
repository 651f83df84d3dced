package openapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// baseAddress returns the address of the API: the configured one, or the first of the description's servers, with the
// defaults of its variables. A relative one is resolved against the address of the description.
func (o *Options) baseAddress(servers openapi3.Servers, at *url.URL) (*url.URL, error) {
	const hint = "give the address of the API as url"
	text, where := o.Base, "its url"
	if text == "" {
		where = "the first of the description's servers"
		text = "/"
		if len(servers) > 0 && servers[0] != nil {
			text = servers[0].URL
			for name, v := range servers[0].Variables {
				if v == nil || v.Default == "" {
					return nil, o.invalid(fmt.Sprintf("variable %.60q in %s has no default", name, where), hint, nil)
				}
				text = strings.ReplaceAll(text, "{"+name+"}", v.Default)
			}
		} else if at == nil {
			return nil, o.invalid("its description names no server", hint, nil)
		}
	}
	u, err := url.Parse(text)
	if err != nil || strings.Contains(text, "{") {
		return nil, o.invalid(where+" is no address", hint, nil)
	}
	if !u.IsAbs() && o.Base == "" {
		if at == nil {
			return nil, o.invalid(where+" is relative, and the description is a file", hint, nil)
		}
		u = at.ResolveReference(u)
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, o.invalid(where+" is no http or https address", hint, nil)
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// checkCredentials refuses to send credentials to a host that only a description from elsewhere names: whoever changes
// the description could then collect them.
func (o *Options) checkCredentials(a *API, at *url.URL) error {
	for name := range o.Auth {
		if a.schemes[name] == nil || a.schemes[name].Value == nil {
			return o.invalid(fmt.Sprintf("auth names %.60q, which is no security scheme of the description", name),
				"use "+list(keysOf(a.schemes), "headers: the description has no scheme"), nil)
		}
	}
	if at == nil || o.Base != "" || len(o.Auth)+len(o.Headers) == 0 || sameOrigin(at, a.base) {
		return nil
	}
	return o.invalid(fmt.Sprintf("its credentials would go to %s, which only the description names", a.base.Host),
		fmt.Sprintf("if that is right, give the address as url: %s", a.base), nil)
}

// sameOrigin compares scheme and host with port as they are written.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host)
}

// maxRedirects bounds the redirects of one request.
const maxRedirects = 5

// checkRedirect lets a request that changes nothing follow to another host, without anything that was added to it; one
// that changes something stays where it was sent.
func checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case sameOrigin(req.URL, via[0].URL):
		return nil
	case via[0].Method != http.MethodGet && via[0].Method != http.MethodHead:
		return fmt.Errorf("redirected to another host, %s", req.URL.Host)
	}
	req.Header = http.Header{}
	return nil
}

// withoutAddress returns an error of the HTTP client without the address, whose query may hold a key.
func withoutAddress(err error) error {
	if at := (*url.Error)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}
