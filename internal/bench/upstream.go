package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type echoArgs struct {
	Text string `json:"text" jsonschema:"the text to give back"`
}

// serveUpstream is a server with one tool that does nothing, so that what a call costs is what lies between.
func serveUpstream(ctx context.Context) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Give a text back as it is"}, func(_ context.Context, _ *mcp.CallToolRequest, a echoArgs) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}}, nil, nil
	})
	return s.Run(ctx, &mcp.StdioTransport{})
}

// callCost is the median time of one call, straight to the upstream and through the command in both ways.
type callCost struct{ straight, direct, invoke time.Duration }

const calls = 2000

func measureCalls(ctx context.Context, c config, dir string) (callCost, error) {
	var out callCost
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	servers := map[string]any{"mcpServers": map[string]any{
		"echo":  map[string]any{"command": self, "args": []string{"upstream"}},
		"other": map[string]any{"command": self, "args": []string{"upstream"}},
	}}
	b, err := json.Marshal(servers)
	if err != nil {
		return out, err
	}
	file := filepath.Join(dir, "servers.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return out, err
	}
	data := filepath.Join(dir, "calls")
	if _, _, err := command(ctx, c, "import", file, "-d", data); err != nil {
		return out, err
	}
	args := map[string]any{"text": "hello"}
	if out.straight, err = medianCall(ctx, "echo", args, self, "upstream"); err != nil {
		return out, err
	}
	if out.direct, err = medianCall(ctx, "echo__echo", args, c.bin, "serve", "--stdio", "-d", data); err != nil {
		return out, err
	}
	out.invoke, err = medianCall(ctx, "invoke_tool", map[string]any{"name": "echo__echo", "arguments": args}, c.bin, "serve", "--stdio", "-d", data)
	return out, err
}

// medianCall times calls of one tool after a few that are not counted, which start the upstream.
func medianCall(ctx context.Context, name string, args map[string]any, program string, words ...string) (time.Duration, error) {
	s, err := connect(ctx, program, words...)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }()
	one := func() (time.Duration, error) {
		start := time.Now()
		res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		took := time.Since(start)
		if err == nil && res.IsError {
			err = fmt.Errorf("%s answered an error: %v", name, res.Content)
		}
		return took, err
	}
	for range 50 {
		if _, err := one(); err != nil {
			return 0, err
		}
	}
	return repeat(calls, one)
}
