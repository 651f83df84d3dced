package mcpsrv_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/mcpsrv"
	"tooldex/tool"
)

// clock is a catalogue of one tool, with a search that always finds it and a caller that runs it.
type clock struct{ set *tool.Set }

func (c clock) Set() *tool.Set { return c.set }

func (c clock) Search(_ context.Context, q tool.Query) (*tool.Result, error) {
	t := c.set.All()[0]
	hit := tool.Hit{
		ID: t.ID(), Name: t.Name, Server: t.Server, Exposed: c.set.Exposed(t.ID()), Summary: t.Summary,
		Signature: t.Signature(), Score: .97,
	}
	return &tool.Result{Query: q.Text, Tools: []tool.Hit{hit}, Confident: true}, nil
}

func (clock) Call(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	return &tool.CallResult{Raw: json.RawMessage(`{"content":[{"type":"text","text":"noon"}]}`)}, nil
}

func Example() {
	c := clock{tool.NewSet([]*tool.Tool{{
		Server: "clock", Name: "current_time", Summary: "Tell the time",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"zone":{"type":"string"}}}`),
	}}, "")}
	srv := mcpsrv.New(mcpsrv.Options{Searcher: c, Caller: c, Catalog: c, Version: "1.0.0"})
	defer func() { _ = srv.Close() }()

	ctx := context.Background()
	theirs, ours := mcp.NewInMemoryTransports()
	go func() { _ = srv.Run(ctx, ours) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, theirs, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = session.Close() }()
	for _, call := range []mcp.CallToolParams{
		{Name: "search_tools", Arguments: map[string]any{"query": "what time is it"}},
		{Name: "invoke_tool", Arguments: map[string]any{
			"name":      "current_time",
			"arguments": map[string]any{"zone": "UTC"},
		}},
	} {
		res, err := session.CallTool(ctx, &call)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(res.Content[0].(*mcp.TextContent).Text)
	}
	// Output:
	// - current_time(zone?: string): Tell the time [clock, 0.97]
	// noon
}
