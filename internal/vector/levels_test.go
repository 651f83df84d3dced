package vector

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// TestLevels compares products with sums made component by component, and the vector unit with plain Go.
func TestLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, words := range []int{1, 4, 5} {
		for _, n := range []int{0, 1, 7, 300} {
			t.Run(strconv.Itoa(64*words)+"x"+strconv.Itoa(n), func(t *testing.T) {
				components, codes := make([]uint8, 64*words), make([]uint64, n*words)
				for j := range components {
					components[j] = uint8(rng.IntN(16))
				}
				for i := range codes {
					if codes[i] = rng.Uint64(); i%10 == 0 {
						codes[i] = ^uint64(0) // the highest sums
					}
				}
				want := make([]uint64, n)
				for i := range want {
					for j, c := range components {
						if codes[i*words+j/64]>>(j%64)&1 > 0 {
							want[i] += uint64(c)<<32 | 1
						}
					}
				}
				l := NewLevels(components)
				got, plain := make([]uint64, n), make([]uint64, n)
				l.Multiply(codes, got)
				l.multiplyPlain(codes, plain)
				if !slices.Equal(got, want) || !slices.Equal(plain, want) {
					t.Errorf("products are %v, in plain Go %v, want %v", got, plain, want)
				}
			})
		}
	}
	all := slices.Repeat([]uint8{15}, 256)
	sums := make([]uint64, 1)
	NewLevels(all).Multiply(slices.Repeat([]uint64{^uint64(0)}, 4), sums)
	if sums[0] != 256*15<<32|256 {
		t.Errorf("the highest product is %#x", sums[0])
	}
}

func BenchmarkLevels(b *testing.B) {
	l, codes, sums := NewLevels(make([]uint8, 256)), make([]uint64, 4*100_000), make([]uint64, 100_000)
	for _, plain := range []bool{false, true} {
		b.Run("plain="+strconv.FormatBool(plain), func(b *testing.B) {
			for b.Loop() {
				if plain {
					l.multiplyPlain(codes, sums)
				} else {
					l.Multiply(codes, sums)
				}
			}
		})
	}
}
