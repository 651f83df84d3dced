package service

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tooldex/tool"
)

// slow takes its time for a search, and counts those at once.
type slow struct {
	takes        time.Duration
	inside, most atomic.Int64
}

func (s *slow) Search(context.Context, tool.Query) (*tool.Result, error) {
	now := s.inside.Add(1)
	defer s.inside.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	time.Sleep(s.takes) // in a bubble, which has a clock of its own
	return &tool.Result{}, nil
}

// TestSearchLimiter asks for more searches than may be made at once: all that come to their turn in time are
// answered, a few at a time; the others are told to come back, at once where too many wait, and one whose client goes
// leaves the row.
func TestSearchLimiter(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	for name, c := range map[string]struct {
		takes           time.Duration
		remote          bool
		ask             int
		most            int // at once
		answered, still int // how many are told to come back after having waited; the rest are at once
	}{
		"a crowd": {10 * time.Millisecond, false, 100, 2 * processors, 100, 0},
		"more than may wait": {
			time.Millisecond, false, 2*processors + searchesWaiting + 5, 2 * processors,
			2*processors + searchesWaiting, 0,
		},
		"no turn in time":   {15 * time.Second, false, 2*processors + 3, 2 * processors, 2 * processors, 3},
		"a model elsewhere": {10 * time.Millisecond, true, 100, max(searchesRemote, 2*processors), 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				next := &slow{takes: c.takes}
				s := newSearchLimiter(next, c.remote)
				begin := time.Now()
				var answered, atOnce, late, wrong atomic.Int64
				for range c.ask {
					go func() {
						_, err := s.Search(t.Context(), tool.Query{Text: "x"})
						switch waited := time.Since(begin); {
						case err == nil:
							answered.Add(1)
						case tool.CodeOf(err) != tool.Unavailable:
							wrong.Add(1)
						case waited == 0:
							atOnce.Add(1)
						case waited == searchWait:
							late.Add(1)
						default:
							wrong.Add(1)
						}
					}()
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if int(answered.Load()) != c.answered || int(late.Load()) != c.still ||
					int(atOnce.Load()) != c.ask-c.answered-c.still || wrong.Load() > 0 {
					t.Errorf("%d answered, %d refused at once, %d late, %d otherwise", answered.Load(), atOnce.Load(),
						late.Load(), wrong.Load())
				}
				if got := int(next.most.Load()); got != min(c.most, c.ask) {
					t.Errorf("%d at once, want %d", got, c.most)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSearchLimiter(&slow{takes: 5 * time.Second}, false)
		for range 2 * processors {
			go func() { _, _ = s.Search(t.Context(), tool.Query{}) }()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Search(ctx, tool.Query{}); tool.CodeOf(err) != tool.Timeout || s.gate.Waits() != 0 {
			t.Errorf("a client that went: %v, %d wait", err, s.gate.Waits())
		}
		time.Sleep(time.Minute)
	})
}

// BenchmarkSearchLimiter is what the limiter costs a search that does not wait.
func BenchmarkSearchLimiter(b *testing.B) {
	s := newSearchLimiter(nothing{}, false)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Search(b.Context(), tool.Query{}); err != nil {
			b.Fatal(err)
		}
	}
}

type nothing struct{}

func (nothing) Search(context.Context, tool.Query) (*tool.Result, error) { return nil, nil }
