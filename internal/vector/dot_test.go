package vector

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

// TestSameBits compares the vector unit with plain Go, bit by bit: neither a table nor a ranking may depend on the
// machine.
func TestSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{32, 64, 256, 1024} {
		a, b := randoms(rng, n), randoms(rng, n)
		if got, want := dot(a, b), dotPlain(a, b); got != want {
			t.Errorf("dot of %d: %v, in plain Go %v", n, got, want)
		}
		got, want := slices.Clone(a), slices.Clone(a)
		axpy(got, b, -.7)
		axpyPlain(want, b, -.7)
		if !slices.Equal(got, want) {
			t.Errorf("axpy of %d differs from plain Go", n)
		}
	}
}

func TestAnyLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for n := range 130 {
		a, b := randoms(rng, n), randoms(rng, n)
		exact := 0.0
		for i := range a {
			exact += float64(a[i]) * float64(b[i])
		}
		if got := float64(Dot(a, b)); math.Abs(got-exact) > 1e-3 {
			t.Errorf("dot of %d: %v, exactly %v", n, got, exact)
		}
		sum := slices.Clone(a)
		Axpy(sum, b, 2)
		for i := range sum {
			if want := a[i] + float32(2*b[i]); sum[i] != want {
				t.Fatalf("axpy of %d: component %d is %v, want %v", n, i, sum[i], want)
			}
		}
	}
}

func BenchmarkDot256(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := randoms(rng, 256), randoms(rng, 256)
	for b.Loop() {
		Dot(x, y)
	}
}
