package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tooldex/tool"
)

// The times that clients have by default.
var (
	defaultLimits = limits{}.withDefaults()
	headerTime    = defaultLimits.headerTime
	bodyTime      = defaultLimits.bodyTime
	idleTime      = defaultLimits.idleTime
)

// pipes is a listener within the process, whose goroutines a bubble of synctest knows.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8733} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), ours.Close(), theirs.Close())
	}
}

// TestNothingKeepsRunning serves requests that end well, badly, late and not at all. A goroutine that outlives them
// fails the test: a bubble of synctest must end with its last one.
func TestNothingKeepsRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.Rate = 1000 })
		f.found = func(ctx context.Context, q tool.Query) (*tool.Result, error) {
			switch q.Text {
			case "panic":
				panic("as asked")
			case "late":
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return &tool.Result{Tools: []tool.Hit{}}, nil
		}
		f.answer = func(ctx context.Context, _ tool.Call) (*tool.CallResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		l := newPipes()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- f.Serve(ctx, l) }()
		transport := &http.Transport{DialContext: l.dial}
		client := &http.Client{Transport: transport}
		send := func(ctx context.Context, method, target string, body io.Reader) int {
			t.Helper()
			req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+target, body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := client.Do(req)
			if err != nil {
				return 0
			}
			defer func() { _ = res.Body.Close() }()
			_, _ = io.Copy(io.Discard, res.Body)
			return res.StatusCode
		}
		for target, want := range map[string]int{
			"/search?q=a": 200, "/search?q=panic": 500, "/search?q=late": 504,
			"/nope": 404, "/openapi.json": 200,
		} {
			if got := send(t.Context(), "GET", target, nil); got != want {
				t.Errorf("%s gives %d, want %d", target, got, want)
			}
		}
		gone, leave := context.WithTimeout(t.Context(), time.Minute)
		defer leave()
		if got := send(gone, "POST", "/api/tools/files/read_file/call", strings.NewReader(`{}`)); got != 0 {
			t.Errorf("a call that its client left gives %d", got)
		}
		slow, end := io.Pipe() // a body that does not come
		if got := send(t.Context(), "POST", "/search", slow); got != http.StatusRequestTimeout {
			t.Errorf("a body that does not come gives %d", got)
		}
		_ = end.Close()
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		transport.CloseIdleConnections()
	})
}

// TestReaderThatDoesNotRead holds that an answer which nobody takes ends.
func TestReaderThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.Timeout = time.Second })
		f.found = func(context.Context, tool.Query) (*tool.Result, error) {
			return &tool.Result{Query: strings.Repeat("x", 1<<20), Tools: []tool.Hit{}}, nil
		}
		l := newPipes()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- f.Serve(ctx, l) }()
		conn, err := l.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "GET /search?q=a HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * bodyTime)
		all, err := io.ReadAll(conn)
		if len(all) > 1<<19 {
			t.Errorf("%d bytes waited to be read, then %v", len(all), err)
		}
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		_ = conn.Close()
	})
}

// TestLongAnswers has one connection carry a request, a call that takes an hour, and a stream that is silent for one:
// the deadlines of what came before must not end them.
func TestLongAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				<-time.After(time.Hour)
				_, _ = io.WriteString(w, strings.Repeat("late ", 10_000))
			})
		})
		f.answer = func(ctx context.Context, _ tool.Call) (*tool.CallResult, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Hour):
				return &tool.CallResult{Raw: json.RawMessage(`{"content":[]}`)}, nil
			}
		}
		l := newPipes()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- f.Serve(ctx, l) }()
		dials := 0
		transport := &http.Transport{MaxConnsPerHost: 1, DialContext: func(ctx context.Context, network,
			addr string,
		) (net.Conn, error) {
			dials++
			return l.dial(ctx, network, addr)
		}}
		client := &http.Client{Transport: transport}
		for _, c := range [][4]string{
			{"POST", "/search", `{"query":"read"}`, "read_file"},
			{"POST", "/api/tools/files/read_file/call", `{}`, "content"},
			{"GET", "/healthz", "", "ok"},
			{"GET", "/mcp", "", "late late"},
		} {
			req, err := http.NewRequestWithContext(t.Context(), c[0], "http://localhost"+c[1], strings.NewReader(c[2]))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := client.Do(req)
			if err != nil {
				t.Fatalf("%s: %v", c[1], err)
			}
			b, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(b), c[3]) {
				t.Errorf("%s: %.80s %v", c[1], b, err)
			}
			_ = res.Body.Close()
		}
		if dials != 1 {
			t.Errorf("%d connections were needed", dials)
		}
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		transport.CloseIdleConnections()
	})
}

// TestSilentClients holds that a connection over which nothing comes ends, before a request, within one and after one.
func TestSilentClients(t *testing.T) {
	for name, c := range map[string]struct {
		sends string
		most  time.Duration
		hears string
	}{
		"nothing":       {"", headerTime, ""},
		"half a header": {"GET /healthz HTTP/1.1\r\nHost: loc", headerTime, ""},
		"half a body":   {"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{", bodyTime + idleTime, " 408 "},
		"one request":   {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", idleTime, " 200 "},
		"an endless name": {
			"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("A", 80<<10), headerTime,
			" 431 ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipes()
				ctx, stop := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- newFixture(t, nil).Serve(ctx, l) }()
				conn, err := l.dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					_, _ = io.WriteString(conn, c.sends)
				}()
				begin := time.Now()
				heard, _ := io.ReadAll(conn)
				if line, _, _ := strings.Cut(string(heard), "\r\n"); !strings.Contains(line, c.hears) {
					t.Errorf("it hears %q, want%s", line, c.hears)
				}
				if took := time.Since(begin); took > c.most+time.Second {
					t.Errorf("the connection stays for %v, want %v", took, c.most)
				}
				_ = conn.Close()
				<-sent
				stop()
				if err := <-served; err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}
