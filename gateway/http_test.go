package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// httpKinds are the ways in which the SDK serves over HTTP.
var httpKinds = []struct {
	name      string
	transport upstream.Transport
	handler   func() http.Handler
}{
	{"streamable", upstream.HTTP, func() http.Handler { return streamable(&mcp.StreamableHTTPOptions{}) }},
	{"streamable, JSON", upstream.HTTP, func() http.Handler {
		return streamable(&mcp.StreamableHTTPOptions{JSONResponse: true})
	}},
	{"stateless", upstream.HTTP, func() http.Handler {
		return streamable(&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	}},
	{"stateless, JSON", upstream.HTTP, func() http.Handler {
		return streamable(&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	}},
	{"SSE", upstream.SSE, func() http.Handler {
		return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return sdkServer(false) }, nil)
	}},
}

func streamable(o *mcp.StreamableHTTPOptions) http.Handler {
	s := sdkServer(false)
	o.SessionTimeout = 3 * time.Second // tests forget sessions on the server's side
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)
}

// listen serves h, and ends its open streams before it waits for them.
func listen(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

func TestOverHTTP(t *testing.T) {
	for _, kind := range httpKinds {
		t.Run(kind.name, func(t *testing.T) {
			srv := listen(t, kind.handler())
			g := startGateway(t, Options{maxMessage: 1 << 20}, upstream.Server{
				Name: "h", URL: srv.URL,
				Transport: kind.transport,
			})
			names := listNames(t, g, "h")
			if len(names) != 11 {
				t.Fatalf("names: %v", names)
			}
			if names2 := listNames(t, g, "h"); !slices.Equal(names, names2) { // the SDK may answer from its cache
				t.Errorf("listed again: %v", names2)
			}
			exactTool := list(t, g, "h")[slices.Index(names, "exact")]
			if got := string(exactTool.InputSchema); got != `{"type":"object","maximum":9007199254740993,"a":1.0}` {
				t.Errorf("input schema is %s", got)
			}
			res, err := g.Call(t.Context(), tool.Call{ID: "h/exact"})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(res.Raw), `{"z":9007199254740993,"a":1.0,"m":-0,"e":1e2,`) ||
				strings.Contains(string(res.Raw), "serverInfo") {
				t.Errorf("result is %s", res.Raw)
			}
			if got := call(t, g, "h/echo", `{"n":9007199254740993, "x":"<&>"}`); got != `{"n":9007199254740993,"x":"<&>"}` {
				t.Errorf("echo is %s", got)
			}
			callError(t, g, t.Context(), "h/refuse", tool.Unavailable)
			call(t, g, "h/echo", "{}")
		})
	}
}

func TestManyCallsOverHTTP(t *testing.T) {
	for _, kind := range httpKinds {
		t.Run(kind.name, func(t *testing.T) {
			srv := listen(t, kind.handler())
			g := startGateway(t, Options{}, upstream.Server{Name: "h", URL: srv.URL, Transport: kind.transport})
			var wg sync.WaitGroup
			for i := range 200 {
				wg.Go(func() {
					args := fmt.Sprintf(`{"i":%d}`, i)
					res, err := g.Call(t.Context(), tool.Call{ID: "h/echo", Arguments: json.RawMessage(args)})
					if err != nil {
						t.Errorf("call %d: %v", i, err)
					} else if got := textOf(t, res); got != args {
						t.Errorf("call %d answered %s", i, got)
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestProgressAndCancelOverHTTP(t *testing.T) {
	for _, kind := range httpKinds {
		if strings.Contains(kind.name, "JSON") { // a JSON answer has no room for notifications
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			srv := listen(t, kind.handler())
			g := startGateway(t, Options{}, upstream.Server{Name: "h", URL: srv.URL, Transport: kind.transport})
			var got []float64
			_, err := g.Call(t.Context(), tool.Call{
				ID: "h/count", Arguments: json.RawMessage(`{"n":50}`),
				Progress: func(p tool.Progress) { got = append(got, p.Progress) },
			})
			if err != nil || len(got) != 50 || !slices.IsSorted(got) {
				t.Errorf("progress %v, error %v", got, err)
			}
			file := filepath.Join(t.TempDir(), "mark")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err = g.Call(ctx, tool.Call{
				ID: "h/wait", Arguments: json.RawMessage(fmt.Sprintf(`{"file":%q}`, file)),
				Progress: func(tool.Progress) { cancel() },
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v", err)
			}
			waitFor(t, "the server to notice", func() bool { return fileHolds(file, "cancelled") })
		})
	}
}

func TestListChangedOverHTTP(t *testing.T) {
	for _, kind := range httpKinds {
		if kind.name == "stateless, JSON" {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			changes := make(chan []string, 10)
			var g *Gateway
			srv := listen(t, kind.handler())
			g = startGateway(t, Options{OnListChanged: func(s string) { changes <- listNames(t, g, s) }},
				upstream.Server{Name: "h", URL: srv.URL, Transport: kind.transport})
			listNames(t, g, "h")
			call(t, g, "h/grow", "")
			if got := <-changes; !slices.Contains(got, "grown") {
				t.Errorf("listed after the change: %v", got)
			}
		})
	}
}

// swapHandler lets a server be replaced behind one address.
type swapHandler struct{ h atomic.Pointer[http.Handler] }

func (s *swapHandler) set(h http.Handler) { s.h.Store(&h) }

func (s *swapHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*s.h.Load()).ServeHTTP(w, r)
}

func TestRestartedHTTPServer(t *testing.T) {
	for _, kind := range httpKinds {
		t.Run(kind.name, func(t *testing.T) {
			var swap swapHandler
			swap.set(kind.handler())
			srv := listen(t, &swap)
			g := startGateway(t, Options{}, upstream.Server{Name: "h", URL: srv.URL, Transport: kind.transport})
			for range 3 {
				call(t, g, "h/echo", "{}")
				swap.set(kind.handler())
				if kind.transport == upstream.SSE { // whose session is its stream
					srv.CloseClientConnections()
					waitFor(t, "the gateway to notice", func() bool { return g.Status()[0].State == upstream.Failed })
				}
			}
			call(t, g, "h/echo", "{}")
		})
	}
}

// Servers disagree on how they refuse a session that they do not know.
func TestForgottenSession(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		calls  int32 // that reach the tool
		code   tool.Code
	}{
		{"plain 404", 404, "session not found", 1, 0},
		{
			"404 with an error of no request", 404,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`, 1, 0,
		},
		{"404 with an error of a request", 404, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}`, 1, 0},
		{"400 in words", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`, 1, 0},
		{
			"another 400", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}`, 0,
			tool.Unavailable,
		},
		{"forbidden", 403, "no", 0, tool.Denied},
		{"overloaded", 503, "later", 0, tool.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var refuse atomic.Int32
			var calls atomic.Int32
			inner := streamable(&mcp.StreamableHTTPOptions{})
			srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				if strings.Contains(string(body), `"tools/call"`) {
					if refuse.Add(-1) >= 0 {
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(tt.status)
						_, _ = io.WriteString(w, tt.body)
						return
					}
					calls.Add(1)
				}
				inner.ServeHTTP(w, r)
			}))
			g := startGateway(t, Options{}, upstream.Server{Name: "h", URL: srv.URL})
			listNames(t, g, "h")
			refuse.Store(1)
			_, err := g.Call(t.Context(), tool.Call{ID: "h/echo"})
			if tt.code == 0 && err != nil || tt.code != 0 && tool.CodeOf(err) != tt.code {
				t.Errorf("error is %v", err)
			}
			if got := calls.Load(); got != tt.calls {
				t.Errorf("the tool was called %d times, want %d", got, tt.calls)
			}
		})
	}
}

// A call that the server has taken is never sent twice, whatever happens to the connection.
func TestAcceptedCallIsNotRepeated(t *testing.T) {
	for _, kind := range httpKinds {
		t.Run(kind.name, func(t *testing.T) {
			var calls atomic.Int32
			inner := kind.handler()
			var srv *httptest.Server
			srv = listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				if strings.Contains(string(body), `"tools/call"`) {
					calls.Add(1)
					srv.CloseClientConnections()
					return
				}
				inner.ServeHTTP(w, r)
			}))
			g := startGateway(t, Options{}, upstream.Server{Name: "h", URL: srv.URL, Transport: kind.transport})
			listNames(t, g, "h")
			callError(t, g, t.Context(), "h/echo", tool.Unavailable)
			if n := calls.Load(); n != 1 {
				t.Errorf("the server saw the call %d times", n)
			}
		})
	}
}

func TestStoppedHTTPServer(t *testing.T) {
	srv := httptest.NewServer(streamable(&mcp.StreamableHTTPOptions{}))
	g := startGateway(t, Options{}, upstream.Server{Name: "h", URL: srv.URL})
	call(t, g, "h/echo", "{}")
	srv.CloseClientConnections()
	srv.Close()
	callError(t, g, t.Context(), "h/echo", tool.Unavailable) // may meet the old connection as it closes
	e := callError(t, g, t.Context(), "h/echo", tool.Unavailable)
	if !strings.Contains(e.Error(), `server "h"`) || !strings.Contains(e.Error(), "connection refused") {
		t.Errorf("error is %v", e)
	}
	if st := g.Status()[0]; st.State != upstream.Failed {
		t.Errorf("status %+v", st)
	}
}

func TestHeadersAndSecrets(t *testing.T) {
	var elsewhere atomic.Int32
	other := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere.Add(1)
		for name, values := range r.Header {
			for _, secret := range []string{"very-secret", "other-secret", "acme"} {
				if strings.Contains(strings.Join(values, " "), secret) {
					t.Errorf("another host has %s: %q", name, values)
				}
			}
		}
		if r.Header.Get("Mcp-Session-Id") != "" {
			t.Error("another host has the session")
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	inner := streamable(&mcp.StreamableHTTPOptions{})
	var redirect atomic.Bool
	srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if redirect.Load() {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		if r.Header.Get("Authorization") != "Bearer very-secret" || r.Header.Get("X-Tenant") != "acme" ||
			r.URL.Query().Get("key") != "other-secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	env := map[string]string{"TOKEN": "very-secret", "KEY": "other-secret"}
	log := &logBuffer{}
	o := Options{
		Logger: log.logger(), LookupEnv: func(n string) (string, bool) { v, ok := env[n]; return v, ok },
		AllowPrivate: []string{"127.0.0.1"},
	}
	cfg := upstream.Server{
		Name: "h", URL: srv.URL + "/?key=${KEY}",
		Headers: map[string]string{"Authorization": "Bearer ${TOKEN}", "X-Tenant": "acme"},
	}
	g := startGateway(t, o, cfg)
	call(t, g, "h/echo", "{}")
	redirect.Store(true)
	callError(t, g, t.Context(), "h/echo", tool.Unavailable)
	if elsewhere.Load() == 0 {
		t.Error("the redirect was not followed, so nothing was tested")
	}
	redirect.Store(false)

	cfg.Headers = map[string]string{"Authorization": "Bearer wrong-${TOKEN}"}
	g.Set([]upstream.Server{cfg})
	e := callError(t, g, t.Context(), "h/echo", tool.Denied)
	if !strings.Contains(e.Msg, `server "h" refused access with HTTP status 401`) {
		t.Errorf("error is %v", e)
	}
	cfg.URL = "http://127.0.0.1:1/?key=${KEY}"
	g.Set([]upstream.Server{cfg})
	e = callError(t, g, t.Context(), "h/echo", tool.Unavailable)
	if !strings.Contains(e.Error(), "key=${KEY}") {
		t.Errorf("the address is not in %v", e)
	}
	for _, text := range []string{e.Error(), log.String(), g.Status()[0].Error} {
		if strings.Contains(text, "secret") {
			t.Errorf("a secret shows in %s", text)
		}
	}
}

// A server that answers by hand, for what the SDK's handlers never send.
func TestBrokenAnswersOverHTTP(t *testing.T) {
	answers := map[string]string{
		"huge": `"content":[{"type":"text","text":"` + strings.Repeat("x", 3<<20) + `"}]`,
		"nan":  `"content":[],"structuredContent":{"mean":NaN}`,
		"fine": ` "content" : [ ], "n":9007199254740993 `,
	}
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			srv := listen(t, handWritten(answers, stream))
			g := startGateway(t, Options{maxMessage: 1 << 20}, upstream.Server{Name: "h", URL: srv.URL})
			e := callError(t, g, t.Context(), "h/huge", tool.Invalid)
			if !strings.Contains(e.Msg, `server "h" answered the call of "huge" with too much`) {
				t.Errorf("error is %v", e)
			}
			callError(t, g, t.Context(), "h/nan", tool.Unavailable)
			res, err := g.Call(t.Context(), tool.Call{ID: "h/fine"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("{"+answers["fine"]+"}", string(res.Raw)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func handWritten(answers map[string]string, stream bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&req) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var msg string
		switch {
		case req.Method == "initialize":
			msg = strings.ReplaceAll(scriptHello, "{id}", string(req.ID))
		case req.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		case req.Method != "tools/call":
			msg = strings.ReplaceAll(unknownMethod, "{id}", string(req.ID))
		default:
			msg = `{"jsonrpc":"2.0","id":` + string(req.ID) + `,"result":{` + answers[req.Params.Name] + `}}`
		}
		if !stream {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = io.WriteString(w, msg)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\nid: 1\nevent: message\ndata: "+msg+"\n\n")
	})
}

func TestHungHTTPServer(t *testing.T) {
	release := make(chan struct{})
	srv := listen(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer close(release)
	for _, transport := range []upstream.Transport{upstream.HTTP, upstream.SSE} {
		t.Run(string(transport), func(t *testing.T) {
			g := startGateway(t, Options{StartTimeout: 200 * time.Millisecond},
				upstream.Server{Name: "h", URL: srv.URL, Transport: transport})
			e := callError(t, g, t.Context(), "h/echo", tool.Timeout)
			if !strings.Contains(e.Msg, `server "h" did not answer in time`) {
				t.Errorf("error is %v", e)
			}
		})
	}
}
