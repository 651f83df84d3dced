package train

import (
	"runtime"
	"sync"
)

// each calls f for 0 to n-1 from all processors. It is for work whose parts write to places of their own, so that the
// result does not depend on who did what.
func each(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	const stretch = 8
	var next int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				mu.Lock()
				from := next
				next += stretch
				mu.Unlock()
				if from >= n {
					return
				}
				for i := from; i < min(from+stretch, n); i++ {
					f(i)
				}
			}
		})
	}
	wg.Wait()
}
