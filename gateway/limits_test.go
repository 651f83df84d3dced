package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// TestListingsAreBounded has servers offer what nobody could use.
func TestListingsAreBounded(t *testing.T) {
	for mode, want := range map[string]string{
		"bad:deep":   "the JSON is nested more than 1000 deep",
		"bad:nested": "",
	} {
		t.Run(mode, func(t *testing.T) {
			g := startGateway(t, Options{}, self(t, "bad", mode))
			u, _ := g.Upstream("bad")
			tools, err := u.Tools(t.Context())
			if want == "" && (err != nil || len(tools) == 0) || want != "" &&
				(tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), want)) {
				t.Errorf("%d tools, %v, want an error with %q", len(tools), err, want)
			}
		})
	}
}

// TestTooManyTools lists one tool more than a server may have.
func TestTooManyTools(t *testing.T) {
	var tools []string
	for i := range maxTools + 1 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
	}
	listing := `{"tools":[` + strings.Join(tools, ",") + `]}`
	srv := listen(t, alwaysLists(listing))
	g := startGateway(t, Options{}, upstream.Server{Name: "h", URL: srv.URL})
	u, _ := g.Upstream("h")
	got, err := u.Tools(t.Context())
	if tool.CodeOf(err) != tool.Invalid || len(got) != 0 || !strings.Contains(err.Error(), "20001 tools") {
		t.Errorf("%d tools, %v", len(got), err)
	}
}

// alwaysLists answers every listing of tools with the same result.
func alwaysLists(listing string) http.Handler {
	inner := handWritten(nil, false)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(body, &req) == nil && req.Method == "tools/list" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, listing)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	})
}

// TestAnswerThatUnpacks has a server send, to whoever takes gzip, an answer that is small on the wire and has no end.
func TestAnswerThatUnpacks(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			inner := handWritten(map[string]string{"fine": `"content":[]`}, false)
			srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if !bytes.Contains(body, []byte(`"bomb"`)) || !strings.Contains(r.Header.Get("Accept-Encoding"),
					"gzip") {
					r.Body = io.NopCloser(bytes.NewReader(body))
					inner.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", kind)
				w.Header().Set("Content-Encoding", "gzip")
				start := `{"jsonrpc":"2.0","result":{"content":"`
				if kind == "text/event-stream" {
					start = "data: " + start
				}
				_, err := w.Write(gzipped([]byte(start)))
				for piece := gzipped(bytes.Repeat([]byte("x"), 1<<20)); err == nil; {
					_, err = w.Write(piece) // a kilobyte, of which each is a mebibyte
				}
			}))
			g := startGateway(t, Options{maxMessage: 1 << 20, maxSkippedBytes: 8 << 20},
				upstream.Server{Name: "h", URL: srv.URL, Timeout: time.Minute})
			if _, err := g.Call(t.Context(), tool.Call{ID: "h/bomb"}); err == nil || tool.CodeOf(err) == tool.Timeout {
				t.Errorf("the call gives %v", err)
			}
			if _, err := g.Call(t.Context(), tool.Call{ID: "h/fine"}); err != nil {
				t.Errorf("after it: %v", err)
			}
		})
	}
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// TestAnswerOfManyValues has a server send an answer that is not too long, and would be large once decoded.
func TestAnswerOfManyValues(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "bad", "bad:many"))
	if e := callError(t, g, t.Context(), "bad/x", tool.Invalid); !strings.Contains(e.Msg,
		"the JSON holds more than 2000000 values") {
		t.Errorf("error is %v", e)
	}
}

// TestTurnsOfAServer holds that a call does not wait without end for a server whose calls all hang.
func TestTurnsOfAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots("slow", 1, 1, 30*time.Second)
		release, err := s.acquireSlot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, err = s.acquireSlot(t.Context())
		if tool.CodeOf(err) != tool.Unavailable || time.Since(begin) != 30*time.Second ||
			!strings.Contains(err.Error(), "none of its 1 calls ended within 30s") {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		time.AfterFunc(20*time.Second, release)
		again, err := s.acquireSlot(context.Background())
		if err != nil {
			t.Errorf("a call whose turn came: %v", err)
		}
		again()
		if n := s.Waits(); n != 0 {
			t.Errorf("%d are still counted", n)
		}
	})
}

// TestLeavingClientsStopNothing has clients leave before their calls are sent: the server goes on, with what others do
// on it.
func TestLeavingClientsStopNothing(t *testing.T) {
	for _, kind := range []string{"stdio", "http"} {
		t.Run(kind, func(t *testing.T) {
			server, tell := self(t, "s", "sdk"), "s/pid"
			if kind == "http" {
				server, tell = upstream.Server{Name: "s", URL: listen(t, streamable(&mcp.StreamableHTTPOptions{})).URL},
					"s/echo"
			}
			g := startGateway(t, Options{}, server)
			u, _ := g.Upstream("s")
			before := call(t, g, tool.ID(tell), "{}")
			u.mu.Lock()
			session := u.session
			u.mu.Unlock()
			gone, leave := context.WithCancel(t.Context())
			leave()
			for range 50 {
				if _, err := g.Call(gone, tool.Call{
					ID:        "s/echo",
					Arguments: json.RawMessage("{}"),
				}); tool.CodeOf(err) != tool.Timeout {
					t.Fatalf("a call of a client that has left gives %v", err)
				}
			}
			after := call(t, g, tool.ID(tell), "{}")
			u.mu.Lock()
			defer u.mu.Unlock()
			if u.session != session || after != before {
				t.Error("the server was started anew")
			}
		})
	}
}
