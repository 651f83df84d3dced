package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type echoArgs struct {
	Text string `json:"text" jsonschema:"the text to give back"`
}

// echoServer is a server with one tool that does nothing, so that what a call costs is what lies between.
func echoServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Give a text back as it is"},
		func(_ context.Context, _ *mcp.CallToolRequest, a echoArgs) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}}, nil, nil
		})
	return s
}

func serveUpstream(ctx context.Context) error { return echoServer().Run(ctx, &mcp.StdioTransport{}) }

// serveUpstreamHTTP is the same over streamable HTTP, and says where it listens.
func serveUpstreamHTTP(ctx context.Context) error {
	s := echoServer()
	return serveHTTP(ctx, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
}

// serveHTTP serves until ctx ends, and says where.
func serveHTTP(ctx context.Context, handler http.Handler) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	fmt.Fprintln(os.Stderr, "http://"+l.Addr().String())
	context.AfterFunc(ctx, func() { _ = h.Close() })
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

const (
	calls    = 2000
	together = 200 // calls at once
)

// way is one way to call the same tool.
type way struct {
	what, name string
	args       func(n int) map[string]any // of call n: no two calls are the same
	connect    func() (*session, error)
}

// callRows measures what calls cost through the command, over pipes and over HTTP, beside calls straight to the
// upstream.
func callRows(ctx context.Context, c config, dir string) ([]row, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	far, err := listening(ctx, self, "upstream-http")
	if err != nil {
		return nil, err
	}
	defer far.stop()
	data := filepath.Join(dir, "calls")
	if err := importUpstreams(ctx, c, dir, data, map[string]any{
		"echo": map[string]any{
			"command": self, "args": []string{"upstream"}, "concurrency": together,
			"queue": together,
		},
		"far": map[string]any{"type": "http", "url": far.base},
	}); err != nil {
		return nil, err
	}
	near, err := listening(ctx, c.bin, "serve", "--listen", "127.0.0.1:0", "-d", data)
	if err != nil {
		return nil, err
	}
	defer near.stop()
	pipe := func(program string, words ...string) func() (*session, error) {
		return func() (*session, error) { return connect(ctx, program, words...) }
	}
	overHTTP := func(url string) func() (*session, error) {
		return func() (*session, error) { return connectHTTP(ctx, url) }
	}
	hello := func(n int) map[string]any { return map[string]any{"text": fmt.Sprintf("hello %d", n)} }
	through := func(name string) func(int) map[string]any {
		return func(n int) map[string]any { return map[string]any{"name": name, "arguments": hello(n)} }
	}
	serve := pipe(c.bin, "serve", "--stdio", "-d", data)
	ways := []way{
		{"direct call to an upstream over stdio", "echo", hello, pipe(self, "upstream")},
		{"the same call through a process that copies bytes", "echo", hello, pipe(self, "relay")},
		{"the same call through the SDK's server and client alone", "echo", hello, pipe(self, "sdk-relay")},
		{"the same call by its exposed name", "echo__echo", hello, serve},
		{"the same call through invoke_tool", "invoke_tool", through("echo__echo"), serve},
		{"direct call to an upstream over HTTP", "echo", hello, overHTTP(far.base)},
		{
			"the same call through invoke_tool, all over HTTP", "invoke_tool", through("far__echo"),
			overHTTP(near.base + "/mcp"),
		},
	}
	times, err := timeCalls(ctx, ways)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, w := range ways {
		one, many := times[i].one, times[i].many
		p50 := percentile(one, 50)
		rows = append(rows,
			row{w.what + ", p50 and p99", milliseconds(p50) + ", " + milliseconds(percentile(one, 99)), "", true},
			row{fmt.Sprintf("%d of them at once, p50 and p99", together), milliseconds(percentile(many, 50)) + ", " +
				milliseconds(percentile(many, 99)), "", true})
		switch w.what {
		case "the same call through invoke_tool":
			rows = append(rows, timeRow("overhead of invoke_tool over a direct call, p50", p50-percentile(times[0].one, 50),
				250*time.Microsecond))
		case "the same call through invoke_tool, all over HTTP":
			rows = append(rows, timeRow("overhead of invoke_tool over a direct call, all over HTTP, p50",
				p50-percentile(times[i-1].one, 50), time.Millisecond))
		}
	}
	return rows, nil
}

func importUpstreams(ctx context.Context, c config, dir, data string, servers map[string]any) error {
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "servers.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return err
	}
	_, _, err = command(ctx, c, "import", file, "-d", data)
	return err
}

// callTimes are the times of one way.
type callTimes struct{ one, many []time.Duration }

// timeCalls times calls of one tool in several ways: one call after the other, the ways in turn so that other work on
// the machine is the same for all of them, and then all calls of a way at once. A few calls before, which start the
// upstreams, are not counted.
func timeCalls(ctx context.Context, ways []way) ([]callTimes, error) {
	times, sessions := make([]callTimes, len(ways)), make([]*session, len(ways))
	for i, w := range ways {
		s, err := w.connect()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.what, err)
		}
		defer func() { _ = s.Close() }()
		sessions[i] = s
	}
	call := func(i, n int) (time.Duration, error) {
		params := &mcp.CallToolParams{Name: ways[i].name, Arguments: ways[i].args(n)}
		start := time.Now()
		res, err := sessions[i].CallTool(ctx, params)
		took := time.Since(start)
		if err == nil && res.IsError {
			err = fmt.Errorf("answered an error: %v", res.Content)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", ways[i].what, err)
		}
		return took, err
	}
	for n := range 50 + calls {
		for i := range ways {
			took, err := call(i, n)
			if err != nil {
				return nil, err
			}
			if n >= 50 {
				times[i].one = append(times[i].one, took)
			}
		}
	}
	for i := range ways {
		many := make([]time.Duration, together)
		faults := make([]error, together)
		var all sync.WaitGroup
		for k := range many {
			all.Go(func() { many[k], faults[k] = call(i, 1_000_000+k) })
		}
		all.Wait()
		if err := errors.Join(faults...); err != nil {
			return nil, err
		}
		times[i].many = many
	}
	return times, nil
}

// callsPage measures calls alone.
func callsPage(ctx context.Context, c config) (string, error) {
	dir, err := os.MkdirTemp("", "tooldex-bench")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	rows, err := callRows(ctx, c, dir)
	if err != nil {
		return "", err
	}
	return speedText(ctx, rows), nil
}
