package mcpsrv

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// status sends one message, or none to open a stream, and returns what the server makes of it.
func (f *fixture) status(h http.Handler, session, body string) *httptest.ResponseRecorder {
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	req := httptest.NewRequest(method, "/", strings.NewReader(body))
	setHeaders(req, "2025-11-25", session)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

const pingLine = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

// TestSessionsAreBounded opens more sessions than there may be, as clients do that never end theirs.
func TestSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{MaxSessions: 3})
		h := f.Handler()
		var ids []string
		begin := func() *httptest.ResponseRecorder {
			w := f.status(h, "", opening("2025-11-25")[0])
			ids = append(ids, w.Header().Get(sessionHeader))
			time.Sleep(time.Second)
			return w
		}
		for range 3 {
			begin()
		}
		f.status(h, ids[0], opening("2025-11-25")[1])
		if w := f.status(h, ids[0], pingLine); w.Code != http.StatusOK {
			t.Fatalf("a session has %d", w.Code)
		}
		begin()
		if n := f.sessions(); n != 3 {
			t.Errorf("%d sessions, want 3", n)
		}
		for i, want := range []int{http.StatusOK, http.StatusNotFound, http.StatusOK, http.StatusOK} {
			if w := f.status(h, ids[i], pingLine); w.Code != want {
				t.Errorf("session %d has %d, want %d: the one that was used longest ago goes", i, w.Code, want)
			}
		}
		for _, i := range []int{0, 2, 3} { // streams, which keep them all in use
			go f.status(h, ids[i], "")
		}
		synctest.Wait()
		if w := begin(); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
			f.sessions() != 3 {
			t.Errorf("where all sessions are in use, another has %d, and there are %d", w.Code, f.sessions())
		}
		_ = f.Close()
		if n := len(f.Server.sessions.byID); n > 0 {
			t.Errorf("%d sessions are remembered", n)
		}
	})
}

// TestRequestsAreBounded holds that a client which asks more than is worked on at once is told so.
func TestRequestsAreBounded(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{limits: limits{requests: 1}})
	h := newHang()
	f.answer = h.call
	session := f.connect(t, "2025-11-25", nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{
			Name:      "file_info",
			Arguments: json.RawMessage(`{"path":"a"}`),
		})
		done <- err
	}()
	<-h.began
	if got, failed := ask(t, session, categoriesName, ""); !failed || !strings.HasPrefix(got,
		"unavailable: 1 requests") {
		t.Errorf("a call is answered %q", got)
	}
	if _, err := session.ListTools(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "1 requests") {
		t.Errorf("a listing is answered %v", err)
	}
	if err := session.Ping(t.Context(), nil); err != nil {
		t.Errorf("a ping is answered %v", err)
	}
	cancel()
	<-done
	<-h.ended
	for range 3 { // the place is free again soon, each time
		got, failed := ask(t, session, categoriesName, "")
		for failed && strings.HasPrefix(got, "unavailable: 1 requests") && t.Context().Err() == nil {
			got, failed = ask(t, session, categoriesName, "")
		}
		if failed {
			t.Errorf("after the call another is answered %q", got)
		}
	}
}

// TestBombsOverHTTP sends messages that are small on the wire, and large or deep once decoded.
func TestBombsOverHTTP(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	h := f.Handler()
	for name, params := range map[string]string{
		"deep": `{"name":"read_file","arguments":{"path":` + strings.Repeat("[", 100_000) +
			strings.Repeat("]", 100_000) + `}}`,
		"nested": `{"name":"read_file","arguments":` + strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300) +
			`}`,
		"many": `{"name":"read_file","arguments":{"path":[` + strings.Repeat("0,", 300_000) + `0]}}`,
	} {
		w := f.status(h, "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`)
		if w.Code != http.StatusBadRequest || !strings.HasPrefix(w.Body.String(), "the JSON ") {
			t.Errorf("%s: %d %.100s", name, w.Code, w.Body)
		}
	}
}

// TestShutdown ends a server over each transport while one call is about to be done and another will not be: the first
// is answered, and the client of the other is told.
func TestShutdown(t *testing.T) {
	for _, transport := range []string{"in memory", "http"} {
		for _, revision := range generations {
			t.Run(transport+" "+revision, func(t *testing.T) {
				f := newFixture(t, smallServer(t), Options{})
				began, release := make(chan struct{}, 2), make(chan struct{})
				f.answer = func(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
					began <- struct{}{}
					if strings.Contains(string(c.Arguments), "soon") {
						<-release
						return &tool.CallResult{Raw: json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`)},
							nil
					}
					<-ctx.Done()
					return nil, ctx.Err()
				}
				var session *mcp.ClientSession
				if transport == "http" {
					session = dial(t, f.listen(t).URL, revision, nil)
				} else {
					session = f.connect(t, revision, nil)
				}
				call := func(args string) <-chan string {
					got := make(chan string, 1)
					go func() {
						res, err := session.CallTool(t.Context(), &mcp.CallToolParams{
							Name:      "file_info",
							Arguments: json.RawMessage(args),
						})
						if err != nil {
							got <- "error: " + err.Error()
							return
						}
						got <- text(res)
					}()
					<-began
					return got
				}
				soon, never := call(`{"path":"soon"}`), call(`{"path":"never"}`)
				ctx, cut := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- f.Shutdown(ctx) }()
				for !f.stopping.Load() { // it has to have begun, and nothing else says so
					runtime.Gosched()
				}
				if got, failed := ask(t, session, categoriesName, ""); !failed ||
					!strings.Contains(got, "the server is stopping") {
					t.Errorf("a new call is answered %q", got)
				}
				close(release)
				if got := <-soon; got != "done" {
					t.Errorf("the call that is about to be done is answered %q", got)
				}
				cut()
				if got := <-never; !strings.Contains(got, "the server is stopping") {
					t.Errorf("the call that is cut off is answered %q", got)
				}
				if err := <-ended; tool.CodeOf(err) != tool.Timeout {
					t.Errorf("Shutdown returns %v", err)
				}
				if f.sessions() != 0 {
					t.Errorf("%d sessions are left", f.sessions())
				}
			})
		}
	}
}

// TestShutdownAtRest holds that streams and silent clients delay nothing.
func TestShutdownAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{})
		f.connect(t, "2025-11-25", nil)
		f.connect(t, "2026-07-28", nil)
		begin := time.Now()
		if err := f.Shutdown(t.Context()); err != nil || time.Since(begin) > time.Second {
			t.Errorf("Shutdown: %v after %v", err, time.Since(begin))
		}
	})
}
