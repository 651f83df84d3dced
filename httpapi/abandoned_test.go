package httpapi

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"tooldex/tool"
)

// TestAbandonedRequest holds that a request which its client has cancelled gets no answer: the connection is closed.
// The client ends its side of the connection alone, so that it would read an answer.
func TestAbandonedRequest(t *testing.T) {
	f := newFixture(t, nil)
	searching := make(chan struct{})
	f.found = func(ctx context.Context, _ tool.Query) (*tool.Result, error) {
		close(searching)
		<-ctx.Done()
		return nil, &tool.Error{Code: tool.Timeout, Op: "search", Msg: "the search was cancelled", Err: ctx.Err()}
	}
	url, stop, served := f.serve(t)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /search?q=read HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-searching
	if tcp, ok := conn.(*net.TCPConn); !ok || tcp.CloseWrite() != nil {
		t.Fatal("the connection cannot be ended on one side")
	}
	if got, err := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("the client reads %q, %v", got, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if log := f.log.String(); !strings.Contains(log, "status=499") || strings.Contains(log, "level=WARN") {
		t.Errorf("the log is %s", log)
	}
}

// TestBothNamesOfTheQuery asks with both names of the parameter, by both methods.
func TestBothNamesOfTheQuery(t *testing.T) {
	f := newFixture(t, nil)
	for _, path := range []string{"/search", "/api/tools/search"} {
		for _, name := range []string{"q", "query"} {
			for method, w := range map[string]int{
				"GET": f.do("GET", path+"?"+name+"=read", "").Code, "POST": f.do("POST", path, `{"`+name+`":"read"}`).Code,
			} {
				if w != http.StatusOK {
					t.Errorf("%s %s with %s: %d", method, path, name, w)
				}
			}
		}
	}
	for _, q := range f.queries {
		if q.Text != "read" {
			t.Errorf("the query is %+v", q)
		}
	}
}
