package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tooldex/tool"
	"tooldex/upstream"
)

func TestExpandText(t *testing.T) {
	env := map[string]string{
		"A": "1", "EMPTY": "", "NEST": "${A}", "_x9": "y", "API_KEY": "k", "HOME": "/home/me",
		"PWD": "/work",
	}
	lookup := func(n string) (string, bool) { v, ok := env[n]; return v, ok }
	tests := []struct{ name, in, want, err string }{
		{"nothing", "plain $A $ {A}", "plain $A $ {A}", ""},
		{"one", "x${A}y", "x1y", ""},
		{"several", "${A}${_x9}${A}", "1y1", ""},
		{"empty counts as set", "[${EMPTY}]", "[]", ""},
		{"default for unset", "${NO:-d e}", "d e", ""},
		{"default for empty", "${EMPTY:-d}", "d", ""},
		{"default not needed", "${A:-d}", "1", ""},
		{"empty default", "[${NO:-}]", "[]", ""},
		{"default with a colon", "${NO:-http://h:1/}", "http://h:1/", ""},
		{"values are not expanded", "${NEST}", "${A}", ""},
		{"another client's spelling", "${env:A}", "1", ""},
		{"never closed", "x${A", "x${A", ""},
		{"unset", "x${NO}", "", "variable NO is not set"},
		{"no name", "${}", "", "${} does not name a variable"},
		{"an editor's input", "${input:api-key}", "k", ""},
		{"an editor's input that is not set", "${input:other.key}", "", "variable OTHER_KEY is not set"},
		{"an editor's folders", "${userHome} ${workspaceFolder}", "/home/me /work", ""},
		{"an editor's command", "${command:x}", "", "${command:x} does not name a variable"},
		{"starts with a digit", "${9A}", "", "does not name a variable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := expandText(tt.in, lookup)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q gives %q, %v", tt.in, got, err)
			}
		})
	}
}

func FuzzExpandText(f *testing.F) {
	for _, s := range []string{"${A}", "${A:-x}", "${", "}${A", "${env:A}${${A}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, err := expandText(s, func(string) (string, bool) { return "v", true })
		if err == nil && !strings.Contains(s, "${") && out != s {
			t.Errorf("%q became %q", s, out)
		}
	})
}

func TestScrubber(t *testing.T) {
	var s redactor
	for v, by := range map[string]string{"secret-value": "${TOKEN}", "secret-value-longer": "***", "80": "${PORT}"} {
		s.replaceWith(v, by)
	}
	s.buildReplacer()
	if got, want := s.redactText("a secret-value-longer b secret-value c 80"), "a *** b ${TOKEN} c 80"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	err := s.redactError(fmt.Errorf("at secret-value: %w", io.EOF))
	if err.Error() != "at ${TOKEN}: EOF" || !errors.Is(err, io.EOF) {
		t.Errorf("error is %v", err)
	}
}

func TestBackoff(t *testing.T) {
	none := func(int64) int64 { return 0 }
	var got []time.Duration
	for n := range 6 {
		got = append(got, backoffDelay(n+1, time.Second, 10*time.Second, none))
	}
	want := []time.Duration{
		time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second,
		10 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d := backoffDelay(1<<30, time.Second, time.Minute, func(n int64) int64 { return n - 1 }); d != 30*time.Second {
		t.Errorf("with most jitter %v", d)
	}
}

// Starts of a server that cannot run are spaced, and the calls between them fail at once with the reason.
func TestPauseAfterFailedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		o := Options{firstBackoff: time.Second, LookupEnv: func(n string) (string, bool) {
			if n == "COUNTED" {
				starts++
			}
			return "", true
		}}
		g := New(o)
		g.Set([]upstream.Server{{Name: "s", Command: "no-such-command-here", Args: []string{"${COUNTED}"}}})
		begin := time.Now()
		for range 600 { // one minute of calls
			_, err := g.Call(t.Context(), tool.Call{ID: "s/x"})
			if tool.CodeOf(err) != tool.Unavailable || !strings.Contains(err.Error(), "no-such-command-here") {
				t.Fatalf("error is %v", err)
			}
			time.Sleep(100 * time.Millisecond) // of the bubble's time
		}
		if starts < 6 || starts > 9 { // pauses of 1, 2, 4, 8, 16, 32 s, each up to half shorter
			t.Errorf("%d starts in %v", starts, time.Since(begin))
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 100)
	in := "one\n\r\ntwo\r\n" + `{"id":7,"x":"` + long + "\"}\nthree"
	for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
		l := newLineReader(r, messageBounds{limit: 20})
		var got []string
		for {
			line, over, err := l.nextLine()
			if err != nil {
				break
			}
			if over != nil {
				id, ok := over.ids.foundID()
				got = append(got, fmt.Sprint("over ", over.size, " ", id.Raw(), " ", ok))
				continue
			}
			got = append(got, string(line))
		}
		if diff := cmp.Diff([]string{"one", "", "two", "over 116 7 true", "three"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func scanID(data []byte) (jsonrpc.ID, bool) {
	var s idScanner
	s.write(data)
	return s.foundID()
}

func TestIDScanner(t *testing.T) {
	tests := []struct {
		in   string
		want any
	}{
		{`{"jsonrpc":"2.0","id":12,"result":{`, int64(12)},
		{`{"result":{"id":1,"a":["id",{"id":2}]},"id" : "x\"y" }`, `x"y`},
		{`data: {"id":5}`, int64(5)},
		{`{"a":"\"id\":3","id":4}`, int64(4)},
		{`{"ident":1,"i":2,"x":"id"}`, nil},
		{`{"id":{"id":3}}`, nil},
		{`{"id":[1]}`, nil},
		{`{"id":null}`, nil},
		{`{"id":12`, nil}, // it may go on
		{``, nil},
		{`}}]]{"id":1}`, int64(1)},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			id, ok := scanID([]byte(tt.in))
			if ok != (tt.want != nil) || ok && id.Raw() != tt.want {
				t.Errorf("ID is %v, %v", id.Raw(), ok)
			}
		})
	}
}

// FuzzIDScanner compares the scanner with a real decoder on whatever is valid JSON.
func FuzzIDScanner(f *testing.F) {
	for _, s := range []string{
		`{"id":1}`, `{"a":{"id":2},"id":"x"}`, `{"a":[],"b":"\\\"","id":3,"c":4}`,
		`{"id":[1],"x":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		id, ok := scanID(data)
		var plain map[string]json.RawMessage
		if json.Unmarshal(data, &plain) != nil || bytes.Count(data, []byte(`"id"`)) != 1 ||
			bytes.Contains(data, []byte(`\u`)) {
			return // broken, ambiguous, or the key is spelled in a way that no server uses
		}
		var want any
		if raw := plain["id"]; raw == nil || len(raw) > 100 || json.Unmarshal(raw, &want) != nil {
			return
		}
		wantID, err := jsonrpc.MakeID(want)
		if wantOK := err == nil && want != nil; ok != wantOK || ok && id != wantID {
			t.Errorf("%q: ID %v %v, want %v %v", data, id.Raw(), ok, wantID.Raw(), wantOK)
		}
	})
}

// FuzzStdout feeds anything to the filter of stdout: it must end, and pass on nothing but messages.
func FuzzStdout(f *testing.F) {
	f.Add([]byte("log\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"))
	f.Add([]byte(`[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}},{"jsonrpc":"2.0","id":1,"result":1}]`))
	f.Add([]byte("{\"jsonrpc\":\"2.0\"}\n\x00\xff\n[]\n{}\n" + strings.Repeat("[", 3000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &stdioConn{in: newLineReader(bytes.NewReader(data), messageBounds{limit: 512}), tap: testRecorder(), logger: slog.New(slog.DiscardHandler)}
		for n := 0; ; n++ {
			msg, err := c.nextMessage()
			if err != nil {
				return
			}
			if n > len(data) {
				t.Fatal("more messages than bytes")
			}
			c.tap.recordIncoming(msg, &heldBytes{})
			if _, err := jsonrpc.EncodeMessage(msg); err != nil {
				t.Errorf("passed on %v, which cannot be encoded: %v", msg, err)
			}
		}
	})
}

// FuzzCapture checks that the bytes of a result come through the tap as they were written.
func FuzzCapture(f *testing.F) {
	for _, s := range []string{exact, `{ "a" : [ 1.0 , {} ] }`, `"x"`, `{"\u0061":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, result []byte) {
		if !json.Valid(result) || bytes.ContainsAny(result, "\n\r") || string(bytes.TrimSpace(result)) == "null" {
			return
		}
		result = bytes.TrimSpace(result)
		line := append(append([]byte(`{"jsonrpc":"2.0","id":1,"result":`), result...), '}')
		ctx, c := withCapture(context.Background())
		tp := testRecorder()
		id, _ := jsonrpc.MakeID(1.0)
		tp.recordOutgoing(ctx, &jsonrpc.Request{ID: id, Method: "tools/call"})
		msgs, _ := decodeLine(line)
		if msgs == nil {
			return // nested too deeply
		}
		tp.recordIncoming(msgs[0], &heldBytes{})
		if got := tp.finishCapture(t.Context(), c).result; !bytes.Equal(got, result) {
			t.Errorf("captured %q of %q", got, result)
		}
	})
}

func TestStripServerInfo(t *testing.T) {
	const info = `"io.modelcontextprotocol/serverInfo":{"name":"x","n":[1,{}]}`
	tests := []struct{ name, in, want string }{
		{"none", `{"content":[]}`, `{"content":[]}`},
		{"in the text alone", `{"content":["serverInfo"]}`, `{"content":["serverInfo"]}`},
		{"alone", `{"_meta":{` + info + `},"content":[]}`, `{"content":[]}`},
		{"alone and last", `{"content":[], "_meta" : { ` + info + ` } }`, `{"content":[] }`},
		{"first", `{"_meta":{` + info + ` , "a":1.0},"b":1}`, `{"_meta":{ "a":1.0},"b":1}`},
		{"last", `{"_meta":{"a":1.0 , ` + info + ` },"b":1}`, `{"_meta":{"a":1.0 },"b":1}`},
		{"between", `{"_meta":{"a":"},{",` + info + `,"b":2}}`, `{"_meta":{"a":"},{","b":2}}`},
		{"twice", `{"_meta":{` + info + `,` + info + `,"b":2}}`, `{"_meta":{"b":2}}`},
		{"elsewhere", `{"x":{` + info + `}}`, `{"x":{` + info + `}}`},
		{"meta is no object", `{"_meta":"serverInfo"}`, `{"_meta":"serverInfo"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(stripServerInfo(json.RawMessage(tt.in))); got != tt.want {
				t.Errorf("%s gives\n%s, want\n%s", tt.in, got, tt.want)
			}
		})
	}
}

// TestPlainResponse wants the SDK's own reading of a message, where there is a short way.
func TestPlainResponse(t *testing.T) {
	for in, plain := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{"a":"\u00e9"}}`:                      true,
		` { "result" : [1.0] , "id" : "x" , "jsonrpc" : "2.0" } `:               true,
		`{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`:                           true,
		`{"jsonrpc":"2.0","id":1,"result":null}`:                                false,
		`{"jsonrpc":"2.0","id":null,"result":{}}`:                               false,
		`{"jsonrpc":"1.0","id":1,"result":{}}`:                                  false,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`: false,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                              false,
		`{"jsonrpc":"2.0","id":[1],"result":{}}`:                                false,
	} {
		got := plainResponse([]byte(in))
		if (got != nil) != plain {
			t.Errorf("%s: %v, want a response: %v", in, got, plain)
		}
		want, err := jsonrpc.DecodeMessage([]byte(in))
		if got != nil && (err != nil || !reflect.DeepEqual(want, jsonrpc.Message(got))) {
			t.Errorf("%s: %+v, want %+v, %v", in, got, want, err)
		}
	}
}

func TestEventFilter(t *testing.T) {
	const ok = `{"jsonrpc":"2.0","id":9,"result":{}}`
	const log = `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`
	huge := `{"jsonrpc":"2.0","id":4,"result":"` + strings.Repeat("x", 300) + `"}`
	tooLong := func(n int) string {
		return fmt.Sprintf(`data: {"jsonrpc":"2.0","id":4,"error":{"code":-32099,"message":"the answer has %d bytes, more than the 200 allowed"}}`, n) + "\n\n"
	}
	tests := []struct{ name, in, want string }{
		{
			"passes bytes", ": c\nevent: message\nid: 3\ndata:  " + ok + "\n\n",
			": c\nevent: message\nid: 3\ndata:  " + ok + "\n\n",
		},
		{"line ends", "data: " + ok + "\r\n\r\n", "data: " + ok + "\n\n"},
		{"keeps a log to itself", "data: " + log + "\n\ndata: " + ok + "\n\n", "data: " + ok + "\n\n"},
		{"but not its ID", "id: 7\ndata: " + log + "\n\n", "id: 7\n\n"},
		{"other events", "event: endpoint\ndata: /x\n\n", "event: endpoint\ndata: /x\n\n"},
		{"several data lines", "data: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/message\"}\n\n", ""},
		{"too long", "id: 1\ndata: " + huge + "\n\ndata: " + ok + "\n\n", "id: 1\n" + tooLong(len(huge)+7) + "data: " +
			ok + "\n\n"},
		{
			"too long in lines", "data: {\"id\":4,\n" + strings.Repeat("data: "+strings.Repeat("x", 90)+"\n", 3) + "\n",
			tooLong(15 + 3*97 - 97 + 96),
		},
		{"cut off", "data: " + ok, "data: " + ok + "\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newEventFilter(io.NopCloser(strings.NewReader(tt.in)), messageBounds{limit: 200}, testRecorder())
			got, err := io.ReadAll(iotest.OneByteReader(f))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzEventFilter(f *testing.F) {
	f.Add([]byte("event: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"))
	f.Add([]byte(":\n\ndata\n\ndata: \xff\r\n\r\n\n"))
	f.Add([]byte("data: " + strings.Repeat("0", 300))) // too long, and for nobody
	f.Fuzz(func(t *testing.T, data []byte) {
		filter := newEventFilter(io.NopCloser(bytes.NewReader(data)), messageBounds{limit: 256}, testRecorder())
		out, err := io.ReadAll(filter)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n\n")) {
			t.Errorf("%q ends inside an event: %q", data, out)
		}
	})
}

func FuzzDecodePage(f *testing.F) {
	f.Add([]byte(spaced))
	f.Add([]byte(`{"tools":[{"name":"a","annotations":5,"inputSchema":[]},null],"nextCursor":""}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		items, _, err := decodePage(raw, "tools")
		if err != nil {
			return
		}
		for _, tl := range decodeTools("s", items, slog.New(slog.DiscardHandler)) {
			if tl.Name == "" || len(tl.InputSchema) > 0 && (!json.Valid(tl.InputSchema) ||
				!bytes.Contains(raw, tl.InputSchema)) {
				t.Errorf("%q gives %+v", raw, tl)
			}
		}
	})
}

func TestProgressQueueIsBounded(t *testing.T) {
	tp := testRecorder()
	hold := make(chan struct{})
	var got []float64
	mail := newNotifier()
	token, stop := tp.watchProgress(mail, func(p tool.Progress) { <-hold; got = append(got, p.Progress) })
	for i := range 10_000 {
		tp.deliverProgress(json.RawMessage(fmt.Sprintf(`{"progressToken":%d,"progress":%d}`, token, i)))
	}
	close(hold)
	stop()
	mail.close()
	if len(got) > 2*maxMail || !slices.IsSorted(got) || got[len(got)-1] != 9999 {
		t.Errorf("%d delivered, in order: %v, last %v", len(got), slices.IsSorted(got), got[len(got)-1])
	}
	tp.deliverProgress(json.RawMessage(fmt.Sprintf(`{"progressToken":%d,"progress":1}`, token))) // too late, and harmless
}

// A write to a server that does not read ends with its context.
func TestWriteToServerThatDoesNotRead(t *testing.T) {
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := newStdioConn(inR, outW, messageBounds{limit: 1 << 20}, testRecorder(), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	id, _ := jsonrpc.MakeID("x")
	big := &jsonrpc.Request{ID: id, Method: "tools/call", Params: json.RawMessage(`"` + strings.Repeat("x", 1<<20) +
		`"`)}
	for range 3 { // the first is stuck in the pipe, the others behind it
		if err := c.Write(ctx, big); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	}
	if err := errors.Join(c.Close(), inW.Close(), outR.Close()); err != nil {
		t.Error(err)
	}
	c.waitLoops()
}

func TestSetTouchesOnlyWhatChanged(t *testing.T) {
	a, b, c := self(t, "a", "sdk"), self(t, "b", "sdk"), self(t, "c", "sdk")
	g := startGateway(t, Options{}, a, b)
	pidA, pidB := call(t, g, "a/pid", ""), call(t, g, "b/pid", "")
	b.Args = []string{"changed"}
	g.Set([]upstream.Server{a, b, c})
	if !dead(t, pidB) {
		t.Error("the changed server still runs")
	}
	if call(t, g, "a/pid", "") != pidA {
		t.Error("the unchanged server was restarted")
	}
	if call(t, g, "b/pid", "") == pidB {
		t.Error("the changed server answers as before")
	}
	want := []upstream.Status{
		{Server: "a", State: upstream.Running, Transport: upstream.Stdio},
		{Server: "b", State: upstream.Running, Transport: upstream.Stdio},
		{Server: "c", State: upstream.Configured, Transport: upstream.Stdio},
	}
	if diff := cmp.Diff(want, g.Status()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	a.Disabled = true
	g.Set([]upstream.Server{a})
	if !dead(t, pidA) {
		t.Error("the disabled server still runs")
	}
	callError(t, g, t.Context(), "a/pid", tool.NotFound)
	if st := g.Status(); len(st) != 0 {
		t.Errorf("status %v", st)
	}
}

// dead reports whether a process is gone, whoever waits for it.
func dead(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(n)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

func TestCloseEndsCallsAndProcesses(t *testing.T) {
	g := startGateway(t, Options{stopGrace: 200 * time.Millisecond}, self(t, "s", "sdk"), self(t, "hung", "hang"))
	pid := call(t, g, "s/pid", "")
	running := make(chan struct{})
	errs := make(chan error, 2)
	go func() {
		_, err := g.Call(t.Context(), tool.Call{
			ID: "s/wait", Arguments: json.RawMessage(`{}`),
			Progress: func(tool.Progress) { close(running) },
		})
		errs <- err
	}()
	<-running
	go func() {
		_, err := g.Call(t.Context(), tool.Call{ID: "hung/x"})
		errs <- err
	}()
	u, _ := g.Upstream("hung")
	waitFor(t, "the start", func() bool { u.mu.Lock(); defer u.mu.Unlock(); return u.starting != nil })
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-errs; tool.CodeOf(err) != tool.Unavailable || !strings.Contains(err.Error(), "was stopped") {
			t.Errorf("error is %v", err)
		}
	}
	if !dead(t, pid) {
		t.Error("the process still runs")
	}
	callError(t, g, t.Context(), "s/pid", tool.NotFound)
	if _, err := u.Tools(t.Context()); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("error is %v", err)
	}
}

// A server started by a shell, as npx does, ends with it, even if neither heeds the end of input or SIGTERM.
func TestStopEndsTheProcessGroup(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	s := self(t, "s", "sdk")
	s.Args = []string{"-c", "trap '' TERM; sleep 1000 & echo child $! >&2; " + s.Command + "; wait"}
	s.Command = sh
	log := &logBuffer{}
	g := startGateway(t, Options{stopGrace: 100 * time.Millisecond, Logger: log.logger()}, s)
	call(t, g, "s/echo", "{}")
	waitFor(t, "the child's line", func() bool { return strings.Contains(log.String(), "child ") })
	_, rest, _ := strings.Cut(log.String(), "child ")
	pid := strings.FieldsFunc(rest, func(r rune) bool { return r < '0' || r > '9' })[0]
	if dead(t, pid) {
		t.Fatal("the child does not run")
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the child to end", func() bool { return dead(t, pid) })
}

func TestConcurrentCallersStartOnce(t *testing.T) {
	log := &logBuffer{}
	g := startGateway(t, Options{Logger: log.logger()}, self(t, "s", "sdk"))
	done := make(chan string, 50)
	for range cap(done) {
		go func() {
			res, err := g.Call(t.Context(), tool.Call{ID: "s/pid"})
			if err != nil {
				done <- err.Error()
				return
			}
			done <- string(res.Raw)
		}()
	}
	first := <-done
	for range cap(done) - 1 {
		if got := <-done; got != first {
			t.Errorf("answers %s and %s", first, got)
		}
	}
	if n := strings.Count(log.String(), "upstream started"); n != 1 {
		t.Errorf("started %d times", n)
	}
}

// A caller who gives up does not end the start that others wait for.
func TestImpatientCallerDoesNotStopTheStart(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "sdk"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	callError(t, g, ctx, "s/pid", tool.Timeout)
	call(t, g, "s/pid", "")
}
