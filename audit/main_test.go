package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	"tooldex/tool"
)

// writerVariable makes the test binary a process that writes records: "DIR NUMBER" of them, printing the number of each
// that was acknowledged.
const writerVariable = "TOOLDEX_AUDIT_TEST_WRITER"

// The names of writers that start a new file after every few records: one brings each record to the disk, the other
// all of them when it ends.
const (
	synced = "synced"
	late   = "late"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		os.Exit(writer(dir, os.Args[1], os.Args[2]))
	}
	os.Exit(m.Run())
}

func writer(dir, name, count string) int {
	n, err := strconv.Atoi(count)
	if err != nil {
		return 2
	}
	o := Options{Dir: dir, MaxSize: 400_000, MaxFiles: 1000}
	switch name {
	case synced:
		o = Options{Dir: dir, MaxSize: 900, MaxFiles: 2, Sync: Each, Required: true}
	case late:
		o = Options{Dir: dir, MaxSize: 900, MaxFiles: 1000}
	}
	l := New(o)
	if name == synced || name == late { // as a server does: the key is made after the files
		if err := l.Served(context.Background(), Start, "v1", "test"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	call := l.Caller(answering{})
	for i := range n {
		c := tool.Call{
			ID: "s/" + tool.ID(name), Arguments: json.RawMessage(fmt.Sprintf(`{"i":%d}`, i)),
			Who: tool.Asker{Client: name, Via: "stdio"},
		}
		if _, err := call.Call(context.Background(), c); err != nil || l.Err() != nil {
			fmt.Fprintln(os.Stderr, err, l.Err())
			return 1
		}
		fmt.Println(i)
	}
	if err := l.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// answering is a Caller that answers, or fails with err.
type answering struct {
	err     error
	isError bool
}

func (a answering) Call(context.Context, tool.Call) (*tool.CallResult, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &tool.CallResult{Raw: json.RawMessage(`{"content":[]}`), IsError: a.isError}, nil
}

// some is a catalogue.
type some []*tool.Tool

func (s some) Set() *tool.Set { return tool.NewSet(s, "") }

// fill writes n calls, and fails the test if one cannot be recorded.
func fill(t testing.TB, l *Log, n int) {
	t.Helper()
	for i := range n {
		c := tool.Call{ID: "s/t", Arguments: json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))}
		if _, err := l.Caller(answering{}).Call(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// records reads all.
func records(t testing.TB, dir string) []Record {
	t.Helper()
	var out []Record
	if err := NewReader(dir).Read(func(r Record) error { out = append(out, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// verified verifies a directory, which must hold, and returns the report.
func verified(t testing.TB, dir string) *Report {
	t.Helper()
	r, err := Verify(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() {
		t.Fatalf("the chain does not hold: %v", r.Breaks)
	}
	return r
}

// closing closes l at the end of the test.
func closing(t testing.TB, l *Log) *Log {
	t.Helper()
	t.Cleanup(func() { _ = l.Close() })
	return l
}
