package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/pgtest"
)

// asked counts the requests of each replica, which sends its name in a header.
type asked struct {
	mu sync.Mutex
	by map[string]int // guarded by mu
	// more says that the server has one more tool for those that connect now; guarded by mu
	more bool
}

func (a *asked) of(replica string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by[replica]
}

func (a *asked) serve() http.Handler {
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := newUpstream()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.more {
			mcp.AddTool(s, &mcp.Tool{Name: "paint_fence", Description: "Paint a fence in a colour"}, shout)
		}
		return s
	}, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.by[r.Header.Get("X-Replica")]++
		a.mu.Unlock()
		inner.ServeHTTP(w, r)
	})
}

// TestOneReplicaPolls runs two replicas on a database. One asks the servers behind them, the other does not. The first
// is killed: the other asks at once, and finds what is new there.
func TestOneReplicaPolls(t *testing.T) {
	database := pgtest.Start(t)
	a := &asked{by: map[string]int{}}
	up := httptest.NewServer(a.serve())
	defer up.Close()
	defer up.CloseClientConnections() // streams of those that were killed
	t.Setenv("TOOLDEX_STORE", database.URL("team"))
	t.Setenv("TOOLDEX_LOG_LEVEL", "info")
	t.Setenv("REPLICA", "command")
	runCommand(t, t.TempDir(), "servers", "add", "-H", "X-Replica: ${REPLICA}", "far", up.URL)
	start := func(name string) *mortal {
		t.Setenv("REPLICA", name)
		m := startMortal(t, t.TempDir())
		t.Cleanup(func() {
			_ = m.Process.Kill() // it may be dead already
			_ = m.Wait()
		})
		return m
	}
	const takes = "asks servers for their tools"
	first := start("first")
	eventually(t, "the first replica asks", func() bool { return a.of("first") > 0 && first.said(takes) == 1 })
	second := start("second")
	eventually(t, "the second replica serves", func() bool {
		return strings.Contains(string(fetched(t, second.base+"/search?q=capital+letters")), "shout")
	})
	a.mu.Lock()
	a.more = true
	a.mu.Unlock()
	if n := a.of("second"); n > 0 || second.said(takes) > 0 {
		t.Errorf("the second replica asked %d times, and said %d times that it does", n, second.said(takes))
	}
	killed := time.Now()
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second replica takes over", func() bool { return a.of("second") > 0 })
	took := time.Since(killed)
	eventually(t, "what is new is found", func() bool {
		return strings.Contains(string(fetched(t, second.base+"/search?q=paint+a+fence")), "paint_fence")
	})
	if t.Logf("taken over after %v", took.Round(time.Millisecond)); took > 15*time.Second {
		t.Errorf("taken over after %v, want seconds", took)
	}
}
