package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The upstreams.
const (
	steady = "steady" // is left alone, and must always answer
	mortal = "mortal" // is killed, and dies by itself
	stormy = "stormy" // changes its tools many times at once
	far    = "far"    // is reached over HTTP
)

// serveUpstream is the program behind tooldex: an MCP server on standard streams, or over HTTP, where it says on which
// address.
func serveUpstream(ctx context.Context, kind string) error {
	if name, ok := strings.CutPrefix(kind, hostilePrefix); ok {
		return serveHostile(name)
	}
	s := newUpstream()
	if kind != far {
		return s.Run(ctx, &mcp.IOTransport{Reader: os.Stdin, Writer: filler{os.Stdout}})
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
			&mcp.StreamableHTTPOptions{SessionTimeout: time.Minute}),
	}
	fmt.Fprintln(os.Stderr, "serving on http://"+l.Addr().String())
	context.AfterFunc(ctx, func() { _ = h.Close() })
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// filling stands for a text of n bytes until it is written: the SDK takes as long to encode a megabyte as the command
// does to pass on several, and it is the command whose times are measured.
func filling(n int) string { return fmt.Sprintf("{fill %d}", n) }

// filler writes texts for what stands for them.
type filler struct{ *os.File }

// Write implements io.Writer. The SDK writes each message whole.
func (f filler) Write(message []byte) (int, error) {
	before, rest, found := bytes.Cut(message, []byte("{fill "))
	number, after, _ := bytes.Cut(rest, []byte("}"))
	n, err := strconv.Atoi(string(number))
	if !found || err != nil {
		return f.File.Write(message)
	}
	if _, err := f.File.Write(slices.Concat(before, bytes.Repeat([]byte("x"), n), after)); err != nil {
		return 0, err
	}
	return len(message), nil
}

const anyObject = `{"type":"object"}`

func newUpstream() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "soak", Version: "1"}, nil)
	text := func(t string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}, nil
	}
	add := func(name, description string, do func(ctx context.Context, n int) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{
			Name: name, Description: description,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
		},
			func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				var args struct{ N int }
				if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
					return nil, err
				}
				return do(ctx, args.N)
			})
	}
	add("echo_number", "Give a number back as it is", func(_ context.Context, n int) (*mcp.CallToolResult, error) {
		return text(fmt.Sprint(n))
	})
	add("fill_page", "Write a text of so many bytes", func(_ context.Context, n int) (*mcp.CallToolResult, error) {
		return text(filling(n))
	})
	add("take_nap", "Wait for so many milliseconds", func(ctx context.Context, n int) (*mcp.CallToolResult, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(n) * time.Millisecond):
			return text("awake")
		}
	})
	add("fall_over", "End this server in the middle of the call", func(context.Context, int) (*mcp.CallToolResult,
		error,
	) {
		os.Exit(3)
		return nil, nil
	})
	var storms atomic.Int64
	add("stir_up", "Change the tools so many times, with an announcement for each",
		func(_ context.Context, n int) (*mcp.CallToolResult, error) {
			storm := storms.Add(1)
			for i := range n {
				s.AddTool(&mcp.Tool{
					Name:        fmt.Sprintf("leaf_%d", i%10),
					Description: fmt.Sprintf("Turn leaf %d over in storm %d", i, storm),
					InputSchema: json.RawMessage(anyObject),
				},
					func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("turned") })
			}
			return text("stirred")
		})
	return s
}
