package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/access"
	"tooldex/confirm"
	"tooldex/tool"
)

func TestWhatIsRecorded(t *testing.T) {
	remove := &tool.Tool{Server: "files", Name: "remove", Description: "Remove a file"}
	sum := remove.Hash()
	definition := hex.EncodeToString(sum[:])
	who := tool.Asker{Session: "secret-session", Client: "editor", Version: "2.1", Profile: "work", Via: "http"}
	wanted := Who{
		Principal: "token ci", Profile: "work", Client: "editor", Version: "2.1", Via: "http",
		Process: os.Getpid(),
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		next tool.Caller
		want Record
	}{
		"answered":        {next: answering{}, want: Record{Outcome: OK}},
		"the tool failed": {next: answering{isError: true}, want: Record{Outcome: Failed}},
		"denied": {
			next: answering{err: &tool.Error{Code: tool.Denied}},
			want: Record{Outcome: Denied, Code: "denied"},
		},
		"not for who asks": {
			next: answering{err: &tool.Error{Code: tool.NotFound}},
			want: Record{Outcome: Hidden, Code: "not_found"},
		},
		"too slow": {
			next: answering{err: &tool.Error{Code: tool.Timeout}},
			want: Record{Outcome: TimedOut, Code: "timeout"},
		},
		"the time was up": {
			next: answering{err: context.DeadlineExceeded},
			want: Record{Outcome: TimedOut, Code: "internal"},
		},
		"server is down": {
			next: answering{err: &tool.Error{Code: tool.Unavailable}},
			want: Record{Outcome: Error, Code: "unavailable"},
		},
		"a plain error": {next: answering{err: errors.New("x")}, want: Record{Outcome: Error, Code: "internal"}},
		"declined": {
			next: answering{err: &tool.Error{Code: tool.Denied, Err: confirm.Declined}},
			want: Record{Outcome: Unconfirmed, Code: "denied", Reason: "declined"},
		},
		"the client went": {
			ctx: cancelled, next: answering{err: &tool.Error{Code: tool.Timeout}},
			want: Record{Outcome: Cancelled, Code: "timeout"},
		},
		"confirmed": {next: confirming{}, want: Record{Outcome: OK, Confirmed: "by the user"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := closing(t, New(Options{Dir: filepath.Join(t.TempDir(), "audit"), Catalog: some{remove}}))
			if c.ctx == nil {
				c.ctx = context.Background()
			}
			ctx := access.WithPrincipal(c.ctx, access.Principal{Name: "token ci", Key: "k"})
			_, _ = l.Caller(c.next).Call(ctx, tool.Call{
				ID:        "files/remove",
				Arguments: json.RawMessage(`{"path": "/tmp/x"}`), Who: who,
			})
			got := records(t, l.o.Dir)
			if len(got) != 1 {
				t.Fatalf("%d records, want 1", len(got))
			}
			c.want.Seq, c.want.Kind, c.want.Who, c.want.Tool, c.want.Definition, c.want.Prev = 1, Call, wanted,
				"files/remove", definition, zeroHash
			c.want.Arguments = l.Fingerprint(json.RawMessage(`{"path":"/tmp/x"}`))
			if d := cmp.Diff(c.want, got[0], cmpopts.IgnoreFields(Record{}, "Time", "Millis", "Hash",
				"Who.Session")); d != "" {
				t.Error(d)
			}
			if s := got[0].Who.Session; len(s) != 16 || strings.Contains(s, "secret") {
				t.Errorf("session %q, want one that cannot be gone on with", s)
			}
			if got[0].Time.Location() != time.UTC || time.Since(got[0].Time) > time.Minute {
				t.Errorf("time %v", got[0].Time)
			}
			verified(t, l.o.Dir)
		})
	}
}

type confirming struct{}

func (confirming) Call(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	c.OnConfirm("by the user")
	return &tool.CallResult{}, nil
}

func TestRefusedBeforeTheCaller(t *testing.T) {
	l := closing(t, New(Options{Dir: t.TempDir(), Catalog: some{{Server: "files", Name: "remove"}}}))
	ctx := context.Background()
	missing := &tool.Error{Code: tool.NotFound}
	l.Refused(ctx, "remove", tool.Call{}, missing)
	// whose 200th byte is within a letter
	l.Refused(ctx, "nothing_like_it"+strings.Repeat("é", 1000), tool.Call{}, missing)
	l.Refused(ctx, "remove", tool.Call{ID: "files/remove", Arguments: json.RawMessage(`{"a":`)},
		&tool.Error{Code: tool.Invalid})
	l.Changed(ctx, tool.Asker{Via: "api"}, "putOverlay", "files/remove", nil)
	l.Changed(ctx, tool.Asker{Via: "api"}, "putOverlay", "files/remove", &tool.Error{Code: tool.Denied})
	got := records(t, l.o.Dir)
	type short struct {
		Kind    Kind
		Outcome Outcome
		Tool    tool.ID
		Name    int
		Action  string
	}
	var have []short
	for _, r := range got {
		have = append(have, short{r.Kind, r.Outcome, r.Tool, len(r.Name), r.Action})
	}
	want := []short{
		{Call, Hidden, "files/remove", 6, ""},
		{Call, Unknown, "", 199, ""},
		{Call, Invalid, "files/remove", 0, ""},
		{Change, OK, "", 0, "putOverlay"},
		{Change, Denied, "", 0, "putOverlay"},
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Error(d)
	}
}

func TestArgumentsStayOut(t *testing.T) {
	const secret = "hunter2-canary"
	args := json.RawMessage(`{"password":"` + secret + `"}`)
	for _, keep := range []bool{false, true} {
		l := closing(t, New(Options{Dir: t.TempDir(), Arguments: keep}))
		if _, err := l.Caller(answering{}).Call(context.Background(), tool.Call{
			ID:        "s/t",
			Arguments: args,
		}); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(l.o.Dir)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(l.o.Dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(b, []byte(secret))
			if info, err := e.Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", e.Name(), info.Mode())
			}
		}
		if found != keep {
			t.Errorf("keep %v: the arguments are there: %v", keep, found)
		}
	}
}

func TestLongArgumentsAreCut(t *testing.T) {
	l := closing(t, New(Options{Dir: t.TempDir(), Arguments: true}))
	long := json.RawMessage(`{"text":"` + strings.Repeat("é", 20_000) + `"}`)
	if _, err := l.Caller(answering{}).Call(context.Background(), tool.Call{ID: "s/t", Arguments: long}); err != nil {
		t.Fatal(err)
	}
	if n := len(records(t, l.o.Dir)[0].Given); n < 10_000 || n > 50_000 {
		t.Errorf("%d bytes are kept", n)
	}
	verified(t, l.o.Dir)
}

func TestFingerprint(t *testing.T) {
	dir := t.TempDir()
	l, other := closing(t, New(Options{Dir: dir})), closing(t, New(Options{Dir: t.TempDir()}))
	same := []string{`{"a":1,"b":{"c":[1,2],"d":"é"}}`, ` { "b" : {"d":"\u00e9", "c":[1, 2]}, "a" : 1 } `}
	if a, b := l.Fingerprint(json.RawMessage(same[0])), l.Fingerprint(json.RawMessage(same[1])); a != b || len(a) != 64 {
		t.Errorf("equal arguments have %s and %s", a, b)
	}
	if l.Fingerprint(nil) != l.Fingerprint(json.RawMessage("{}")) {
		t.Error("no arguments are not {}")
	}
	seen := map[string]string{}
	for _, s := range []string{
		`{"a":1}`, `{"a":"1"}`, `{"a":1.0}`, `{"a":10000000000000000000001}`,
		`{"a":10000000000000000000000}`, `{`, `{}{}`,
	} {
		h := l.Fingerprint(json.RawMessage(s))
		if was, ok := seen[h]; ok {
			t.Errorf("%s and %s are the same", was, s)
		}
		seen[h] = s
	}
	again := closing(t, New(Options{Dir: dir}))
	if l.Fingerprint(nil) != again.Fingerprint(nil) {
		t.Error("another Log of the directory has another key")
	}
	if l.Fingerprint(nil) == other.Fingerprint(nil) {
		t.Error("another directory has the same key")
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	l := closing(t, New(Options{Dir: dir, MaxSize: 2000, MaxFiles: 3}))
	fill(t, l, 60)
	numbers, err := listFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(numbers) != 3 || numbers[0] < 5 {
		t.Errorf("files %v, want the last three of many", numbers)
	}
	for _, n := range numbers {
		if info, err := os.Stat(l.filePath(fileName(n))); err != nil || info.Size() > 2000 {
			t.Errorf("file %d: %v, %v", n, info, err)
		}
	}
	report := verified(t, dir)
	if report.Head.Seq != 60 || report.First < 2 || report.Records != int(60-report.First+1) || len(report.Notes) != 0 {
		t.Errorf("report %+v", report)
	}
	// Without the head, what is kept is a chain still, and the log goes on with it.
	if err := os.Remove(l.filePath(headName)); err != nil {
		t.Fatal(err)
	}
	if got := faults(t, dir); !slices.Equal(got, []Fault{Shortened}) {
		t.Errorf("without the head: %v", got)
	}
	fill(t, closing(t, New(Options{Dir: dir, MaxSize: 2000, MaxFiles: 3})), 1)
	if got := faults(t, dir); !slices.Equal(got, []Fault{Shortened}) {
		t.Errorf("after the head was made anew: %v, want a place that says that it was lost", got)
	}
}

// faults returns what Verify finds wrong.
func faults(t *testing.T, dir string, anchors ...Anchor) []Fault {
	t.Helper()
	r, err := Verify(t.Context(), dir, anchors...)
	if err != nil {
		t.Fatal(err)
	}
	var out []Fault
	for _, b := range r.Breaks {
		out = append(out, b.Fault)
	}
	return out
}

// TestRemovedWithoutTrace removes records in ways that leave a whole chain: the head with the last records, and the
// folder.
func TestRemovedWithoutTrace(t *testing.T) {
	dir := t.TempDir()
	l := New(Options{Dir: dir})
	fill(t, l, 5)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	anchor := *verified(t, dir).Head
	lines := bytes.SplitAfter(read(t, dir, 1), []byte("\n"))
	put(t, l.filePath(fileName(1)), bytes.Join(lines[:3], nil))
	if err := os.Remove(l.filePath(headName)); err != nil {
		t.Fatal(err)
	}
	if got := faults(t, dir); !slices.Equal(got, []Fault{Shortened}) {
		t.Errorf("with the head and two records removed: %v", got)
	}
	fill(t, closing(t, New(Options{Dir: dir})), 1)
	if got := faults(t, dir); !slices.Contains(got, Shortened) {
		t.Errorf("after another record was written: %v", got)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if got := faults(t, dir, anchor); !slices.Equal(got, []Fault{Shortened}) {
		t.Errorf("with the folder removed: %v", got)
	}
}

func TestRotationByAge(t *testing.T) {
	dir := t.TempDir()
	l := closing(t, New(Options{Dir: dir, MaxAge: time.Nanosecond}))
	fill(t, l, 3)
	if numbers, err := listFiles(dir); err != nil || len(numbers) != 3 {
		t.Errorf("files %v, %v; want one for each record", numbers, err)
	}
	verified(t, dir)
}

func TestLogsOfOneDirectoryTakeTurns(t *testing.T) {
	dir := t.TempDir()
	a, b := closing(t, New(Options{Dir: dir, MaxSize: 1500})), closing(t, New(Options{Dir: dir, MaxSize: 1500}))
	for range 5 {
		fill(t, a, 1)
		fill(t, b, 2)
	}
	if r := verified(t, dir); r.Head.Seq != 15 || len(r.Notes) != 0 {
		t.Errorf("report %+v", r)
	}
}

func TestTornLine(t *testing.T) {
	dir := t.TempDir()
	l := closing(t, New(Options{Dir: dir}))
	fill(t, l, 3)
	whole, err := os.ReadFile(l.filePath(fileName(1)))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, l, 1)
	last, err := os.ReadFile(l.filePath(fileName(1)))
	if err != nil {
		t.Fatal(err)
	}
	headBefore := checkpoint{
		Anchor: Anchor{3, records(t, dir)[2].Hash}, Base: Anchor{Hash: zeroHash}, File: 1,
		Size: int64(len(whole)), Begun: time.Now(),
	}
	for n := len(whole); n < len(last); n += 7 { // as a process leaves it that dies while it writes
		torn := t.TempDir()
		k := closing(t, New(Options{Dir: torn}))
		b, err := headBefore.encodeHead()
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(torn, headName), b)
		put(t, filepath.Join(torn, fileName(1)), last[:n])
		before := verified(t, torn)
		fill(t, k, 2)
		after := verified(t, torn)
		switch {
		case n == len(whole):
			if len(before.Notes)+len(after.Notes) != 0 || after.Head.Seq != 5 {
				t.Errorf("nothing torn: %+v, %+v", before, after)
			}
		case len(before.Notes) != 1 || len(after.Notes) != 1 || after.Head.Seq != 6:
			t.Errorf("torn after %d bytes: %+v, %+v", n-len(whole), before, after)
		}
	}
	// A line that was written whole before the head was moved is a record.
	whole2 := t.TempDir()
	b, err := headBefore.encodeHead()
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(whole2, headName), b)
	put(t, filepath.Join(whole2, fileName(1)), last)
	fill(t, closing(t, New(Options{Dir: whole2})), 1)
	if r := verified(t, whole2); r.Head.Seq != 5 || len(r.Notes) != 0 {
		t.Errorf("report %+v, want the record that the head did not know", r)
	}
}

func put(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNoRoom(t *testing.T) {
	for _, required := range []bool{false, true} {
		var said bytes.Buffer
		l := closing(t, New(Options{
			Dir: t.TempDir(), Required: required, Sync: Never, Logger: slog.New(slog.NewTextHandler(&said, nil)),
		}))
		fill(t, l, 1)
		full := true
		l.fault = func(op string, b []byte) ([]byte, error) {
			if full && op == "write" {
				return b[:len(b)/2], errors.New("no space left on device")
			}
			return b, nil
		}
		called := 0
		counting := calling(func() { called++ })
		var err error
		for range 3 {
			_, err = l.Caller(counting).Call(context.Background(), tool.Call{ID: "s/t"})
		}
		if required && (called != 0 || tool.CodeOf(err) != tool.Unavailable ||
			!strings.Contains(err.Error(), "is refused because it cannot be recorded")) {
			t.Errorf("required: %d calls, %v", called, err)
		}
		if !required && (called != 3 || err != nil) {
			t.Errorf("not required: %d calls, %v", called, err)
		}
		if l.Err() == nil || strings.Count(said.String(), "cannot be recorded") != 1 {
			t.Errorf("the failure shows as %v, and in the log as\n%s", l.Err(), &said)
		}
		full = false
		fill(t, l, 1)
		if l.Err() != nil || !strings.Contains(said.String(), "recorded again") {
			t.Errorf("it works again: %v\n%s", l.Err(), &said)
		}
		notes := strings.Join(verified(t, l.o.Dir).Notes, "\n")
		if !strings.Contains(notes, "not written whole") || strings.Contains(notes,
			"3 records could not be written") == required {
			t.Errorf("notes: %s", notes)
		}
	}
}

type calling func()

func (c calling) Call(context.Context, tool.Call) (*tool.CallResult, error) {
	c()
	return &tool.CallResult{}, nil
}

func TestRequiredRecordsTheBeginning(t *testing.T) {
	l := closing(t, New(Options{Dir: t.TempDir(), Required: true}))
	seen := 0
	if _, err := l.Caller(calling(func() { seen = len(records(t, l.o.Dir)) })).Call(context.Background(),
		tool.Call{ID: "s/t"}); err != nil {
		t.Fatal(err)
	}
	got := records(t, l.o.Dir)
	if seen != 1 || len(got) != 2 || got[0].Kind != Begin || got[1].Kind != Call || got[1].Of != 1 ||
		got[0].Outcome != "" {
		t.Errorf("%d records during the call, and then %+v", seen, got)
	}
}

func TestNilLogAndClosedLog(t *testing.T) {
	var none *Log
	next := answering{}
	if none.Caller(next) != tool.Caller(next) || none.Err() != nil || none.Close() != nil ||
		none.Served(context.Background(), Start, "", "") != nil {
		t.Error("a nil Log does something")
	}
	none.Refused(context.Background(), "x", tool.Call{}, nil)
	none.Changed(context.Background(), tool.Asker{}, "a", "b", nil)
	l := New(Options{Dir: t.TempDir()})
	fill(t, l, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Served(context.Background(), Stop, "1", ""); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("a closed Log answers %v", err)
	}
}

func TestDirectoryThatIsTakenAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := closing(t, New(Options{Dir: dir}))
	fill(t, l, 2)
	if err := os.RemoveAll(dir); err != nil {
		t.Skip(err) // where open files cannot be removed
	}
	fill(t, l, 1)
	if r := verified(t, dir); r.Head.Seq != 1 {
		t.Errorf("report %+v, want a new chain", r)
	}
}
