package index

import (
	"math"

	"tooldex/internal/vector"
)

// coarse is what lets a search over many vectors compare most of them only roughly: one bit for each component of what
// a vector differs from the mean, and statistics in place of the cosines of all.
type coarse struct {
	mean    []float32 // of the vectors of enabled documents, a zero vector for one that has none
	squares []float32 // the mean of the products of their components, dims rows of dims
	bits    []uint64  // dims/64 words a document
	scales  []float32 // by document: what turns a product with its signs into one with its difference from the mean
}

// leastCoarse is the number of documents from which on a snapshot has coarse vectors. With fewer, comparing all exactly
// takes no longer.
const leastCoarse = 20000

// sampled is how many documents the squares are the mean of. They lie evenly in the catalogue.
const sampled = 8192

// addCoarse makes the coarse vectors of an index that is large enough for them.
func (b *Builder) addCoarse() error {
	s := b.s
	n, words := s.Len(), s.dims/64
	if n < leastCoarse || words == 0 || s.dims%64 != 0 {
		return nil
	}
	c := coarse{
		mean: b.sum, squares: make([]float32, s.dims*s.dims), bits: make([]uint64, n*words), scales: make([]float32, n),
	}
	scale(c.mean, b.enabled)
	step := max(1, b.enabled/sampled)
	i, enabled, used := 0, 0, 0
	err := b.rows.each(s.dims, func(part []float32) error {
		for ; len(part) > 0; part = part[s.dims:] {
			v := part[:s.dims]
			if !s.set.All()[i].Disabled {
				if enabled%step == 0 {
					used++
					for j, x := range v {
						vector.Axpy(c.squares[j*s.dims:(j+1)*s.dims], v, x)
					}
				}
				enabled++
			}
			c.scales[i] = c.signs(v, c.bits[i*words:(i+1)*words])
			i++
		}
		return nil
	})
	scale(c.squares, used)
	s.coarse = c
	return err
}

// signs sets the bits of a vector, and returns its scale.
func (c *coarse) signs(v []float32, into []uint64) float32 {
	var absolute, squared float32
	for j, x := range v {
		d := x - c.mean[j]
		if d >= 0 {
			into[j/64] |= 1 << (j % 64)
		}
		absolute += max(d, -d)
		squared += d * d
	}
	if absolute > 0 {
		return squared / absolute
	}
	return 0
}

// scale divides each component by n, if that is not 0.
func scale(v []float32, n int) {
	for i := range v {
		v[i] /= float32(max(n, 1))
	}
}

// HasCoarse reports whether RoughCosines and CosineStatistics can be used.
func (s *Snapshot) HasCoarse() bool {
	if s.layers != nil {
		return s.layers.base().HasCoarse()
	}
	return len(s.coarse.bits) > 0
}

// queryLevels is the highest number to which a component of a request is rounded.
const queryLevels = 15

// comparedAtOnce is how many documents are compared before their cosines are estimated.
const comparedAtOnce = 512

// RoughCosines writes an estimate of what Cosines writes. It reads a 32nd of the memory that Cosines does. q must have
// unit length and Dims entries.
func (s *Snapshot) RoughCosines(q, scores []float32) {
	if s.layers != nil {
		s.layers.roughCosines(q, scores)
		return
	}
	s.coarse.compare(q, scores, nil)
}

// compare writes an estimate of the cosine of q and each document's vector into scores: that of document i at at[i],
// unless that is negative; at i if at is nil.
func (c *coarse) compare(q, scores []float32, at []int32) {
	words := len(q) / 64
	least, most := q[0], q[0]
	for _, x := range q {
		least, most = min(least, x), max(most, x)
	}
	step := max((most-least)/queryLevels, 1e-12)
	rounded := make([]uint8, len(q))
	var sum float32
	for j, x := range q {
		rounded[j] = uint8(math.Round(float64((x - least) / step)))
		sum += least + step*float32(rounded[j])
	}
	levels, base := vector.NewLevels(rounded), vector.Dot(q, c.mean)
	var products [comparedAtOnce]uint64
	for first := 0; first < len(c.scales); first += comparedAtOnce {
		part := products[:min(comparedAtOnce, len(c.scales)-first)]
		levels.Multiply(c.bits[first*words:(first+len(part))*words], part)
		for k, x := range part {
			to := int32(first + k)
			if at != nil {
				if to = at[to]; to < 0 {
					continue
				}
			}
			signs := 2*(least*float32(int32(x))+step*float32(int32(x>>32))) - sum
			scores[to] = base + signs*c.scales[first+k]
		}
	}
}

// CosineStatistics returns the mean of the cosines of q and the vectors of all enabled documents, and their standard
// deviation, which is that of a large sample.
func (s *Snapshot) CosineStatistics(q []float32) (mean, deviation float64) {
	of := s
	if s.layers != nil {
		of = s.layers.base()
	}
	mean = float64(vector.Dot(q, s.coarse.mean))
	squares := 0.0
	for j, x := range q {
		squares += float64(x) * float64(vector.Dot(q, of.coarse.squares[j*s.dims:(j+1)*s.dims]))
	}
	return mean, math.Sqrt(max(0, squares-mean*mean))
}

// Cosine returns the cosine of q and the vector of document i, as Cosines writes it.
func (s *Snapshot) Cosine(q []float32, i int) float32 {
	if s.dims == 0 || len(q) != s.dims {
		return 0
	}
	return vector.Dot(q, s.vectorOf(i))
}
