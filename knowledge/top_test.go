package knowledge

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTopIndices holds what is skipped against what is sorted.
func TestTopIndices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		scores := make([]uint16, r.IntN(200))
		most := 1 + r.IntN(1<<(1+r.IntN(16)))
		for i := range scores {
			if r.IntN(3) > 0 {
				scores[i] = uint16(r.IntN(most))
			}
		}
		n := 1 + r.IntN(40)
		sorted := slices.SortedFunc(slices.Values(scores), func(a, b uint16) int { return cmp.Compare(b, a) })
		least := uint16(0)
		if n <= len(sorted) {
			least = sorted[n-1] >> bucketBits
		}
		var want []int32
		for i, s := range scores {
			if s > 0 && s>>bucketBits >= least {
				want = append(want, int32(i))
			}
		}
		got := topIndices(scores, n, make([]int32, 0, len(scores)), make([]uint16, blocksOf(len(scores))))
		if !slices.Equal(got, want) {
			t.Fatalf("the %d highest of %v are %v, want %v", n, scores, got, want)
		}
	}
}
