package textclass

import (
	"encoding/binary"
	"errors"
	"math"
)

// Model weighs the words of sentences. It is made by [Open], read-only, and safe for concurrent use.
type Model struct {
	weights []byte // an int8 for each bucket, in units of scale
	further []byte // the same for the buckets of the further groups; nil for a model without classes
	scale   float32
	bias    float32
}

// ErrModel is returned for bytes that are no model.
var ErrModel = errors.New("likeness: not a model")

// magic is the beginning of a model. It identifies the layout and the set of features, and changes with either. Scale
// and bias follow as float32, then the weights, and those of the further groups if there are any.
const magic = "likeness1\n"

// Open decodes what [Train] returned. The Model keeps b, which must not be changed. The error is [ErrModel].
func Open(b []byte) (*Model, error) {
	plain := len(magic) + 8 + buckets
	if len(b) != plain && len(b) != plain+wide || string(b[:len(magic)]) != magic {
		return nil, ErrModel
	}
	number := func(at int) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(b[len(magic)+at:]))
	}
	m := &Model{weights: b[len(magic)+8 : plain], scale: number(0), bias: number(4)}
	if len(b) > plain {
		m.further = b[plain:]
	}
	return m, nil
}

// Score returns the logarithm of the odds that a sentence is of the first kind. It is above 0 for sentences that
// resemble that kind more. The odds depend on how frequent both kinds were in the training data, so a threshold must be
// measured.
func (m *Model) Score(sentence string) float32 {
	var sum, n int32
	var row [6]uint32
	r := reader{text: sentence}
	for k := r.nextFeatures(&row); k > 0; k = r.nextFeatures(&row) {
		for _, at := range row[:k] {
			sum += int32(int8(m.weights[at]))
		}
		n += int32(k)
	}
	return float32(float64(m.scale)*float64(sum)/rootOf(n)) + m.bias
}

// ScoreClasses is Score for a sentence whose words have classes of meaning. Classes holds, by word, the hashes of its
// classes; the words need not be those that Score sees. A model that was trained without classes ignores them.
func (m *Model) ScoreClasses(sentence string, classes [][]uint64) float32 {
	score := m.Score(sentence)
	if m.further == nil {
		return score
	}
	var sum, n int32
	add := func(at uint32) {
		sum += int32(int8(m.further[at]))
		n++
	}
	eachTogether(sentence, add)
	score += float32(float64(m.scale) * float64(sum) / rootOf(n))
	sum, n = 0, 0
	eachClass(classes, add)
	return score + float32(float64(m.scale)*float64(sum)/rootOf(n))
}

// rootOf is the divisor that makes sentences of n features comparable, whatever n is.
func rootOf(n int32) float64 { return math.Sqrt(float64(n) + 1) }
