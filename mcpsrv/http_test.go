package mcpsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

func (f *fixture) listen(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(f.Handler())
	t.Cleanup(func() {
		_ = f.Close() // before the listener, which waits for open streams
		srv.Close()
	})
	return srv
}

func dial(t *testing.T, url, revision string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url},
			&mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// generations are a revision with sessions and the one without.
var generations = []string{"2025-11-25", "2026-07-28"}

func TestHTTPServesBothGenerations(t *testing.T) {
	for _, revision := range generations {
		t.Run(revision, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			srv := f.listen(t)
			session := dial(t, srv.URL, revision, nil)
			if got := session.InitializeResult().ProtocolVersion; got != revision {
				t.Fatalf("negotiated %s", got)
			}
			if stateless := session.ID() == ""; stateless != (revision >= statelessRevision) {
				t.Errorf("session id is %q", session.ID())
			}
			res, err := session.ListTools(t.Context(), nil)
			if err != nil || len(res.Tools) != 5 {
				t.Fatalf("list: %v, %v", res, err)
			}
			if got, failed := ask(t, session, searchName, `{"query":"npm install"}`); failed ||
				!strings.HasPrefix(got, "- execute_command(command: string") {
				t.Errorf("search: %v %q", failed, got)
			}
			if q := <-f.queries; q.Session != session.ID() {
				t.Errorf("searched in session %q, want %q", q.Session, session.ID())
			}
			if got, failed := ask(t, session, describeName, `{"name":"read_file"}`); failed ||
				!strings.Contains(got, "path: string, required") {
				t.Errorf("describe: %v %q", failed, got)
			}
			for name, args := range map[string]string{invokeName: `{"name":"read_file","arguments":{"path":"a","head":9007199254740993}}`, "read_file": `{"path":"a","head":9007199254740993}`} {
				if _, failed := ask(t, session, name, args); failed {
					t.Errorf("%s failed", name)
				}
				if c := f.last(t); string(c.Arguments) != `{"path":"a","head":9007199254740993}` {
					t.Errorf("%s: the upstream got %s", name, c.Arguments)
				}
			}
			if _, failed := ask(t, session, "reed_file", ""); !failed {
				t.Error("an unknown tool is not refused")
			}
		})
	}
}

// TestHTTPServesBothAtOnce holds that one address serves clients of either generation side by side.
func TestHTTPServesBothAtOnce(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	srv := f.listen(t)
	var sessions []*mcp.ClientSession
	for range 3 {
		for _, revision := range generations {
			sessions = append(sessions, dial(t, srv.URL, revision, nil))
		}
	}
	for _, session := range sessions {
		if _, failed := ask(t, session, categoriesName, ""); failed {
			t.Error("refused")
		}
	}
}

func TestHTTPProgressAndCancel(t *testing.T) {
	for _, revision := range generations {
		t.Run(revision, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			f.answer = steps
			o, got := collectProgress()
			session := dial(t, f.listen(t).URL, revision, o)
			checkProgress(t, session, got)
			h := newHang()
			f.answer = h.call
			checkCancel(t, session, h)
		})
	}
}

// post sends one raw request and returns the data of the answer's last event.
func post(t *testing.T, url, revision, session, body string) (string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(req, revision, session)
	var m struct {
		Method string
		Params struct{ Name string }
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	if revision >= statelessRevision {
		req.Header.Set("Mcp-Method", m.Method)
		req.Header.Set("Mcp-Name", m.Params.Name)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := bytes.Cut(all, []byte("data: "))
	return string(bytes.TrimSpace(data)), res.Header
}

func setHeaders(req *http.Request, revision, session string) {
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", revision)
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
}

func TestHTTPKeepsBytes(t *testing.T) {
	raw := `{"content":[],"structuredContent":{"z":9007199254740993,"a":1.0}}`
	for _, revision := range generations {
		t.Run(revision, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return &tool.CallResult{Raw: json.RawMessage(raw)}, nil
			}
			srv := f.listen(t)
			session, meta := "", ""
			if revision >= statelessRevision {
				meta = statelessMeta
			} else {
				lines := opening(revision)
				_, header := post(t, srv.URL, revision, "", lines[0])
				session = header.Get("Mcp-Session-Id")
				post(t, srv.URL, revision, session, lines[1])
			}
			got, _ := post(t, srv.URL, revision, session,
				`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"file_info","arguments":{"path":"a"}`+meta+`}}`)
			if !strings.Contains(got, `"content":[],"structuredContent":{"z":9007199254740993,"a":1.0}`) {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, Options{limits: limits{sessionIdle: time.Minute}})
		h := f.Handler()
		req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(opening("2025-11-25")[0]))
		setHeaders(req, "2025-11-25", "")
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, req)
		if answer.Code != http.StatusOK {
			t.Fatalf("%d %s", answer.Code, answer.Body)
		}
		if n := f.sessions(); n != 1 {
			t.Fatalf("%d sessions, want 1", n)
		}
		time.Sleep(time.Minute - time.Second)
		synctest.Wait()
		if n := f.sessions(); n != 1 {
			t.Errorf("%d sessions before the time is over, want 1", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := f.sessions(); n != 0 {
			t.Errorf("%d sessions after the time is over, want none", n)
		}
	})
}

func (f *fixture) sessions() int {
	n := 0
	for range f.mcp.Sessions() {
		n++
	}
	return n
}

// TestCloseEndsStreams holds that a hanging stream and a call in flight do not outlive Close, which a listener waits
// for.
func TestCloseEndsStreams(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	h := newHang()
	f.answer = h.call
	srv := httptest.NewServer(f.Handler())
	lines := opening("2025-11-25")
	_, header := post(t, srv.URL, "2025-11-25", "", lines[0])
	session := header.Get("Mcp-Session-Id")
	post(t, srv.URL, "2025-11-25", session, lines[1])

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(req, "2025-11-25", session)
	stream, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	go func() { // answered or not, it must not hang
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL,
			strings.NewReader(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"file_info","arguments":{"path":"a"}}}`))
		if err != nil {
			return
		}
		setHeaders(req, "2025-11-25", session)
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-h.began
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	<-h.ended
	if _, err := io.Copy(io.Discard, stream.Body); err != nil {
		t.Logf("stream ended with %v", err)
	}
	srv.Close() // waits for every request
	if n := f.sessions(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	answer := httptest.NewRecorder()
	f.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", nil))
	if answer.Code != http.StatusServiceUnavailable {
		t.Errorf("a closed server answers %d", answer.Code)
	}
}

func TestHostIsChecked(t *testing.T) {
	for name, c := range map[string]struct {
		any  bool
		want int
	}{"by default": {false, http.StatusForbidden}, "not where the caller does": {true, http.StatusOK}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil, Options{AnyHost: c.any})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.listen(t).URL,
				strings.NewReader(opening("2025-11-25")[0]))
			if err != nil {
				t.Fatal(err)
			}
			setHeaders(req, "2025-11-25", "")
			req.Host = "attacker.example"
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != c.want {
				t.Errorf("status %d, want %d", res.StatusCode, c.want)
			}
		})
	}
}

// TestCatalogChangedIsAnnounced changes the catalogue until the client hears of it: a client's stream for announcements
// opens in its own time.
func TestCatalogChangedIsAnnounced(t *testing.T) {
	for _, revision := range generations {
		for _, transport := range []string{"in memory", "http"} {
			t.Run(revision+" "+transport, func(t *testing.T) {
				f := newFixture(t, smallServer(t), Options{})
				changed := make(chan struct{}, 1000)
				o := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context,
					*mcp.ToolListChangedRequest,
				) {
					changed <- struct{}{}
				}}
				var session *mcp.ClientSession
				if transport == "http" {
					session = dial(t, f.listen(t).URL, revision, o)
				} else {
					session = f.connect(t, revision, o)
				}
				tools := smallServer(t)
				ticker := time.NewTicker(50 * time.Millisecond)
				defer ticker.Stop()
				for told := false; !told; {
					tools = append(tools, &tool.Tool{
						Server: "files", Name: fmt.Sprint("new_", len(tools)),
						InputSchema: objectSchema,
					})
					f.set.Store(tool.NewSet(tools, ""))
					f.CatalogChanged()
					select {
					case <-changed:
						told = true
					case <-ticker.C:
					}
				}
				if _, failed := ask(t, session, tools[len(tools)-1].Name, ""); failed {
					t.Error("the new tool cannot be called")
				}
				res, err := session.ListTools(t.Context(), &mcp.ListToolsParams{})
				if err != nil || len(res.Tools) != 5 || !strings.Contains(res.Tools[0].Description,
					fmt.Sprintf("Now %d tools", len(tools))) {
					t.Errorf("the listing is not the new one: %v %v", res, err)
				}
			})
		}
	}
}

func TestOneChangeIsAnnouncedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{})
		told := 0
		f.connect(t, "2025-11-25", &mcp.ClientOptions{ToolListChangedHandler: func(context.Context,
			*mcp.ToolListChangedRequest,
		) {
			told++
		}})
		tools := smallServer(t)
		for _, c := range []struct {
			name   string
			change func(one *tool.Tool)
			want   int
		}{
			{"nothing", func(*tool.Tool) {}, 0},
			{"nothing that is listed", func(one *tool.Tool) { one.Description += " More." }, 0},
			{"the summary", func(one *tool.Tool) { one.Category = "other things" }, 1},
			{"nothing again", func(*tool.Tool) {}, 1},
			{"a pinned tool", func(one *tool.Tool) { one.Always, one.Title = true, "T" }, 2},
		} {
			tools = slices.Clone(tools)
			changed := *tools[0]
			c.change(&changed)
			tools[0] = &changed
			f.set.Store(tool.NewSet(tools, ""))
			f.CatalogChanged()
			f.CatalogChanged()
			time.Sleep(time.Second)
			synctest.Wait()
			if told != c.want {
				t.Errorf("after a change of %s: told %d times, want %d", c.name, told, c.want)
			}
		}
	})
}

// TestBatchesAreBounded holds that a batch is answered, of which all answers wait for each other, and a long one
// refused.
func TestBatchesAreBounded(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	url := f.listen(t).URL
	_, _, session := asking(t, url, "POST", "", "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	asking(t, url, "POST", "", session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for n, want := range map[int]int{2: 200, maxMessages: 200, maxMessages + 1: 400, 5000: 400} {
		batch := make([]string, n)
		for i := range batch {
			batch[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i+1)
		}
		status, body, _ := asking(t, url, "POST", "", session, " ["+strings.Join(batch, ",")+"]", "Mcp-Protocol-Version", "2025-03-26")
		if answered := strings.Count(body, `"result"`); status != want || want == 200 && answered != n {
			t.Errorf("a batch of %d has %d with %d answers, want %d: %.200s", n, status, answered, want, body)
		}
	}
}
