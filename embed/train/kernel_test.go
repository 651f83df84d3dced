package train

import (
	"math"
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

// TestKernels compares the vector unit with plain Go, bit by bit: the table must not depend on the machine.
func TestKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{32, 64, 256, 1024} {
		a, b := randoms(rng, n), randoms(rng, n)
		if got, want := dot(a, b), dotPlain(a, b); got != want {
			t.Errorf("dot of %d: %v, in plain Go %v", n, got, want)
		}
		exact := 0.0
		for i := range a {
			exact += float64(a[i]) * float64(b[i])
		}
		if got := float64(dotPlain(a, b)); math.Abs(got-exact) > 1e-3 {
			t.Errorf("plain dot of %d: %v, exactly %v", n, got, exact)
		}
		got, want := slices.Clone(a), slices.Clone(a)
		axpy(got, b, -.7)
		axpyPlain(want, b, -.7)
		if !slices.Equal(got, want) {
			t.Errorf("axpy of %d differs from plain Go", n)
		}
		if want[3] != a[3]+float32(-.7*b[3]) {
			t.Errorf("plain axpy of %d: %v", n, want[3])
		}
	}
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

func BenchmarkDot(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := randoms(rng, dims), randoms(rng, dims)
	for b.Loop() {
		dot(x, y)
	}
}
