package train

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func randoms(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 1000} {
		done := make([]int, n)
		each(n, func(i int) { done[i]++ })
		if slices.ContainsFunc(done, func(k int) bool { return k != 1 }) {
			t.Errorf("of %d: %v", n, done)
		}
	}
}
