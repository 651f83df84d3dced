package audit

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/tool"
)

var errInjected = errors.New("injected fault")

// TestNthOperationFails fails operation 0, 1, 2 ... of a run of calls with rotation, wholly and half way, until a run
// meets no fault: every call is answered, what could not be recorded is counted, and the chain holds wherever it was.
func TestNthOperationFails(t *testing.T) {
	const calls = 7
	for _, half := range []bool{false, true} {
		for n := 0; ; n++ {
			l := New(Options{Dir: filepath.Join(t.TempDir(), "audit"), MaxSize: 900, MaxFiles: 2, Sync: Each})
			left, op := n, ""
			l.fault = func(name string, b []byte) ([]byte, error) {
				if left--; left != -1 {
					return b, nil
				}
				op = name
				if half {
					return b[:len(b)/2], errInjected
				}
				return nil, errInjected
			}
			lost := 0
			for i := range calls {
				if _, err := l.Caller(answering{}).Call(context.Background(),
					tool.Call{ID: "s/t", Arguments: json.RawMessage(`{"i":1}`)}); err != nil {
					t.Fatalf("operation %d (%s): call %d: %v", n, op, i, err)
				}
				if l.Err() != nil {
					lost++
				}
			}
			if err := l.Close(); err != nil && !errors.Is(err, errInjected) {
				t.Fatal(err)
			}
			seen, said := 0, 0
			for _, r := range records(t, l.o.Dir) {
				if r.Kind == Call {
					seen++
				}
				said += r.Lost
			}
			report := verified(t, l.o.Dir)
			// Two of the files are kept, so of older records only the numbers are known.
			kinds := strings.Count(strings.Join(report.Notes, "\n"), "\n")
			if said != lost && report.First == 1 || lost > 1 || seen == 0 {
				t.Fatalf("operation %d (%s): %d calls were not recorded, the log says %d; %d records, %d notes", n, op,
					lost, said, seen, kinds)
			}
			if op == "" {
				if n < 60 {
					t.Errorf("only %d operations could fail", n)
				}
				break
			}
		}
	}
}

// TestDyingAtEveryOperation stops all work at operation 0, 1, 2 ..., as a process that is killed does, with the write
// at hand done by half; another Log then goes on. Nothing is synced a second later, as nothing is after a death.
func TestDyingAtEveryOperation(t *testing.T) {
	for n := 0; ; n++ {
		dir := t.TempDir()
		l := New(Options{Dir: dir, MaxSize: 1200, MaxFiles: 2, Sync: Never})
		left, died := n, false
		l.fault = func(_ string, b []byte) ([]byte, error) {
			if left--; left >= 0 {
				return b, nil
			}
			died = true
			if left == -1 {
				return b[:len(b)/2], errInjected
			}
			return nil, errInjected
		}
		acknowledged := uint64(0)
		for range 8 {
			if _, err := l.Caller(answering{}).Call(context.Background(), tool.Call{ID: "s/t"}); err != nil {
				t.Fatal(err)
			}
			if l.Err() == nil {
				acknowledged++
			}
		}
		l.fault = nil
		_ = l.closeFiles()
		fill(t, closing(t, New(Options{Dir: dir, MaxSize: 1200, MaxFiles: 2})), 2)
		report := verified(t, dir)
		if report.Head.Seq < acknowledged+2 || report.Head.Seq > acknowledged+4 {
			t.Fatalf("operation %d: %d records were acknowledged and two more written, and the chain ends at %d", n,
				acknowledged, report.Head.Seq)
		}
		if !died {
			break
		}
	}
}

func TestSyncEachTellsOfTheDisk(t *testing.T) {
	l := closing(t, New(Options{Dir: t.TempDir(), Sync: Each, Required: true}))
	l.fault = func(op string, b []byte) ([]byte, error) {
		if op == "sync" {
			return nil, errInjected
		}
		return b, nil
	}
	called := false
	_, err := l.Caller(calling(func() { called = true })).Call(context.Background(), tool.Call{ID: "s/t"})
	if called || tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("called: %v, %v; want a call that is not made when its record does not reach the disk", called, err)
	}
	if l.Err() == nil {
		t.Error("the failure does not show")
	}
}
