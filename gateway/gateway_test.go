package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"testing"

	"tooldex/tool"
	"tooldex/upstream"
)

// self configures the test binary as an upstream.
func self(t *testing.T, name, mode string) upstream.Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return upstream.Server{Name: name, Command: exe, Env: map[string]string{serverVariable: mode}, Roots: true}
}

// start returns a gateway over servers that is closed at the end of the test.
func startGateway(t *testing.T, o Options, servers ...upstream.Server) *Gateway {
	t.Helper()
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	g := New(o)
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	g.Set(servers)
	return g
}

// call calls a tool that must answer, and returns the text of the answer.
func call(t *testing.T, g *Gateway, id tool.ID, args string) string {
	t.Helper()
	res, err := g.Call(t.Context(), tool.Call{ID: id, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("call %s: %v", id, err)
	}
	return textOf(t, res)
}

func textOf(t *testing.T, res *tool.CallResult) string {
	t.Helper()
	var r struct {
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(res.Raw, &r); err != nil {
		t.Fatalf("result %s: %v", res.Raw, err)
	}
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// callError calls a tool that must fail, and returns the error.
func callError(t *testing.T, g *Gateway, ctx context.Context, id tool.ID, want tool.Code) *tool.Error {
	t.Helper()
	res, err := g.Call(ctx, tool.Call{ID: id})
	if err == nil {
		t.Fatalf("call %s succeeded with %s", id, res.Raw)
	}
	e, ok := err.(*tool.Error) //nolint:errorlint // the contract is the type itself
	if !ok {
		t.Fatalf("call %s: error is %T: %v", id, err, err)
	}
	if e.Code != want {
		t.Fatalf("call %s: code %v, want %v: %v", id, e.Code, want, e)
	}
	return e
}

func listNames(t *testing.T, g *Gateway, server string) []string {
	t.Helper()
	tools := list(t, g, server)
	names := make([]string, len(tools))
	for i, tl := range tools {
		names[i] = tl.Name
	}
	return names
}

func list(t *testing.T, g *Gateway, server string) []*tool.Tool {
	t.Helper()
	u, ok := g.Upstream(server)
	if !ok {
		t.Fatalf("no upstream %q", server)
	}
	tools, err := u.Tools(t.Context())
	if err != nil {
		t.Fatalf("list %s: %v", server, err)
	}
	return tools
}

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// testRecorder returns a recorder that belongs to no session.
func testRecorder() *wireRecorder {
	return newWireRecorder(slog.New(slog.DiscardHandler), nil,
		newServerRequests(context.Background(), "test", openRequestsGrace))
}
