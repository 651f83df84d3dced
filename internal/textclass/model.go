package textclass

import (
	"encoding/binary"
	"errors"
	"math"
)

// Model weighs the words of sentences. It is made by [Open], not changed afterwards, and safe for concurrent use.
type Model struct {
	weights []byte // int8, one a bucket
	scale   float32
	bias    float32
}

// ErrModel is returned for bytes that are no model.
var ErrModel = errors.New("likeness: not a model")

// A model begins with this, which names its layout and the features that it was trained on. Scale and bias follow, and
// the weights.
const magic = "likeness1\n"

// Open reads what [Train] made. The Model keeps b.
func Open(b []byte) (*Model, error) {
	if len(b) != len(magic)+8+buckets || string(b[:len(magic)]) != magic {
		return nil, ErrModel
	}
	number := func(at int) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(b[len(magic)+at:]))
	}
	return &Model{weights: b[len(magic)+8:], scale: number(0), bias: number(4)}, nil
}

// Score is the logarithm of the odds that a sentence is of the first kind: above 0 for one that is rather like those.
// The weights are of the training data, in which both kinds are as frequent as they happen to be: a threshold has to be
// measured.
func (m *Model) Score(sentence string) float32 {
	var sum, n int32
	var row [6]uint32
	r := reader{text: sentence}
	for k := r.next(&row); k > 0; k = r.next(&row) {
		for _, at := range row[:k] {
			sum += int32(int8(m.weights[at]))
		}
		n += int32(k)
	}
	return float32(float64(m.scale)*float64(sum)/root(n)) + m.bias
}

// root makes sentences of all lengths comparable, for so many features.
func root(n int32) float64 { return math.Sqrt(float64(n) + 1) }
