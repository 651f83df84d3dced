package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"tooldex/internal/pgtest"
	"tooldex/store"
	"tooldex/store/storetest"
	"tooldex/tool"
)

// journal is what writers were told.
type journal struct {
	mu           sync.Mutex
	tools        []tool.ID // acknowledged
	added, tried int       // of counts: acknowledged, and begun
	refused      int       // changes that were refused
}

// acknowledged returns how many changes were.
func (j *journal) acknowledged() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.tools) + j.added
}

// writeUntil writes tools of numbers from first, and counts, until stop is closed. What is refused is left out.
func (j *journal) writeUntil(t *testing.T, stop <-chan struct{}, s *Store, first int) {
	for n := first; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		one := storetest.Records(n, n+1)
		_, err := s.Write(context.Background(), &store.Batch{Records: one})
		j.mu.Lock()
		j.tried++
		j.mu.Unlock()
		_, _, countErr := s.ChangeCounts(context.Background(), []string{"n"}, func(now map[string][]byte) map[string][]byte {
			have, _ := strconv.Atoi(string(now["n"])) // zero before the first
			return map[string][]byte{"n": strconv.AppendInt(nil, int64(have+1), 10)}
		})
		j.mu.Lock()
		for _, err := range []error{err, countErr} {
			if err != nil {
				j.refused++
				if tool.CodeOf(err) != tool.Unavailable {
					t.Errorf("while the primary changes: %v, want Unavailable", err)
				}
			}
		}
		if err == nil {
			j.tools = append(j.tools, one[0].Tool.ID())
		}
		if countErr == nil {
			j.added++
		}
		j.mu.Unlock()
	}
}

// TestFailover kills the primary with kill -9 while four processes write, and promotes the standby that every commit
// waited for. The processes go on with it by themselves, and all that was acknowledged is there.
func TestFailover(t *testing.T) {
	primary := pgtest.Start(t)
	standby := primary.Standby()
	address := primary.BothURL(standby, "t")
	const writers, enough = 4, 200
	var all sync.WaitGroup
	j, stop := &journal{}, make(chan struct{})
	reader := open(t, address)
	waitFor(t, "the first look", reader.Changed())
	for w := range writers {
		s := open(t, address)
		all.Go(func() { j.writeUntil(t, stop, s, w*100_000) })
	}
	soon(t, "changes before", func() bool { return j.acknowledged() >= enough })
	primary.Kill()
	killed, before := time.Now(), j.acknowledged()
	soon(t, "refusals", func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.refused >= writers
	})
	standby.Promote()
	promoted := time.Now()
	soon(t, "a change after", func() bool { return j.acknowledged() > before })
	t.Logf("%d changes acknowledged; killed, promoted after %v, the next change %v later", before,
		promoted.Sub(killed).Round(time.Millisecond), time.Since(promoted).Round(time.Millisecond))
	soon(t, "changes after", func() bool { return j.acknowledged() >= before+enough })
	close(stop)
	all.Wait()

	snap, err := reader.Load(t.Context(), store.View{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[tool.ID]bool{}
	for _, r := range snap.Records {
		there[r.Tool.ID()] = true
	}
	for _, id := range j.tools {
		if !there[id] {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
	entries, _, err := reader.Counts(t.Context(), 1<<60)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.Atoi(string(entries["n"])); err != nil || n < j.added || n > j.tried {
		t.Errorf("counted %d, %v; %d were acknowledged of %d", n, err, j.added, j.tried)
	}
	soon(t, "the reader hears of changes again", func() bool {
		if _, err := reader.Write(t.Context(), &store.Batch{Overlays: map[string][]byte{fmt.Sprint(time.Now()): nil}}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-reader.Changed():
			return len(reader.Health()) == 0
		default:
			return false
		}
	})
}
