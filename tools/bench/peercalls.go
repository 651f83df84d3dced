package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// echoID is the tool that is called through every gateway.
const echoID = tool.ID("echo/echo")

// comparePeerCalls times the same call straight to a server and through each gateway, over both transports.
func comparePeerCalls(ctx context.Context, c config, all []peer) (string, error) {
	dir, err := os.MkdirTemp("", "tooldex-peers")
	if err != nil {
		return "", err
	}
	defer removeAll(dir)
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	far, err := listening(ctx, self, "upstream-http")
	if err != nil {
		return "", err
	}
	defer far.stop()
	near := peerServers{file: filepath.Join(dir, "near.json"), urls: map[string]string{"echo": far.base}}
	overHTTP := peerServers{file: filepath.Join(dir, "far.json"), urls: near.urls}
	for file, server := range map[string]map[string]any{
		near.file:     {"command": self, "args": []string{"upstream"}},
		overHTTP.file: {"type": "http", "url": far.base},
	} {
		b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"echo": server}})
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Calls\n\nThe same call of a tool that gives a text back, %d times in turn: straight to its server, and through each gateway's\n"+
		"tool for calls. The last column is the difference of the medians.\n\n"+
		"| transport | way | p50 | p99 | over the direct call |\n|---|---|---|---|---|\n", peerCalls)
	for _, http := range []bool{false, true} {
		servers, transport := near, "stdio"
		if http {
			servers, transport = overHTTP, "HTTP"
		}
		rows, err := timePeers(ctx, c, all, servers, http, dir)
		if err != nil {
			return "", fmt.Errorf("calls over %s: %w", transport, err)
		}
		for i, r := range rows {
			p50, over := percentile(r.times, 50), ""
			if i > 0 {
				over = milliseconds(p50 - percentile(rows[0].times, 50))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", transport, r.name, milliseconds(p50),
				milliseconds(percentile(r.times, 99)), over)
		}
	}
	return b.String(), nil
}

// peerWay is one way to call the tool, and how long its calls took.
type peerWay struct {
	name  string
	call  func(n int) (*mcp.CallToolResult, error)
	times []time.Duration
}

// timePeers calls the tool of the servers in turn: directly, and through those gateways that are called over HTTP, or
// over stdio. tooldex is called over both.
func timePeers(ctx context.Context, c config, all []peer, servers peerServers, http bool, dir string) ([]peerWay, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	hello := func(n int) map[string]any { return map[string]any{"text": fmt.Sprintf("hello %d", n)} }
	direct, err := connectHTTP(ctx, servers.urls["echo"])
	if !http {
		direct, err = connect(ctx, self, "upstream")
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = direct.Close() }()
	ways := []peerWay{{name: "direct", call: func(n int) (*mcp.CallToolResult, error) {
		return direct.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: hello(n)})
	}}}
	for i, p := range all {
		if i > 0 && p.http != http {
			continue
		}
		home, err := os.MkdirTemp(dir, "home")
		if err != nil {
			return nil, err
		}
		if p.prepare != nil {
			if err := p.prepare(ctx, servers, home); err != nil {
				return nil, err
			}
		}
		if i == 0 && http {
			p.open = openTooldexHTTP(c)
		}
		s, err := p.open(ctx, servers, home)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		defer s.stop()
		ways = append(ways, peerWay{name: p.name, call: func(n int) (*mcp.CallToolResult, error) {
			return s.CallTool(ctx, p.invoke(echoID, hello(n)))
		}})
	}
	for n := range 50 + peerCalls {
		for i := range ways {
			start := time.Now()
			res, err := ways[i].call(n)
			took := time.Since(start)
			if err == nil && (res.IsError || !strings.Contains(textOf(res), fmt.Sprintf("hello %d", n))) {
				err = errors.New(textOf(res))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", ways[i].name, err)
			}
			if n >= 50 { // the first start what is not running yet
				ways[i].times = append(ways[i].times, took)
			}
		}
	}
	return ways, nil
}

// openTooldexHTTP serves what was imported over HTTP.
func openTooldexHTTP(c config) func(context.Context, peerServers, string) (*peerSession, error) {
	return func(ctx context.Context, _ peerServers, home string) (*peerSession, error) {
		near, err := listening(ctx, c.bin, "serve", "--listen", "127.0.0.1:0", "--mode", "search", "-d",
			filepath.Join(home, "data"))
		if err != nil {
			return nil, err
		}
		s, err := connectHTTP(ctx, near.base+"/mcp")
		if err != nil {
			near.stop()
			return nil, err
		}
		return &peerSession{s.ClientSession, near.process.Process.Pid, func() { _ = s.Close(); near.stop() }}, nil
	}
}
