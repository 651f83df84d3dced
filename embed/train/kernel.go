package train

import (
	"runtime"
	"sync"
)

// dotPlain adds in the order in which the vector unit does: 32 lanes, folded by halves. So training gives the same bits
// with and without one. The conversions forbid fused products.
func dotPlain(a, b []float32) float32 {
	var lane [32]float32
	b = b[:len(a)]
	for i := 0; i+32 <= len(a); i += 32 {
		for k := range lane {
			lane[k] += float32(a[i+k] * b[i+k])
		}
	}
	for k := range 8 {
		lane[k] = (lane[k] + lane[8+k]) + (lane[16+k] + lane[24+k])
	}
	for k := range 4 {
		lane[k] += lane[4+k]
	}
	return (lane[0] + lane[2]) + (lane[1] + lane[3])
}

func axpyPlain(y, x []float32, f float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float32(f * x[i])
	}
}

// each calls f for 0 to n-1 from all processors. It is for work whose parts write to places of their own, so that the result does
// not depend on who did what.
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
