package learn

import (
	"context"
	"testing"
	"time"

	"tooldex/tool"
)

// TestOneSweeps has evidence of tools that are gone. Only the Learner whose turn it is drops it.
func TestOneSweeps(t *testing.T) {
	disk := newMemory()
	first := newLearner(t, disk, tools(4), nil)
	teach(t, first, 3, "c", 0, 1, 2, 3)
	if err := first.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	stored := func() int {
		entries, _, err := disk.Learned(context.Background(), 1<<60)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := stored()
	other := tool.NewSet([]*tool.Tool{{Server: "s", Name: "other"}}, "")
	for _, c := range []struct {
		sweeps bool
		left   bool
	}{{false, true}, {true, false}} {
		l := newLearner(t, disk, other, func(o *Options) {
			o.Sweeps = func() bool { return c.sweeps }
			o.Now = func() time.Time { return newClock().now().AddDate(1, 0, 0) }
		})
		if err := l.Load(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := l.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		if n := stored(); before == 0 || (n == before) != c.left {
			t.Errorf("sweeps %t: %d of %d entries are left", c.sweeps, n, before)
		}
	}
}
