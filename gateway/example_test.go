package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/gateway"
	"tooldex/tool"
	"tooldex/upstream"
)

// A server is configured, asked for its tools, and called.
func Example() {
	s := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "greet", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: req.Params.Arguments}, nil
		})
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	defer srv.Close()

	g := gateway.New(gateway.Options{})
	defer func() { _ = g.Close() }()
	g.Set([]upstream.Server{{Name: "greeter", URL: srv.URL}})

	ctx := context.Background()
	u, _ := g.Upstream("greeter")
	tools, err := u.Tools(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tools[0].ID())
	res, err := g.Call(ctx, tool.Call{ID: "greeter/greet", Arguments: json.RawMessage(`{"id":9007199254740993}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(res.Raw))
	// Output:
	// greeter/greet
	// {"content":[],"structuredContent":{"id":9007199254740993}}
}
