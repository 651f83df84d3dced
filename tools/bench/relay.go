package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// relayBytes starts the upstream and copies what is read and written, without a look at it: what a second process costs
// by itself.
func relayBytes(ctx context.Context, self string) error {
	cmd := exec.CommandContext(ctx, self, "upstream")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_, err := io.Copy(in, os.Stdin)
		_ = errors.Join(err, in.Close()) // the client has gone, or the upstream
	}()
	if _, err := io.Copy(os.Stdout, out); err != nil {
		return err
	}
	return cmd.Wait()
}

// relaySDK starts the upstream behind a server and a client of the SDK that pass one tool on: the least that a gateway
// made of them costs.
func relaySDK(ctx context.Context, self string) error {
	far, err := connect(ctx, self, "upstream")
	if err != nil {
		return err
	}
	defer func() { _ = far.Close() }()
	s := mcp.NewServer(&mcp.Implementation{Name: "relay", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return far.CallTool(ctx, &mcp.CallToolParams{Name: r.Params.Name, Arguments: r.Params.Arguments})
		})
	return s.Run(ctx, &mcp.StdioTransport{})
}
