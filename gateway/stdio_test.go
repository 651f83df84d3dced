package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tooldex/tool"
	"tooldex/upstream"
)

func TestBytesOverStdio(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "spaced"))
	want := &tool.Tool{
		Server: "s", Name: "spaced", InputSchema: json.RawMessage(`{ "type" : "object", "maximum":9007199254740993 , "a":1.0 }`),
		Meta: json.RawMessage(`{ "n":1e2 }`),
	}
	if diff := cmp.Diff([]*tool.Tool{want}, list(t, g, "s")); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	res, err := g.Call(t.Context(), tool.Call{
		ID: "s/dir/any name", Arguments: json.RawMessage(exact),
		Meta: json.RawMessage(`{"trace":9007199254740993,"progressToken":"mine","io.modelcontextprotocol/clientInfo":{}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	wantRaw := `{ "content" : [ ] , "structuredContent":` + exact +
		` , "unknown":[ 1.50 ], "sent":{"_meta":{"trace":9007199254740993},"name":"dir/any name","arguments":` + exact +
		`} }`
	if diff := cmp.Diff(wantRaw, string(res.Raw)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestListedFieldsOverStdio(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"))
	names := listNames(t, g, "s")
	// four pages
	want := []string{"count", "die", "echo", "env", "exact", "fail", "grow", "meta", "pid", "refuse", "wait"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	tools := list(t, g, "s")
	i := slices.Index(names, "exact")
	if got := string(tools[i].InputSchema); got != `{"type":"object","maximum":9007199254740993,"a":1.0}` {
		t.Errorf("input schema is %s", got)
	}
	if got := string(tools[i].Icons); got != `[{"src":"data:,x"}]` {
		t.Errorf("icons are %s", got)
	}
}

func TestStrayStdoutIsDroppedAndLogged(t *testing.T) {
	log := &logBuffer{}
	g := startGateway(t, Options{Logger: log.logger()}, self(t, "s", "noisy"))
	if got := call(t, g, "s/echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("echo is %s", got)
	}
	for _, want := range []string{
		"Server starting up...", "a log line that is JSON", "broken", "echo was called",
		"server=s",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log does not hold %q:\n%s", want, log)
		}
	}
}

func TestMetaIsForwardedBothWays(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"))
	res, err := g.Call(t.Context(), tool.Call{
		ID:   "s/meta",
		Meta: json.RawMessage(`{"traceparent":"00-x","n":12345678901234567,"io.modelcontextprotocol/protocolVersion":"1999-01-01"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	var sent map[string]any
	if err := json.Unmarshal([]byte(textOf(t, res)), &sent); err != nil {
		t.Fatal(err)
	}
	if sent["traceparent"] != "00-x" || sent["io.modelcontextprotocol/protocolVersion"] == "1999-01-01" ||
		sent["progressToken"] != nil {
		t.Errorf("upstream saw _meta %v", sent)
	}
	var got struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(res.Raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]json.RawMessage{"test/trace": json.RawMessage("9007199254740993")},
		got.Meta); diff != "" {
		t.Errorf("_meta of the result (-want +got):\n%s", diff)
	}
}

func TestToolErrors(t *testing.T) {
	g := startGateway(t, Options{maxMessage: 1 << 20}, self(t, "s", "sdk"), self(t, "odd", "answers"))
	t.Run("a tool that failed is no error", func(t *testing.T) {
		res, err := g.Call(t.Context(), tool.Call{ID: "s/fail"})
		if err != nil || !res.IsError || textOf(t, res) != "out of paper" {
			t.Errorf("result %+v, error %v", res, err)
		}
	})
	tests := []struct {
		name string
		id   tool.ID
		args string
		code tool.Code
		want string
	}{
		{"no such server", "nobody/echo", "", tool.NotFound, `no server "nobody"`},
		{"no such tool", "s/nothing", "", tool.NotFound, `server "s" refused the call of "nothing"`},
		{"no such tool, in words", "odd/unknown", "", tool.NotFound, "Unknown tool"},
		{"arguments are an array", "s/echo", "[1]", tool.Invalid, "no JSON object"},
		{"arguments are not JSON", "s/echo", `{"a":`, tool.Invalid, "no JSON object"},
		{"handler error", "s/refuse", "", tool.Unavailable, "the disk is full"},
		{"too large", "odd/huge", "", tool.Invalid, `server "odd" answered the call of "huge" with too much`},
		{"too large, ID behind", "odd/huge-id-last", "", tool.Invalid, "more than the 1048576 allowed"},
		{"not a number", "odd/nan", "", tool.Unavailable, "no valid message"},
		{"nested too deeply", "odd/deep", "", tool.Invalid, "nested more than 1000 deep"},
		{"error is no object", "odd/odd-error", "", tool.Unavailable, "no valid message"},
		{"result is no object", "odd/array", "", tool.Unavailable, "no object"},
		{"asks the user", "odd/ask", "", tool.Unavailable, "question for the user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := g.Call(t.Context(), tool.Call{ID: tt.id, Arguments: json.RawMessage(tt.args)})
			if err == nil || tool.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v (%v), want %v with %q", err, tool.CodeOf(err), tt.code, tt.want)
			}
		})
	}
	t.Run("the session outlives all that", func(t *testing.T) {
		res, err := g.Call(t.Context(), tool.Call{ID: "odd/other"})
		if err != nil || string(res.Raw) != `{"content":[],"fine":true}` {
			t.Errorf("result %+v, error %v", res, err)
		}
		for _, st := range g.Status() {
			if st.State != upstream.Running {
				t.Errorf("status %+v", st)
			}
		}
	})
	t.Run("content of an unknown type passes", func(t *testing.T) {
		res, err := g.Call(t.Context(), tool.Call{ID: "odd/odd-content"})
		if err != nil || !res.IsError || string(res.Raw) != `{"content":[{"type":"hologram","x":1}],"isError":true}` {
			t.Errorf("result %+v, error %v", res, err)
		}
	})
	t.Run("server info is stripped", func(t *testing.T) {
		res, err := g.Call(t.Context(), tool.Call{ID: "odd/info"})
		if err != nil || string(res.Raw) != `{"_meta":{"a":1.0},"content":[]}` {
			t.Errorf("result %+v, error %v", res, err)
		}
	})
	t.Run("a JSON-RPC error stays in the chain", func(t *testing.T) {
		_, err := g.Call(t.Context(), tool.Call{ID: "odd/unknown"})
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("error is %v", err)
		}
	})
}

func TestDeathInMidCall(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"), self(t, "other", "sdk"))
	first := call(t, g, "s/pid", "")
	other := call(t, g, "other/pid", "")
	e := callError(t, g, t.Context(), "s/die", tool.Unavailable)
	for _, want := range []string{`server "s" ended during the call of "die"`, "exit status 3", "no more memory"} {
		if !strings.Contains(e.Error(), want) {
			t.Errorf("error %q does not hold %q", e, want)
		}
	}
	if again := call(t, g, "s/pid", ""); again == first {
		t.Error("the dead process answers")
	}
	if call(t, g, "other/pid", "") != other {
		t.Error("another server was restarted")
	}
}

// A kill while nothing runs is not noticed by the caller of the next tool.
func TestKilledWhileIdle(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"))
	for range 5 {
		pid, err := strconv.Atoi(call(t, g, "s/pid", ""))
		if err != nil {
			t.Fatal(err)
		}
		killProcess(t, pid)
		waitFor(t, "the gateway to notice", func() bool { return g.Status()[0].State == upstream.Failed })
		if st := g.Status()[0]; !strings.Contains(st.Error, "signal: killed") {
			t.Errorf("status %+v", st)
		}
	}
	call(t, g, "s/echo", "{}")
}

// waitFor waits for something that happens on its own in another process.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestStartFailures(t *testing.T) {
	missing := self(t, "missing", "sdk")
	missing.Env["API_KEY"] = "${NOT_SET_ANYWHERE}"
	tests := []struct {
		name   string
		server upstream.Server
		code   tool.Code
		want   []string
	}{
		{"hangs", self(t, "x", "hang"), tool.Timeout, []string{
			`server "x" did not answer in time`,
			"waiting for a database",
		}},
		{"exits", self(t, "x", "exit"), tool.Unavailable, []string{`server "x"`, "exit status 7", "no licence found"}},
		{
			"no such command",
			upstream.Server{Name: "x", Command: "no-such-command-here"},
			tool.Unavailable,
			[]string{`server "x": its command cannot be run`},
		},
		{
			"no such directory",
			upstream.Server{Name: "x", Command: "/bin/sh", Dir: "/no/such/dir"},
			tool.Unavailable,
			[]string{`server "x": its command cannot be run`},
		},
		{
			"missing variable", missing, tool.Invalid,
			[]string{`server "missing": env.API_KEY: variable NOT_SET_ANYWHERE is not set`},
		},
		{"no address", upstream.Server{Name: "x", URL: "ftp://h/"}, tool.Invalid, []string{`server "x": its url`}},
		{"nothing configured", upstream.Server{Name: "x"}, tool.Invalid, []string{`server "x": its url`}},
		{
			"nobody listens",
			upstream.Server{Name: "x", URL: "http://127.0.0.1:1/mcp"},
			tool.Unavailable,
			[]string{`server "x" could not be reached`},
		},
		{
			"nobody listens, SSE",
			upstream.Server{Name: "x", URL: "http://127.0.0.1:1/sse", Transport: upstream.SSE},
			tool.Unavailable,
			[]string{`server "x" could not be reached`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := startGateway(t, Options{StartTimeout: 3 * time.Second, stopGrace: 100 * time.Millisecond}, tt.server)
			e := callError(t, g, t.Context(), tool.MakeID(tt.server.Name, "echo"), tt.code)
			for _, want := range tt.want {
				if !strings.Contains(e.Error(), want) {
					t.Errorf("error %q does not hold %q", e, want)
				}
			}
			if st := g.Status()[0]; st.State != upstream.Failed || st.Error == "" {
				t.Errorf("status %+v", st)
			}
		})
	}
}

func TestOlderHandshake(t *testing.T) {
	t.Run("a server that ends on the probe", func(t *testing.T) {
		starts := filepath.Join(t.TempDir(), "starts")
		g := startGateway(t, Options{}, self(t, "s", "exit-on-unknown:"+starts))
		if diff := cmp.Diff([]string{"old"}, listNames(t, g, "s")); diff != "" {
			t.Error(diff)
		}
		callError(t, g, t.Context(), "s/old", tool.Unavailable) // it ends on that, too
		listNames(t, g, "s")
		got, err := os.ReadFile(starts)
		if err != nil || string(got) != "xx" { // the probe once, the call once: the next start needs no probe
			t.Errorf("it ended %d times (%v)", len(got), err)
		}
	})
	t.Run("a server that ignores the probe", func(t *testing.T) {
		g := startGateway(t, Options{StartTimeout: 3 * time.Second}, self(t, "s", "mute-on-unknown"))
		if diff := cmp.Diff([]string{"old"}, listNames(t, g, "s")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestListings(t *testing.T) {
	log := &logBuffer{}
	g := startGateway(t, Options{Logger: log.logger()}, self(t, "round", "round"), self(t, "endless", "endless"),
		self(t, "odd", "odd"), self(t, "answers", "answers"))
	t.Run("cursors that go round", func(t *testing.T) {
		want := []*tool.Tool{
			{Server: "round", Name: "t", InputSchema: json.RawMessage(object)},
			{Server: "round", Name: "same"},
			{Server: "round", Name: "ta", InputSchema: json.RawMessage(object)},
			{Server: "round", Name: "tb", InputSchema: json.RawMessage(object)},
		}
		if diff := cmp.Diff(want, list(t, g, "round")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !strings.Contains(log.String(), "repeats a cursor") {
			t.Error("nothing in the log")
		}
	})
	t.Run("cursors that never end", func(t *testing.T) {
		u, _ := g.Upstream("endless")
		_, err := u.Tools(t.Context())
		if tool.CodeOf(err) != tool.Unavailable || !strings.Contains(err.Error(),
			`server "endless" answers tools/list with more than 1000 pages`) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("odd tools", func(t *testing.T) {
		want := []*tool.Tool{
			{Server: "odd", Name: "array", InputSchema: json.RawMessage(`{"type":"array"}`)},
			{Server: "odd", Name: "none"},
			{Server: "odd", Name: "true"},
			{Server: "odd", Name: "null"},
			{Server: "odd", Name: "loop", InputSchema: json.RawMessage(`{"type":"object","$ref":"#"}`)},
			{Server: "odd", Name: "a b.c\u202e"},
			{Server: "odd", Name: "hints"},
		}
		if diff := cmp.Diff(want, list(t, g, "odd")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("no list at all", func(t *testing.T) {
		u, _ := g.Upstream("answers")
		if _, err := u.Tools(t.Context()); tool.CodeOf(err) != tool.Unavailable {
			t.Errorf("error is %v", err)
		}
	})
}

func TestCancelReachesTheServer(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"))
	file := filepath.Join(t.TempDir(), "mark")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := g.Call(ctx, tool.Call{
		ID: "s/wait", Arguments: json.RawMessage(fmt.Sprintf(`{"file":%q}`, file)),
		Progress: func(tool.Progress) { cancel() },
	})
	if tool.CodeOf(err) != tool.Timeout || !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "was cancelled") {
		t.Errorf("error is %v", err)
	}
	waitFor(t, "the server to notice", func() bool { return fileHolds(file, "cancelled") })
}

func fileHolds(name, want string) bool {
	b, err := os.ReadFile(name)
	return err == nil && string(b) == want
}

func TestCallTimeout(t *testing.T) {
	s := self(t, "s", "sdk")
	s.Timeout = 50 * time.Millisecond
	g := startGateway(t, Options{}, s)
	g.Set([]upstream.Server{s}) // nothing changes
	_, err := g.Call(t.Context(), tool.Call{ID: "s/wait", Arguments: json.RawMessage(`{}`)})
	if tool.CodeOf(err) != tool.Timeout || !strings.Contains(err.Error(),
		`server "s" did not answer the call of "wait" within 50ms`) {
		t.Errorf("error is %v", err)
	}
}

func TestProgressInOrder(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"))
	var got []tool.Progress // needs no lock: Progress runs on one goroutine, and is done when Call returns
	res, err := g.Call(t.Context(), tool.Call{
		ID: "s/count", Arguments: json.RawMessage(`{"n":100}`),
		Progress: func(p tool.Progress) { got = append(got, p) },
	})
	if err != nil || textOf(t, res) != "counted" {
		t.Fatalf("result %v, error %v", res, err)
	}
	var want []tool.Progress
	for i := range 100 {
		want = append(want, tool.Progress{Progress: float64(i + 1), Total: 100, Message: fmt.Sprint("step ", i+1)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestFloodOfNotifications(t *testing.T) {
	changes := make(chan string, 1000)
	g := startGateway(t, Options{OnListChanged: func(s string) { changes <- s }}, self(t, "s", "flood"))
	var last float64
	n := 0
	_, err := g.Call(t.Context(), tool.Call{ID: "s/any", Progress: func(p tool.Progress) {
		if p.Progress <= last {
			t.Errorf("progress went from %v to %v", last, p.Progress)
		}
		last = p.Progress
		n++
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last != 5_000 {
		t.Errorf("last progress is %v of %d", last, n)
	}
	if got := <-changes; got != "s" {
		t.Errorf("changed: %q", got)
	}
	if n := len(changes); n > 20 {
		t.Errorf("%d announcements remain of one flood", n)
	}
}

func TestListChanged(t *testing.T) {
	changes := make(chan []string, 10)
	var g *Gateway
	g = startGateway(t, Options{OnListChanged: func(s string) { changes <- listNames(t, g, s) }}, self(t, "s", "sdk"))
	if slices.Contains(listNames(t, g, "s"), "grown") {
		t.Fatal("the tool is there already")
	}
	call(t, g, "s/grow", "")
	if got := <-changes; !slices.Contains(got, "grown") {
		t.Errorf("listed after the change: %v", got)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"))
	var wg sync.WaitGroup
	pids := make([]string, 200)
	for i := range pids {
		wg.Go(func() {
			args := fmt.Sprintf(`{"i":%d}`, i)
			res, err := g.Call(t.Context(), tool.Call{ID: "s/echo", Arguments: json.RawMessage(args)})
			if err != nil {
				t.Errorf("call %d: %v", i, err)
				return
			}
			if got := textOf(t, res); got != args {
				t.Errorf("call %d answered %s", i, got)
			}
			if res, err = g.Call(t.Context(), tool.Call{ID: "s/pid"}); err == nil {
				pids[i] = textOf(t, res)
			}
		})
	}
	wg.Wait()
	if slices.Sort(pids); pids[0] == "" || pids[0] != pids[len(pids)-1] {
		t.Errorf("several processes answered: %v", slices.Compact(pids))
	}
}

func TestQueueIsBounded(t *testing.T) {
	g := startGateway(t, Options{concurrency: 1, queueLength: 1}, self(t, "s", "sdk"))
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = g.Call(ctx, tool.Call{
			ID: "s/wait", Arguments: json.RawMessage(`{}`),
			Progress: func(tool.Progress) { close(running) },
		})
	})
	<-running
	wg.Go(func() { callErrorQuiet(t, g, ctx, "s/echo", tool.Timeout) })
	u, _ := g.Upstream("s")
	waitFor(t, "the second call to queue", func() bool { return u.slots.Waits() == 1 })
	e := callError(t, g, t.Context(), "s/echo", tool.Unavailable)
	if !strings.Contains(e.Msg, `server "s" is busy`) {
		t.Errorf("error is %v", e)
	}
	cancel()
	wg.Wait()
	call(t, g, "s/echo", "{}")
}

func callErrorQuiet(t *testing.T, g *Gateway, ctx context.Context, id tool.ID, want tool.Code) {
	t.Helper()
	if _, err := g.Call(ctx, tool.Call{ID: id}); err != nil && tool.CodeOf(err) != want {
		t.Errorf("call %s: %v, want code %v", id, err, want)
	}
}

func TestEnvironmentOfChildren(t *testing.T) {
	env := map[string]string{
		"PATH": "/usr/bin:/bin", "HOME": "/home/me", "AWS_SECRET_ACCESS_KEY": "hidden",
		"TOKEN_SOURCE": "s3cr3t-value",
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	s := self(t, "s", "sdk")
	s.Env["API_TOKEN"], s.Env["REGION"] = "${TOKEN_SOURCE}", "${REGION:-eu}"
	g := startGateway(t, Options{LookupEnv: lookup}, s)
	got := strings.Split(call(t, g, "s/env", ""), "\n")
	slices.Sort(got)
	want := []string{
		"API_TOKEN=s3cr3t-value", serverVariable + "=sdk", "HOME=/home/me", "PATH=/usr/bin:/bin",
		"REGION=eu",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}
