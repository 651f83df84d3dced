package gateway

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

func killServer(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	killProcess(t, n)
}

// killProcess ends a process at once, on every platform.
func killProcess(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
}

func stateOf(g *Gateway, server string) upstream.State {
	u, _ := g.Upstream(server)
	return u.currentStatus().State
}

// A server that nobody uses is stopped, and the next call starts it again. Being asked for its tools is no use.
func TestIdleServerRests(t *testing.T) {
	g := startGateway(t, Options{idleTimeout: 300 * time.Millisecond}, self(t, "s", "sdk"))
	first := call(t, g, "s/pid", "")
	u, _ := g.Upstream("s")
	waitFor(t, "the idle server to be stopped", func() bool {
		if _, err := u.Tools(t.Context()); err != nil { // starts it again, once it was
			t.Error(err)
		}
		return dead(t, first)
	})
	if st := u.currentStatus(); st.Error != "" || st.State == upstream.Failed {
		t.Errorf("a server that rested is %+v", st)
	}
	if second := call(t, g, "s/pid", ""); second == first {
		t.Error("the same process answers")
	}
}

// TestRestartsAreCounted requires that a start after a crash counts as a restart, and one after a rest does not.
func TestRestartsAreCounted(t *testing.T) {
	g := startGateway(t, Options{idleTimeout: -1}, self(t, "s", "sdk"))
	u, _ := g.Upstream("s")
	pid := call(t, g, "s/pid", "")
	if n := u.currentStatus().Restarts; n != 0 {
		t.Errorf("the first start makes %d restarts", n)
	}
	killServer(t, pid)
	waitFor(t, "the end to be noticed", func() bool { return u.currentStatus().State == upstream.Failed })
	pid = call(t, g, "s/pid", "")
	if n := u.currentStatus().Restarts; n != 1 {
		t.Errorf("a start after a crash makes %d restarts", n)
	}
	u.mu.Lock()
	u.opts.idleTimeout, u.used = time.Nanosecond, time.Time{}
	u.mu.Unlock()
	u.stopIfIdle()
	waitFor(t, "its process to end", func() bool { return dead(t, pid) })
	call(t, g, "s/pid", "")
	if n := u.currentStatus().Restarts; n != 1 {
		t.Errorf("a start after a rest makes %d restarts", n)
	}
}

func TestServerInUseDoesNotRest(t *testing.T) {
	s := self(t, "s", "sdk")
	s.Idle = 50 * time.Millisecond
	g := startGateway(t, Options{idleTimeout: -1}, s)
	first := call(t, g, "s/pid", "")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := g.Call(ctx, tool.Call{ID: "s/wait", Arguments: json.RawMessage(`{}`)})
	if tool.CodeOf(err) != tool.Timeout || !strings.Contains(err.Error(), "longer than its caller allowed") {
		t.Errorf("a call longer than the idle time ends with %v", err)
	}
	waitFor(t, "its process to end", func() bool { return dead(t, first) })
}

func TestEagerServer(t *testing.T) {
	eager := self(t, "eager", "sdk")
	eager.Eager = true
	g := startGateway(t, Options{firstBackoff: time.Millisecond}, eager, self(t, "lazy", "sdk"))
	if st := stateOf(g, "eager"); st != upstream.Configured {
		t.Errorf("before it is woken it is %s", st)
	}
	g.Wake()
	g.Wake()
	waitFor(t, "the eager server to run", func() bool { return stateOf(g, "eager") == upstream.Running })
	if st := stateOf(g, "lazy"); st != upstream.Configured {
		t.Errorf("the other one is %s", st)
	}
	first := call(t, g, "eager/pid", "")
	killServer(t, first)
	waitFor(t, "it to run again", func() bool { return dead(t, first) && stateOf(g, "eager") == upstream.Running })
	if second := call(t, g, "eager/pid", ""); second == first {
		t.Error("the same process answers")
	}
}

// A server's own limits come before those of all.
func TestLimitsOfOneServer(t *testing.T) {
	narrow := self(t, "narrow", "sdk")
	narrow.Concurrency, narrow.Queue = 1, -1
	g := startGateway(t, Options{}, narrow, self(t, "wide", "sdk"))
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	for _, server := range []string{"narrow", "wide"} {
		running := make(chan struct{})
		calls.Go(func() {
			_, _ = g.Call(ctx, tool.Call{
				ID: tool.MakeID(server, "wait"), Arguments: json.RawMessage(`{}`),
				Progress: func(tool.Progress) { close(running) },
			})
		})
		<-running
	}
	e := callError(t, g, t.Context(), "narrow/echo", tool.Unavailable)
	if !strings.Contains(e.Msg, `server "narrow" is busy: 1 calls run and 0 wait`) {
		t.Errorf("error is %v", e)
	}
	call(t, g, "wide/echo", "{}")
}

// Known tells what is stored of a server that was not asked yet.
func TestStatusOfStoredTools(t *testing.T) {
	g := startGateway(t, Options{Known: func(server string) int { return len(server) }}, self(t, "four", "exit"))
	if got := g.Status()[0]; got.State != upstream.Known || got.Tools != 4 {
		t.Errorf("status %+v", got)
	}
	callError(t, g, t.Context(), "four/x", tool.Unavailable)
	e := callError(t, g, t.Context(), "four/x", tool.Unavailable)
	if !strings.Contains(e.Msg, `server "four" does not run, its last start failed: server "four" ended`) {
		t.Errorf("error is %v", e)
	}
	if got := g.Status()[0]; got.State != upstream.Failed || got.Tools != 4 || !strings.Contains(got.Error,
		"no licence found") {
		t.Errorf("status %+v", got)
	}
}
