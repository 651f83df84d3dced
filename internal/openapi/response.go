package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// maxRefusal bounds what a model reads of the body of an error, in bytes.
const maxRefusal = 4 << 10

// result returns the answer to a call. An answer of 400 and more is an error of the tool, with the status and the
// beginning of the body. The caller closes the body.
func (a *API) result(one *operation, resp *http.Response) (*mcp.CallToolResult, error) {
	limit := a.o.MaxResponse
	if resp.StatusCode >= 300 {
		limit = maxRefusal
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("the answer broke off: %w", withoutAddress(err))
	}
	if resp.StatusCode >= 300 {
		return nil, a.refusal(one, resp, data)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("the answer is larger than %d bytes; ask for less, for example by a page size or a filter",
			limit)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return text("HTTP " + resp.Status), nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if (isJSON(kind) || kind == "") && json.Valid(data) {
		out := text(string(data))
		if trimmed := bytes.TrimSpace(data); trimmed[0] == '{' {
			out.StructuredContent = json.RawMessage(trimmed)
		}
		return out, nil
	}
	switch {
	case strings.HasPrefix(kind, "image/") && kind != "image/svg+xml":
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: data, MIMEType: kind}}}, nil
	case strings.HasPrefix(kind, "audio/"):
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.AudioContent{Data: data, MIMEType: kind}}}, nil
	case isTextual(kind) || kind == "" && utf8.Valid(data):
		return text(strings.ToValidUTF8(string(data), "\uFFFD")), nil
	}
	at := *resp.Request.URL
	at.RawQuery, at.User = "", nil
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{
		Resource: &mcp.ResourceContents{URI: at.String(), MIMEType: kind, Blob: data},
	}}}, nil
}

// isTextual reports whether a media type is read as text.
func isTextual(kind string) bool {
	return strings.HasPrefix(kind, "text/") || isJSON(kind) || strings.HasSuffix(kind, "xml") ||
		strings.HasSuffix(kind, "yaml") || strings.HasSuffix(kind, "javascript") || strings.HasSuffix(kind, "x-ndjson")
}

// refusal returns the error for an answer that says no.
func (a *API) refusal(one *operation, resp *http.Response, data []byte) error {
	out := "HTTP " + resp.Status
	if wait := resp.Header.Get("Retry-After"); wait != "" {
		out += ", retry after " + wait
	}
	cut := ""
	if len(data) > maxRefusal {
		data, cut = data[:maxRefusal], "…"
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if body := strings.TrimSpace(string(data)); body != "" && (kind == "" || isTextual(kind)) {
		out += "\n" + strings.ToValidUTF8(body, "\uFFFD") + cut
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		if missing := a.wants(one); len(missing) > 0 {
			out += "\nThe API asks for credentials that tooldex does not have: give them as auth for " +
				list(missing, "")
		}
	}
	return errors.New(out)
}

// text returns a result of one text.
func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// failure returns the error of a request that was not answered, in words for a model.
func failure(host string, err error) error {
	var own *tool.Error
	if errors.As(err, &own) {
		return fmt.Errorf("%s (%s)", own.Msg, own.Hint)
	}
	return fmt.Errorf("%s did not answer: %w", host, withoutAddress(err))
}
