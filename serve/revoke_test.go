package serve

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/tool"
	"tooldex/upstream"
)

// startPatient serves a real MCP server with a tool that answers when its call is cancelled, and one that answers at
// once. begun and ended receive one value for each call of the first.
func startPatient(t *testing.T) (url string, begun, ended chan struct{}) {
	t.Helper()
	begun, ended = make(chan struct{}, 8), make(chan struct{}, 8)
	s := mcp.NewServer(&mcp.Implementation{Name: "patient", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			begun <- struct{}{}
			select {
			case <-ctx.Done():
				ended <- struct{}{}
			case <-t.Context().Done(): // the test has failed
			}
			return &mcp.CallToolResult{}, nil
		})
	s.AddTool(&mcp.Tool{Name: "quick", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL, begun, ended
}

// TestRevokedTokensEndCalls revokes a token while a call with it is under way, in every way in which calls are made:
// the upstream server is told to stop, and the caller gets no result.
func TestRevokedTokensEndCalls(t *testing.T) {
	url, begun, ended := startPatient(t)
	post := func(st *stack, path, body string, headers ...string) string {
		req, err := http.NewRequestWithContext(st.t.Context(), http.MethodPost, st.url+path, strings.NewReader(body))
		if err != nil {
			return err.Error()
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		res, err := st.client().Do(req)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = res.Body.Close() }()
		b, _ := io.ReadAll(res.Body) // whatever came of it
		return res.Status + " " + string(b)
	}
	inSession := func(st *stack, session *mcp.ClientSession) string {
		res, err := session.CallTool(st.t.Context(), &mcp.CallToolParams{Name: "wait"})
		if err != nil {
			return err.Error()
		}
		b, _ := json.Marshal(res) // a result is JSON
		return string(b)
	}
	for name, call := range map[string]func(*stack) func() string{
		"over HTTP": func(st *stack) func() string {
			return func() string { return post(st, "/api/tools/patient/wait/call", `{"arguments":{}}`) }
		},
		"over MCP, in a session": func(st *stack) func() string {
			session := st.connect("/mcp")
			return func() string { return inSession(st, session) }
		},
		"over MCP, without a session": func(st *stack) func() string {
			return func() string {
				return post(st, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},"_meta":{`+
					`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},`+
					`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`,
					"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "wait")
			}
		},
		"over SSE": func(st *stack) func() string {
			session := st.connectSSE("/sse")
			return func() string { return inSession(st, session) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := serveTools(t, []*tool.Tool{{Server: "patient", Name: "wait", Description: "Wait."}},
				func(c *config.Config) { c.Serve.Mode = "full" }, access.Token{Name: "goes"}, access.Token{Name: "stays"})
			st.gateway.Set([]upstream.Server{{Name: "patient", URL: url}})
			st.token = st.secrets["goes"]
			answer := inBackground(call(st))
			await(t, begun, "the call begins")
			if err := st.tokens.Revoke("goes"); err != nil {
				t.Fatal(err)
			}
			await(t, ended, "the server is told that the call has ended")
			if got := await(t, answer, "the call returns"); strings.Contains(got, `"content"`) ||
				name == "over HTTP" && !strings.HasPrefix(got, "401 ") {
				t.Errorf("the caller reads %s", got)
			}
		})
	}
}

// inBackground runs a call, and returns where its answer comes.
func inBackground(call func() string) <-chan string {
	out := make(chan string, 1)
	go func() { out <- call() }()
	return out
}

// await returns what comes within a time that no test needs.
func await[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(20 * time.Second):
		t.Fatalf("it does not come that %s", what)
		panic("unreachable")
	}
}
