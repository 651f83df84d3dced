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
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := echoServer()
	h := &http.Server{
		Handler:           mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil),
		ReadHeaderTimeout: time.Minute,
	}
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
	args       map[string]any
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
	hello := map[string]any{"text": "hello"}
	through := func(name string) map[string]any { return map[string]any{"name": name, "arguments": hello} }
	serve := pipe(c.bin, "serve", "--stdio", "-d", data)
	var rows []row
	var straight time.Duration
	for _, w := range []way{
		{"direct call to an upstream over stdio", "echo", hello, pipe(self, "upstream")},
		{"the same call by its exposed name", "echo__echo", hello, serve},
		{"the same call through invoke_tool", "invoke_tool", through("echo__echo"), serve},
		{"direct call to an upstream over HTTP", "echo", hello, overHTTP(far.base)},
		{
			"the same call through invoke_tool, all over HTTP", "invoke_tool", through("far__echo"),
			overHTTP(near.base + "/mcp"),
		},
	} {
		one, many, err := timeCalls(ctx, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.what, err)
		}
		p50 := percentile(one, 50)
		rows = append(rows,
			row{w.what + ", p50 and p99", milliseconds(p50) + ", " + milliseconds(percentile(one, 99)), "", true},
			row{fmt.Sprintf("%d of them at once, p50 and p99", together), milliseconds(percentile(many, 50)) + ", " +
				milliseconds(percentile(many, 99)), "", true})
		switch w.what {
		case "direct call to an upstream over stdio":
			straight = p50
		case "the same call through invoke_tool":
			rows = append(rows, timeRow("overhead of invoke_tool over a direct call, p50", p50-straight,
				300*time.Microsecond))
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

// timeCalls times calls of one tool, one after the other and then all at once, after a few that are not counted, which
// start the upstream.
func timeCalls(ctx context.Context, w way) (one, many []time.Duration, err error) {
	s, err := w.connect()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = s.Close() }()
	call := func() (time.Duration, error) {
		start := time.Now()
		res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: w.name, Arguments: w.args})
		took := time.Since(start)
		if err == nil && res.IsError {
			err = fmt.Errorf("%s answered an error: %v", w.name, res.Content)
		}
		return took, err
	}
	for i := range 50 + calls {
		took, err := call()
		if err != nil {
			return nil, nil, err
		}
		if i >= 50 {
			one = append(one, took)
		}
	}
	many = make([]time.Duration, together)
	faults := make([]error, together)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() { many[i], faults[i] = call() })
	}
	all.Wait()
	return one, many, errors.Join(faults...)
}
