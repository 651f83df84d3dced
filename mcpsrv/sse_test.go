package mcpsrv

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// openSSE opens a stream, and returns the address for messages, "" if it was refused.
func openSSE(t *testing.T, url string) (address string, stream *http.Response) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		return "", res
	}
	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			return url + path[strings.Index(path, "?"):], res
		}
	}
}

func postJSON(t *testing.T, url, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func TestSSESessionsAreBounded(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{MaxSessions: 2, AnyHost: true})
	srv := httptest.NewServer(f.SSEHandler())
	defer srv.Close()
	defer func() { _ = f.Close() }() // which ends the streams
	address, _ := openSSE(t, srv.URL)
	openSSE(t, srv.URL)
	if _, third := openSSE(t, srv.URL); third.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a third session: status %d", third.StatusCode)
	}
	if got := postJSON(t, address, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); got != http.StatusAccepted {
		t.Errorf("a message of the first: status %d", got)
	}
	for name, body := range map[string]string{
		"a message that nests too deep": `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 300) +
			strings.Repeat("]", 300) + `}`,
		"no message": `{`,
	} {
		if got := postJSON(t, address, body); got != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, got)
		}
	}
	if got := postJSON(t, address, `"`+strings.Repeat("x", 5<<20)+`"`); got != http.StatusRequestEntityTooLarge {
		t.Errorf("a message of 5 MiB: status %d", got)
	}
}

func TestIdleSSESessionsEnd(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{AnyHost: true, limits: limits{sessionIdle: time.Millisecond}})
	srv := httptest.NewServer(f.SSEHandler())
	defer srv.Close()
	address, stream := openSSE(t, srv.URL)
	if _, err := io.Copy(io.Discard, stream.Body); err != nil {
		t.Errorf("the stream of an idle session: %v", err)
	}
	if got := postJSON(t, address, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); got != http.StatusNotFound {
		t.Errorf("a message of a session that has ended: status %d", got)
	}
	srv.Close() // it waits for the handler
	if n := f.Sessions(); n > 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// TestSSECalls holds that calls, progress and changes of the list reach a client of the older transport, and that
// Shutdown answers before it ends the stream.
func TestSSECalls(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{AnyHost: true})
	srv := httptest.NewServer(f.SSEHandler())
	defer srv.Close()
	changed := make(chan struct{}, 8)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "old", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	}).Connect(t.Context(), &mcp.SSEClientTransport{Endpoint: srv.URL},
		&mcp.ClientSessionOptions{ProtocolVersion: "2024-11-05"})
	if err != nil {
		t.Fatal(err)
	}
	if got, isError := ask(t, session, "files/read_file", `{"path":"a"}`); isError || !strings.Contains(got, "read_file") {
		t.Errorf("a call is answered with %s", got)
	}
	f.set.Store(tool.NewSet(structuredTools(), ""))
	f.CatalogChanged()
	<-changed
	if err := f.Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	_ = session.Wait() // it ends
}
