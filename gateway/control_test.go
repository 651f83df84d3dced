package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

func TestStartAndStop(t *testing.T) {
	eager := self(t, "s", "sdk")
	eager.Eager = true
	g := startGateway(t, Options{}, eager)
	g.Wake()
	waitFor(t, "the server to run", func() bool { return stateOf(g, "s") == upstream.Running })
	first := call(t, g, "s/pid", "")
	for range 2 { // a stopped server can be stopped
		if err := g.Stop("s"); err != nil {
			t.Fatal(err)
		}
		if st := stateOf(g, "s"); st == upstream.Running || st == upstream.Failed {
			t.Errorf("a stopped server is %s", st)
		}
	}
	waitFor(t, "its process to end", func() bool { return dead(t, first) })
	for range 2 { // a running one is left alone
		if err := g.Start(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
	if st := stateOf(g, "s"); st != upstream.Running {
		t.Errorf("a started server is %s", st)
	}
	if second := call(t, g, "s/pid", ""); second == first {
		t.Error("the same process answers")
	}
	if err := g.Stop("s"); err != nil {
		t.Fatal(err)
	}
	if log := logText(t, g, "s"); strings.Count(log, "gateway: started, speaks protocol 20") != 2 ||
		strings.Count(log, "gateway: stopped by hand") != 2 {
		t.Errorf("the log is\n%s", log)
	}
}

// A call that runs when its server is stopped fails; it does not start the server again.
func TestStopEndsCalls(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"))
	running, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := g.Call(t.Context(), tool.Call{
			ID: "s/wait", Arguments: json.RawMessage(`{}`),
			Progress: func(tool.Progress) { close(running) },
		})
		ended <- err
	}()
	<-running
	if err := g.Stop("s"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("the call ended with %v", err)
	}
	if st := stateOf(g, "s"); st == upstream.Running {
		t.Error("it runs again")
	}
}

// The listing that a start announces may come after a stop. It does not start the server again; a call does.
func TestStoppedServerIsNotListed(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"))
	up, _ := g.Upstream("s")
	if _, err := up.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Stop("s"); err != nil {
		t.Fatal(err)
	}
	_, err := up.Tools(t.Context())
	if tool.CodeOf(err) != tool.Unavailable || !strings.Contains(err.Error(), "stopped by hand") {
		t.Errorf("the listing ends with %v", err)
	}
	if st := stateOf(g, "s"); st == upstream.Running || st == upstream.Failed {
		t.Errorf("it is %s", st)
	}
	call(t, g, "s/pid", "")
	if _, err := up.Tools(t.Context()); err != nil {
		t.Errorf("after a call: %v", err)
	}
}

// A start by hand does not wait for the pause after a failure, and the log tells the reason of each.
func TestStartAfterFailure(t *testing.T) {
	g := startGateway(t, Options{firstBackoff: time.Hour}, self(t, "s", "exit"))
	for n := 1; n <= 2; n++ {
		if err := g.Start(t.Context(), "s"); tool.CodeOf(err) != tool.Unavailable {
			t.Fatalf("start %d: %v", n, err)
		}
		log := logText(t, g, "s")
		if strings.Count(log, "server: no licence found") < n || strings.Count(log,
			"gateway: could not be started: ") != n {
			t.Errorf("after start %d the log is\n%s", n, log)
		}
	}
}

func TestControlOfUnknownServers(t *testing.T) {
	g := startGateway(t, Options{})
	_, err := g.Log("none")
	for what, err := range map[string]error{"start": g.Start(t.Context(), "none"), "stop": g.Stop("none"), "log": err} {
		if tool.CodeOf(err) != tool.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestRecordIsBounded(t *testing.T) {
	var r stderrLog
	for n := range recordLines + 10 {
		r.addLine(upstream.FromServer, fmt.Sprintf("%d %s", n, strings.Repeat("x", 2*recordLine)))
	}
	lines := r.allLines()
	if len(lines) != recordLines || !strings.HasPrefix(lines[0].Text, "10 ") ||
		len(lines[0].Text) > recordLine+len("…") {
		t.Errorf("%d lines, the first is %.80q of %d bytes", len(lines), lines[0].Text, len(lines[0].Text))
	}
	lines[0].Text = "changed"
	if r.allLines()[0].Text == "changed" {
		t.Error("the lines are shared")
	}
}

func logText(t *testing.T, g *Gateway, server string) string {
	t.Helper()
	lines, err := g.Log(server)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s: %s\n", l.From, l.Text)
	}
	return b.String()
}
