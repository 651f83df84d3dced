package gateway

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// One at a time has the lock of a login, those of others have their own, and none is kept that nobody uses.
func TestRenewalLocks(t *testing.T) {
	var locks renewalLocks
	var all sync.WaitGroup
	var inside [3]atomic.Int32
	counts := [3]int{}
	for i := range 300 {
		all.Go(func() {
			which := i % len(inside)
			l := locks.of(userKey{"s", fmt.Sprint(which)})
			l.Lock()
			defer l.Unlock()
			if n := inside[which].Add(1); n != 1 {
				t.Errorf("%d have the lock", n)
			}
			counts[which]++ // the race detector looks at it, too
			inside[which].Add(-1)
		})
	}
	all.Wait()
	if counts != [3]int{100, 100, 100} || len(locks.all) != 0 {
		t.Errorf("counts %v, and %d locks are kept", counts, len(locks.all))
	}
	one, other := locks.of(userKey{"s", "a"}), locks.of(userKey{"s", "b"})
	one.Lock()
	other.Lock() // does not wait
	if len(locks.all) != 2 {
		t.Errorf("%d locks are kept while two are held", len(locks.all))
	}
	other.Unlock()
	one.Unlock()
}
