package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tooldex/tool"
)

// bubble serves f on connections within the process, in a bubble whose time is its own, and gives a way to make them.
func bubble(t *testing.T, change func(*Options), test func(t *testing.T, f *fixture, l *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, change)
		l := newPipes()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- f.Serve(ctx, l) }()
		test(t, f, l)
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// connect opens a connection that ends with the test's bubble.
func (l *pipes) connect(t *testing.T) net.Conn {
	t.Helper()
	c, err := l.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// send writes to a connection without waiting, and gives the first answer that comes, nil if none does.
func send(c net.Conn, text string) <-chan *http.Response {
	go func() { _, _ = io.WriteString(c, text) }()
	answered := make(chan *http.Response, 1)
	go func() {
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			res = nil
		}
		answered <- res
	}()
	return answered
}

func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

const (
	healthz  = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	question = "GET /search?q=read HTTP/1.1\r\nHost: localhost\r\n\r\n"
)

// answers reports the status of one request on a connection of its own, and how long it took.
func answers(t *testing.T, l *pipes, text string) (status int, retry string, took time.Duration) {
	t.Helper()
	c := l.connect(t)
	defer func() { _ = c.Close() }()
	begin := time.Now()
	res := <-send(c, text)
	if res == nil {
		return 0, "", time.Since(begin)
	}
	return res.StatusCode, res.Header.Get("Retry-After"), time.Since(begin)
}

// wantAnswer fails unless a request is answered so, and at once.
func wantAnswer(t *testing.T, l *pipes, what, text string, want int) {
	t.Helper()
	if status, retry, took := answers(t, l, text); status != want || took > 10*time.Millisecond ||
		want == http.StatusServiceUnavailable && retry == "" {
		t.Errorf("%s: status %d after %v, Retry-After %q, want %d at once", what, status, took, retry, want)
	}
}

// TestOverload fills each gate and asks once more: what is beyond it is refused with the time to try again, and what
// goes through another one is answered.
func TestOverload(t *testing.T) {
	hang := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	stuck := func(o *Options) {
		o.Timeout, o.Grace = time.Hour, time.Second
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		o.limits = limits{requests: 1, waiting: -1, calls: 1, streams: 1}
	}
	call, message := post("/api/tools/files/read_file/call", `{}`), post("/mcp", `{}`)
	stream := "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
	listen := strings.Replace(message, "Content-Type", "Mcp-Method: subscriptions/listen\r\nContent-Type", 1)
	for _, tt := range []struct {
		name, first, second string
		others              []string // that are answered all the same
	}{
		{"a search", post("/search", `{"query":"hang"}`), question, []string{healthz}},
		{"a call", call, call, []string{healthz, question}},
		{"a call and a message", call, message, []string{healthz, question}},
		{"a message and a call", message, call, []string{healthz, question}},
		{"a stream", stream, stream, []string{healthz, question}},
		{"a stream of the newer protocol", listen, stream, []string{healthz, question}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, stuck, func(t *testing.T, f *fixture, l *pipes) {
				f.answer = func(ctx context.Context, _ tool.Call) (*tool.CallResult, error) { return nil, hang(ctx) }
				f.found = func(ctx context.Context, q tool.Query) (*tool.Result, error) {
					if q.Text == "hang" {
						return nil, hang(ctx)
					}
					return &tool.Result{Tools: []tool.Hit{}}, nil
				}
				c := l.connect(t)
				answered := send(c, tt.first)
				synctest.Wait()
				wantAnswer(t, l, "the second", tt.second, http.StatusServiceUnavailable)
				for _, other := range tt.others {
					wantAnswer(t, l, other[:20], other, http.StatusOK)
				}
				_ = c.Close()
				<-answered
				synctest.Wait()
				if taken := f.load.requests.Inside() + f.load.calls.Inside() + f.load.streams.Inside(); taken != 0 {
					t.Errorf("%d places are still taken", taken)
				}
			})
		})
	}
}

// TestStoppedReadersKeepNoPlaces has clients stop reading large answers, as many as there are places: others are
// served. One client that leaves too much unread loses the next answer.
func TestStoppedReadersKeepNoPlaces(t *testing.T) {
	const size = 1 << 20
	change := func(o *Options) { o.limits = limits{requests: 2, waiting: -1, calls: 2, unreadEach: 4 * size} }
	bubble(t, change, func(t *testing.T, f *fixture, l *pipes) {
		f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
			return &tool.CallResult{Raw: json.RawMessage(`{"content":"` + strings.Repeat("x", size) + `"}`)}, nil
		}
		request := post("/api/tools/files/read_file/call", `{}`)
		for i := range 3 {
			c := l.connect(t)
			defer c.Close()
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			begin := make([]byte, len("HTTP/1.1 200"))
			if _, err := io.ReadFull(c, begin); err != nil || string(begin) != "HTTP/1.1 200" {
				t.Errorf("answer %d begins with %q, %v", i, begin, err)
			}
			synctest.Wait()
		}
		wantAnswer(t, l, "a search beside them", question, http.StatusOK)
		c := l.connect(t)
		defer c.Close()
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(c)
		if len(got) > size/2 {
			t.Errorf("beyond what one client may leave unread, %d bytes are sent, %v", len(got), err)
		}
	})
}

// TestTurns holds that a request waits for its turn, for a while, and that only so many do.
func TestTurns(t *testing.T) {
	change := func(o *Options) { o.limits = limits{requests: 1, waiting: 1, wait: 2 * time.Second} }
	bubble(t, change, func(t *testing.T, f *fixture, l *pipes) {
		f.found = func(ctx context.Context, q tool.Query) (*tool.Result, error) {
			<-time.After(3 * time.Second)
			return &tool.Result{Tools: []tool.Hit{}}, nil
		}
		conns := []net.Conn{l.connect(t), l.connect(t), l.connect(t)}
		begin := time.Now()
		first := send(conns[0], question)
		synctest.Wait()
		second := send(conns[1], question)
		synctest.Wait()
		wantAnswer(t, l, "a third", question, http.StatusServiceUnavailable)
		if res := <-second; res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" ||
			time.Since(begin) != 2*time.Second {
			t.Errorf("the one that waits has %d after %v", res.StatusCode, time.Since(begin))
		}
		third := send(conns[2], question) // one second before the first is done
		if res := <-first; res.StatusCode != http.StatusOK {
			t.Errorf("the first has %d", res.StatusCode)
		}
		if res := <-third; res.StatusCode != http.StatusOK || time.Since(begin) != 6*time.Second {
			t.Errorf("its turn came, and it has %d after %v", res.StatusCode, time.Since(begin))
		}
		for _, c := range conns {
			_ = c.Close()
		}
	})
}

// TestSlowClients has more clients send headers and bodies a byte a second than there are places for requests. They are
// sent away in the end, and others are answered at once meanwhile.
func TestSlowClients(t *testing.T) {
	body := post("/search", `{"query":"`+strings.Repeat("a", 500)+`"}`)
	split := strings.Index(body, "\r\n\r\n") + 4
	for _, tt := range []struct {
		name, quick, slow string
		most              time.Duration
		status            int // of what it hears in the end
	}{
		{
			"headers", "", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 500), headerTime,
			http.StatusBadRequest,
		},
		{"bodies", body[:split], body[split:], bodyTime, http.StatusRequestTimeout},
		{
			"messages over MCP", strings.Replace(body[:split], "/search", "/mcp", 1), body[split:], bodyTime,
			http.StatusRequestTimeout,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change := func(o *Options) {
				o.limits = limits{requests: 4, calls: 4, waiting: -1}
				o.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusNoContent)
				})
			}
			bubble(t, change, func(t *testing.T, f *fixture, l *pipes) {
				const slow = 20
				ends := make(chan int, slow)
				for range slow {
					c := l.connect(t)
					answered := send(c, "")
					go func() {
						_, _ = io.WriteString(c, tt.quick) // before the rest
						for i := range tt.slow {
							if _, err := io.WriteString(c, tt.slow[i:i+1]); err != nil {
								break
							}
							<-time.After(time.Second)
						}
					}()
					go func() {
						res := <-answered
						if _ = c.Close(); res != nil {
							ends <- res.StatusCode
							return
						}
						ends <- 0
					}()
				}
				begin := time.Now()
				for range 5 {
					<-time.After(tt.most / 6)
					wantAnswer(t, l, "another search", question, http.StatusOK)
					wantAnswer(t, l, "another message", post("/mcp", "{}"), http.StatusNoContent)
				}
				for range slow {
					if status := <-ends; status != tt.status {
						t.Errorf("a slow client hears %d, want %d", status, tt.status)
					}
				}
				if took := time.Since(begin); took > tt.most+2*time.Second {
					t.Errorf("slow clients stay for %v, want %v", took, tt.most)
				}
				if held := f.load.held.Load(); held != 0 {
					t.Errorf("%d bytes of bodies are still counted", held)
				}
				<-time.After(10 * time.Minute) // for the last who sends
			})
		})
	}
}

// TestReadersThatStop asks for what is large, or without end, and stops reading. Each keeps its place for as long as it
// is given, and no longer; one that reads slowly gets all.
func TestReadersThatStop(t *testing.T) {
	const size = 4 << 20
	change := func(o *Options) {
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := fmt.Fprintf(w, "data: %s\n\n", strings.Repeat("x", 1000)); err != nil {
					return
				}
				if http.NewResponseController(w).Flush() != nil {
					return
				}
				<-time.After(time.Second)
			}
		})
	}
	for _, tt := range []struct{ name, request string }{
		{"the answer of a call", post("/api/tools/files/read_file/call", `{}`)},
		{"a stream", "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, change, func(t *testing.T, f *fixture, l *pipes) {
				f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
					return &tool.CallResult{Raw: json.RawMessage(`{"content":"` + strings.Repeat("x", size) + `"}`)},
						nil
				}
				c := l.connect(t)
				if _, err := io.WriteString(c, tt.request); err != nil {
					t.Fatal(err)
				}
				<-time.After(defaultLimits.stallTime - time.Second)
				if open := beingWritten(f) + f.load.streams.Inside(); open != 1 {
					t.Errorf("%d answers are being written, want one", open)
				}
				if n := f.load.calls.Inside(); n != 0 {
					t.Errorf("an answer that nobody reads keeps %d places", n)
				}
				<-time.After(5 * time.Second)
				if open := beingWritten(f) + f.load.streams.Inside(); open != 0 {
					t.Errorf("an answer that nobody reads is still being written after %v", defaultLimits.stallTime)
				}
				_ = c.Close()
			})
		})
	}
	t.Run("one that reads slowly", func(t *testing.T) {
		bubble(t, change, func(t *testing.T, f *fixture, l *pipes) {
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return &tool.CallResult{Raw: json.RawMessage(`{"content":"` + strings.Repeat("x", size) + `"}`)}, nil
			}
			c := l.connect(t)
			if _, err := io.WriteString(c, post("/api/tools/files/read_file/call", `{}`)); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for got.Len() < size {
				<-time.After(14 * time.Second)
				if _, err := io.CopyN(&got, c, maxPiece); err != nil {
					t.Fatalf("after %d bytes: %v", got.Len(), err)
				}
			}
			_ = c.Close()
		})
	})
}

// TestConnections holds that those who ask nothing give way to those who do.
func TestConnections(t *testing.T) {
	bubble(t, func(o *Options) { o.limits = limits{conns: 3} }, func(t *testing.T, _ *fixture, l *pipes) {
		var idle []net.Conn
		for range 3 {
			c := l.connect(t)
			if res := <-send(c, healthz); res == nil || res.StatusCode != http.StatusOK {
				t.Fatal("no answer")
			}
			<-time.After(time.Millisecond)
			idle = append(idle, c)
		}
		c := l.connect(t)
		if res := <-send(c, healthz); res == nil || res.StatusCode != http.StatusOK {
			t.Error("the fourth is not answered")
		}
		if _, err := idle[0].Read(make([]byte, 1)); err == nil {
			t.Error("the one that was idle longest is still there")
		}
		if res := <-send(idle[1], healthz); res == nil {
			t.Error("one that was idle for less is gone")
		}
		for _, one := range append(idle, c) {
			_ = one.Close()
		}
		synctest.Wait()
		var fresh []net.Conn
		for range 3 {
			fresh = append(fresh, l.connect(t)) // that say nothing, and are not idle therefore
		}
		synctest.Wait()
		if status, _, _ := answers(t, l, healthz); status != 0 {
			t.Errorf("one too many has %d", status)
		}
		for _, one := range fresh {
			_ = one.Close()
		}
	})
}

// TestBodiesInAll bounds what all clients together make the server hold.
func TestBodiesInAll(t *testing.T) {
	bubble(t, func(o *Options) { o.limits = limits{bodies: 100_000} }, func(t *testing.T, f *fixture, l *pipes) {
		body := post("/search", `{"query":"`+strings.Repeat("a", 80_000)+`"}`)
		c := l.connect(t)
		answered := send(c, body[:70_000])
		synctest.Wait()
		wantAnswer(t, l, "too much", body, http.StatusServiceUnavailable)
		wantAnswer(t, l, "little", post("/search", `{"query":"read"}`), http.StatusOK)
		_ = c.Close()
		<-answered
		synctest.Wait()
		wantAnswer(t, l, "once there is room", body, http.StatusOK)
	})
}

// TestBombs sends JSON that is small on the wire, and would be large or deep once decoded.
func TestBombs(t *testing.T) {
	f := newFixture(t, nil)
	for name, body := range map[string]string{
		"100,000 lists":         strings.Repeat("[", 100_000),
		"100,000 lists, closed": strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"100,000 objects":       strings.Repeat(`{"a":`, 100_000),
		"in a query":            `{"query":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		"in arguments":          `{"arguments":` + strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300) + `}`,
		"half a million values": `{"query":[` + strings.TrimSuffix(strings.Repeat("1,", 500_000), ",") + `]}`,
	} {
		for _, path := range []string{
			"/search", "/api/tools/select", "/api/tools/files/read_file/call",
			"/api/feedback",
		} {
			w := f.do("POST", path, body, "Content-Type", "application/json")
			if p := readProblem(t, w); w.Code != http.StatusBadRequest || p.Code != "invalid" {
				t.Errorf("%s to %s: %d %+v", name, path, w.Code, p)
			}
		}
	}
}

// TestCutOff holds that a request which outlives the end is told, and that Serve does not wait longer than it says.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) { o.Grace = 3 * time.Second })
		f.answer = func(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
			var args struct{ Seconds int }
			if err := json.Unmarshal(c.Arguments, &args); err != nil {
				return nil, err
			}
			select {
			case <-ctx.Done():
				return nil, &tool.Error{Code: tool.Timeout, Op: "call", Msg: "the call was cancelled", Err: ctx.Err()}
			case <-time.After(time.Duration(args.Seconds) * time.Second):
				return &tool.CallResult{Raw: json.RawMessage(`{"content":[]}`)}, nil
			}
		}
		l := newPipes()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- f.Serve(ctx, l) }()
		short, long := l.connect(t), l.connect(t)
		first := send(short, post("/api/tools/files/read_file/call", `{"arguments":{"seconds":2}}`))
		second := send(long, post("/api/tools/files/read_file/call", `{"arguments":{"seconds":60}}`))
		synctest.Wait()
		begin := time.Now()
		stop()
		if res := <-first; res == nil || res.StatusCode != http.StatusOK {
			t.Errorf("a call of two seconds is answered %+v", res)
		}
		res := <-second
		if res == nil || res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
			t.Errorf("a call of a minute is answered %+v", res)
		}
		if err := <-served; tool.CodeOf(err) != tool.Timeout || time.Since(begin) > 4*time.Second {
			t.Errorf("Serve: %v after %v", err, time.Since(begin))
		}
		_, _ = short.Close(), long.Close()
	})
}

// TestSilentConnectionAtTheEnd opens a connection as browsers do in advance: the end does not wait for it.
func TestSilentConnectionAtTheEnd(t *testing.T) {
	bubble(t, nil, func(t *testing.T, _ *fixture, l *pipes) {
		_ = l.connect(t)
		synctest.Wait()
	})
}

// beingWritten returns how many clients have an answer that is being written.
func beingWritten(f *fixture) int {
	clients, _ := f.load.unread.Waiting()
	return clients
}
