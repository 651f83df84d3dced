package knowledge

import (
	"cmp"
	"slices"

	"tooldex/internal/vector"
)

// Near is an archetype near a request.
type Near struct {
	Archetype int
	Words     float32 // word score
	Cosine    float32
	Nearness  float32 // of both, by which they are sorted
}

// Scratch holds what Nearest reuses from call to call. The zero Scratch is ready; it must not be used by two goroutines
// at once.
type Scratch struct {
	words   []uint16
	order   []int32
	highest []uint16
	vector  []float32
	most    float32 // highest word score of the candidates
}

// Nearness returns how near archetype i is to the request of the last Nearest, whose vector is v.
func (b *Base) Nearness(i int, v []float32, s *Scratch) float32 {
	b.unpackVector(i, s.vector)
	return nearWords*float32(s.words[i])/impactUnits/s.most + (1-nearWords)*vector.Dot(v, s.vector)
}

const (
	nearCandidates = 64
	nearWords      = .35 // share of words in nearness; the rest is cosine
)

// Nearest returns the n archetypes nearest to a request, given by its stems and its vector of the model that the base
// was compiled with: what the request asks for, whether or not any tool at hand does it. Best first, ties by archetype.
func (b *Base) Nearest(stems []string, v []float32, n int, s *Scratch) []Near {
	if len(s.words) != b.count {
		s.words, s.order, s.highest = make([]uint16, b.count), make([]int32, b.count), make([]uint16, blocksOf(b.count))
	}
	clear(s.words)
	for _, t := range stems[:min(len(stems), maxWords)] {
		b.addWords(t, s.words)
	}
	picked := topIndices(s.words, nearCandidates, s.order, s.highest)
	if len(s.vector) != len(v) {
		s.vector = make([]float32, len(v))
	}
	var most float32 = 1e-9
	out := make([]Near, 0, len(picked))
	for _, i := range picked {
		b.unpackVector(int(i), s.vector)
		out = append(out, Near{int(i), float32(s.words[i]) / impactUnits, vector.Dot(v, s.vector), 0})
		most = max(most, out[len(out)-1].Words)
	}
	s.most = most
	for k := range out {
		out[k].Nearness = nearWords*out[k].Words/most + (1-nearWords)*out[k].Cosine
	}
	slices.SortFunc(out, func(x, y Near) int {
		return cmp.Or(cmp.Compare(y.Nearness, x.Nearness), cmp.Compare(x.Archetype, y.Archetype))
	})
	return out[:min(n, len(out))]
}
