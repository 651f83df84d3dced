package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/mcpsrv"
	"tooldex/tool"
)

// bearer adds a token to what an MCP client sends.
type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer s3cret")
	r.Header.Set("Accept-Encoding", "gzip")
	return b.RoundTripper.RoundTrip(r)
}

// TestMCPThroughTheWholeStack has real clients of both generations talk to a real MCP server through everything that a
// request goes through here: results, progress on an open stream, and a shutdown with streams open.
func TestMCPThroughTheWholeStack(t *testing.T) {
	f := newFixture(t, nil)
	f.answer = func(_ context.Context, c tool.Call) (*tool.CallResult, error) {
		c.Progress(tool.Progress{Progress: 1, Message: "half"})
		return &tool.CallResult{Raw: json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`)}, nil
	}
	srv := mcpsrv.New(mcpsrv.Options{Searcher: f, Caller: f, Catalog: f, AnyHost: true})
	f.Server = newFixture(t, func(o *Options) {
		o.Access, o.MCP = oneToken("s3cret"), srv.Handler()
	}).Server
	url, stop, served := f.serve(t)

	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		progress := make(chan string, 8)
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {}, // opens a stream
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				progress <- r.Params.Message
			},
		})
		transport := &mcp.StreamableClientTransport{
			Endpoint:   url + mcpPath,
			HTTPClient: &http.Client{Transport: bearer{http.DefaultTransport}},
		}
		session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		if got := session.InitializeResult().ProtocolVersion; got != revision {
			t.Errorf("negotiated %s, want %s", got, revision)
		}
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "invoke_tool", Arguments: json.RawMessage(`{"name":"files/write_file","arguments":{}}`),
			Meta: mcp.Meta{"progressToken": 1},
		})
		if err != nil || res.IsError || res.Content[0].(*mcp.TextContent).Text != "done" {
			t.Fatalf("%s: %+v %v", revision, res, err)
		}
		if got := <-progress; got != "half" {
			t.Errorf("%s: progress %q", revision, got)
		}
	}
	stop()
	_ = srv.Close()
	if err := <-served; err != nil {
		t.Errorf("Serve with streams open: %v", err)
	}
}

// TestMCPNeedsTheToken holds that the checks come before the MCP handler.
func TestMCPNeedsTheToken(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Access = oneToken("s3cret")
		o.MCP = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler is reached") })
	})
	if w := f.do("POST", mcpPath, `{}`); w.Code != http.StatusUnauthorized {
		t.Errorf("status %d", w.Code)
	}
}
