package vector

import "math/bits"

// levelBits is the number of bits of a component of Levels.
const levelBits = 4

// Levels is a vector of components from 0 to 15, to be multiplied with vectors of bits.
type Levels struct {
	words int
	// planes holds one bit of every component after the other, the lowest bit first, words uint64 each.
	planes []uint64
	// nibbles holds the same for the vector unit: of each plane, the highest first, the low halves of all bytes, then
	// the high halves.
	nibbles [2 * levelBits * unitWords]uint64
}

// unitWords is the number of words of a vector of bits that the vector unit multiplies at once.
const unitWords = 4

// NewLevels returns Levels of components, of which there must be a multiple of 64.
func NewLevels(components []uint8) *Levels {
	l := &Levels{words: len(components) / 64}
	l.planes = make([]uint64, levelBits*l.words)
	for j, c := range components {
		for p := range levelBits {
			l.planes[p*l.words+j/64] |= uint64(c>>p&1) << (j % 64)
		}
	}
	if l.words == unitWords {
		const low = 0x0f0f0f0f0f0f0f0f
		for p := range levelBits {
			for w, plane := range l.planes[p*unitWords : (p+1)*unitWords] {
				at := 2 * (levelBits - 1 - p) * unitWords
				l.nibbles[at+w], l.nibbles[at+unitWords+w] = plane&low, plane>>4&low
			}
		}
	}
	return l
}

// Multiply multiplies with the vectors of bits that lie one after the other in codes. Sums has a place for each: the
// sum of the components whose bits are set, times 2^32, plus the number of set bits.
func (l *Levels) Multiply(codes, sums []uint64) {
	codes = codes[:len(sums)*l.words]
	if l.words == unitWords && len(sums) > 0 {
		multiply(l, codes, sums)
		return
	}
	l.multiplyPlain(codes, sums)
}

func (l *Levels) multiplyPlain(codes, sums []uint64) {
	for i := range sums {
		ones, sum := 0, 0
		for w, b := range codes[i*l.words : (i+1)*l.words] {
			ones += bits.OnesCount64(b)
			for p := range levelBits {
				sum += bits.OnesCount64(b&l.planes[p*l.words+w]) << p
			}
		}
		sums[i] = uint64(sum)<<32 | uint64(ones)
	}
}
