package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is a session of the SDK's client with the built command over stdio.
type client struct {
	t *testing.T
	*mcp.ClientSession
	stderr   *strings.Builder
	process  int                           // of the command over stdio
	progress atomic.Pointer[chan struct{}] // receives one for each notification of progress, if it is set
}

// connectStdio starts the built command with the given arguments and data directory.
func connectStdio(t *testing.T, dataDir string, args ...string) *client {
	t.Helper()
	cmd := servingCommand(t, dataDir, args...)
	stderr := &strings.Builder{}
	cmd.Stderr = stderr
	c := connectClient(t, &mcp.CommandTransport{Command: cmd}, stderr)
	c.process = cmd.Process.Pid
	return c
}

func connectClient(t *testing.T, transport mcp.Transport, stderr *strings.Builder) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	c := &client{t: t, stderr: stderr}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
			if to := c.progress.Load(); to != nil {
				select {
				case *to <- struct{}{}:
				default:
				}
			}
		},
	}).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c.ClientSession = s
	return c
}

// call calls a tool, and fails the test if the protocol does.
func (c *client) call(name string, args any) *mcp.CallToolResult {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), wait)
	defer cancel()
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		c.t.Fatalf("call %s: %v", name, err)
	}
	return res
}

// text calls a tool that must succeed and returns its text.
func (c *client) text(name string, args any) string {
	c.t.Helper()
	res := c.call(name, args)
	if res.IsError {
		c.t.Fatalf("%s answers an error: %s", name, textOf(res))
	}
	return textOf(res)
}

func textOf(res *mcp.CallToolResult) string {
	var parts []string
	for _, content := range res.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// runCommand runs the built command, which must succeed, and returns what it printed.
func runCommand(t *testing.T, dataDir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), builtCommand(t), args...)
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+dataDir)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("tooldex %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

// writeServers writes an mcpServers file.
func writeServers(t *testing.T, servers map[string]any) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
