package openapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve answers MCP on a pair of pipes until one of them is closed or ctx ends.
func (a *API) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	defer a.client.CloseIdleConnections()
	title := a.title
	if title == "" {
		title = a.o.Server
	}
	server := mcp.NewServer(&mcp.Implementation{Name: a.o.Server, Title: title, Version: "1"}, &mcp.ServerOptions{
		Instructions: a.about, PageSize: 200,
	})
	for _, one := range a.operations {
		server.AddTool(&mcp.Tool{
			Name: one.name, Title: one.title, Description: one.about, InputSchema: one.schema, Annotations: one.hints(),
		}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			out, err := a.call(ctx, one, r.Params.Arguments)
			if err != nil {
				out = text(a.o.Redact(err.Error()))
				out.IsError = true
			}
			return out, nil
		})
	}
	return server.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

// Tools returns how many tools there are.
func (a *API) Tools() int { return len(a.operations) }

// call sends the request of one call and returns its answer. An error is for the model.
func (a *API) call(ctx context.Context, one *operation, arguments json.RawMessage) (*mcp.CallToolResult, error) {
	given := map[string]json.RawMessage{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return nil, err
		}
	}
	req, err := a.request(ctx, one, given)
	if err != nil {
		return nil, err
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, failure(req.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	return a.result(one, resp)
}

// hints returns what the method says of an operation. Of POST nothing is known.
func (one *operation) hints() *mcp.ToolAnnotations {
	yes, no := true, false
	out := &mcp.ToolAnnotations{OpenWorldHint: &yes}
	switch one.method {
	case http.MethodGet, http.MethodHead:
		out.ReadOnlyHint, out.IdempotentHint, out.DestructiveHint = true, true, &no
	case http.MethodDelete:
		out.DestructiveHint, out.IdempotentHint = &yes, true
	case http.MethodPut:
		out.IdempotentHint = true
	}
	return out
}
