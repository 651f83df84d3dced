package serve

import (
	"runtime/debug"
	"testing"
)

// Garbage is collected more often while messages take much memory, never more seldom than GOGC says, and as before
// afterwards.
func TestCollectOften(t *testing.T) {
	normal := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(normal) })
	for _, before := range []int{100, 400, 20, -1} {
		debug.SetGCPercent(before)
		often := collectOften()
		for range 2 {
			often(true)
			if got := debug.SetGCPercent(before); got > oftenPercent || before < oftenPercent && got != before {
				t.Errorf("with GOGC=%d it is %d while messages take much memory", before, got)
			}
			often(false)
			if got := debug.SetGCPercent(before); got != before {
				t.Errorf("with GOGC=%d it is %d afterwards", before, got)
			}
		}
	}
}
