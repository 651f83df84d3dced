package knowledge

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHuffmanLengths compares the lengths of codes with those of weights for which they are known.
func TestHuffmanLengths(t *testing.T) {
	for _, tt := range []struct {
		weights []int
		want    []byte
	}{
		{nil, nil},
		{[]int{7}, []byte{1}},
		{[]int{1, 1}, []byte{1, 1}},
		{[]int{1, 1, 2, 4, 8}, []byte{4, 4, 3, 2, 1}},
		{[]int{1, 1, 1, 1}, []byte{2, 2, 2, 2}},
		// From Cormen et al., Introduction to Algorithms, section 16.3.
		{[]int{5, 9, 12, 13, 16, 45}, []byte{4, 4, 3, 3, 3, 1}},
	} {
		if got := huffmanLengths(tt.weights); !slices.Equal(got, tt.want) {
			t.Errorf("%v get codes of %v bits, want %v", tt.weights, got, tt.want)
		}
	}
	// The weights that need the longest codes.
	fibonacci := []int{1, 1}
	for len(fibonacci) < maxCodeBits {
		fibonacci = append(fibonacci, fibonacci[len(fibonacci)-1]+fibonacci[len(fibonacci)-2])
	}
	if got := slices.Max(huffmanLengths(fibonacci)); got != maxCodeBits-1 {
		t.Errorf("the longest code has %d bits", got)
	}
}

// TestPrefixCode writes symbols in codes of all shapes, and reads them back with tables shorter and longer than the
// codes.
func TestPrefixCode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		times := map[uint32]int{}
		for range n {
			times[r.Uint32N(1000)] = 1 + r.IntN(1<<r.IntN(30))
		}
		written := newCodeWriter(times)
		sum := 0. // of Kraft's inequality: one for a code that wastes nothing
		for _, bits := range written.lengths {
			sum += 1 / float64(uint64(1)<<bits)
		}
		if len(times) > 1 && sum != 1 {
			t.Errorf("the code of %d symbols fills %g of all codes", len(times), sum)
		}
		for _, short := range []uint8{1, 5, 12} {
			code, rest, err := readCode(append(written.appendTo(nil), 7), 1000, short)
			if err != nil || !slices.Equal(rest, []byte{7}) {
				t.Fatalf("%d symbols: %v, %v is left", len(times), err, rest)
			}
			for _, s := range written.symbols {
				w := bitWriter{}
				w.write(bitString{5, 3})
				w.write(written.codes[s])
				w.write(bitString{1, 2})
				bits := bitsAt(append(w.out, make([]byte, readAhead)...), 3)
				e, n := code.read(bits), written.codes[s].bits
				if e>>lengthBits != s || byte(e&lengthMask) != n {
					t.Errorf("symbol %d of %d bits is read as %d of %d", s, n, e>>lengthBits, e&lengthMask)
				}
			}
		}
	}
}

// TestReadCodeRefuses reads codes that cannot be.
func TestReadCodeRefuses(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":               nil,
		"more than there is":    {3, 0, 0, 0, 1, 2},
		"a symbol too high":     {1, 10, 1},
		"symbols that pass it":  {2, 9, 0, 1, 1},
		"a length of 0":         {2, 0, 0, 0, 1},
		"too long":              {2, 0, 0, 1, maxCodeBits + 1},
		"three codes of a bit":  {3, 0, 0, 0, 1, 1, 1},
		"more than codes there": {4, 0, 0, 0, 0, 1, 2, 3, 2},
		"a number without end":  {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1},
	} {
		if _, _, err := readCode(b, 10, 5); err == nil {
			t.Errorf("%s: a code is read", name)
		}
	}
	// A code with room left is read, and what no symbol has is no symbol.
	code, _, err := readCode([]byte{1, 4, 2}, 10, 5)
	if err != nil || code.read(0)>>lengthBits != 4 || code.read(1<<63) != 0 {
		t.Errorf("the code of one symbol: %v, %v", code, err)
	}
}
