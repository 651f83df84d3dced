package metrics

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"tooldex/tool"
)

// TestClockThatWasWrong counts under clocks that are far ahead, beyond what JSON can express too. Once the clock is
// right, reports and uses can be written as JSON, hold what was counted since, and nothing of then stands in a series.
func TestClockThatWasWrong(t *testing.T) {
	for name, at := range map[string]time.Time{
		"next year": time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), // the bubble's clock begins in 2000
		"year 9999": time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), "year 12000": time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC),
		"as far as possible": time.Unix(1<<62, 0),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, disk := newWorld(), &memoryDisk{}
				m := New(Options{Disk: disk})
				wrong := newCounts()
				wrong.Searches, wrong.Called["files/read"], wrong.Last["files/read"] = 5, 1, at.Unix()
				m.pending[minuteOf(at)] = wrong
				check := func(m *Meter, calls int64, last time.Time) {
					t.Helper()
					for _, window := range []string{"1h", "24h", "7d", "all"} {
						r := report(t, m, window)
						if _, err := json.Marshal(r); err != nil {
							t.Errorf("%s: %v", window, err)
						}
						for _, p := range r.Series {
							if p.Time.After(time.Now()) {
								t.Errorf("%s has a step at %v", window, p.Time)
							}
						}
					}
					uses, err := m.Uses(t.Context())
					if err != nil || uses["files/read"] != (Use{Calls: calls, Last: last}) {
						t.Errorf("uses %v, %v, want %d and %v", uses, err, calls, last)
					}
				}
				check(m, 1, time.Time{})
				if err := m.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				check(m, 1, time.Time{})
				w.called = &tool.CallResult{Raw: json.RawMessage(`{}`)}
				_, _ = m.Caller(w, "").Call(context.Background(), tool.Call{ID: "files/read"})
				if err := m.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				check(m, 2, time.Now().UTC().Truncate(time.Second))
				check(New(Options{Disk: disk}), 2, time.Now().UTC().Truncate(time.Second))
			})
		})
	}
}
