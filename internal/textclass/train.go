package textclass

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
)

// Example is a sentence with the kind that it is of.
type Example struct {
	Text   string
	First  bool
	Weight float64 // how much it counts; 0 means 1
	// Classes holds the hashes of the classes of meaning of each word, as for Model.ScoreClasses. A model has further
	// groups of features if any of its examples has classes.
	Classes [][]uint64
}

// The training: logistic regression by AdaGrad (Duchi, Hazan, Singer, 2011). Its first steps are damped, so that words
// seen once get small weights. The weights of the later half of all rounds are averaged.
const (
	epochs  = 8
	rate    = 2
	decay   = 1e-6
	damping = 1
	// leastSlope is the error below which an example teaches nothing more.
	leastSlope = 1e-5
)

// Train returns the bytes of a model for Open. The same examples in the same order, with the same seed, give the same
// bytes on the same kind of processor.
func Train(examples []Example, seed uint64) []byte {
	size := buckets
	if slices.ContainsFunc(examples, func(e Example) bool { return e.Classes != nil }) {
		size += wide
	}
	t := trainer{weights: make([]float64, size), squares: make([]float64, size)}
	rows := make([]groups, len(examples))
	for i, e := range examples {
		rows[i] = groups{featureBuckets(e.Text)}
		if size > buckets {
			rows[i].addFurther(e)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	mean, bias := make([]float64, size), 0.0
	for round := range epochs {
		for _, i := range random.Perm(len(examples)) {
			weight := examples[i].Weight
			if weight == 0 {
				weight = 1
			}
			t.learnExample(rows[i], examples[i].First, weight)
		}
		if round < epochs/2 {
			continue
		}
		for k, w := range t.weights {
			mean[k] += w / (epochs / 2)
		}
		bias += t.bias / (epochs / 2)
	}
	return encodeWeights(mean, bias)
}

// featureBuckets lists the buckets of all features of a sentence.
func featureBuckets(sentence string) (out []uint32) {
	var row [6]uint32
	r := reader{text: sentence}
	for k := r.nextFeatures(&row); k > 0; k = r.nextFeatures(&row) {
		out = append(out, row[:k]...)
	}
	return out
}

// groups are the buckets of the features of a sentence, by the group that they belong to. Each group counts as much as
// the others, whatever its length. The buckets of the further groups come after those of the first.
type groups [3][]uint32

// addFurther sets the further groups.
func (g *groups) addFurther(e Example) {
	eachTogether(e.Text, func(at uint32) { g[1] = append(g[1], buckets+at) })
	eachClass(e.Classes, func(at uint32) { g[2] = append(g[2], buckets+at) })
}

// trainer holds the weights in training, and the sums of squared gradients by which AdaGrad shortens its steps.
type trainer struct {
	weights, squares []float64
	bias, biasSquare float64
}

// learnExample makes one step of gradient descent, for one example.
func (t *trainer) learnExample(row groups, first bool, weight float64) {
	score := t.bias
	for _, group := range row {
		sum := 0.0
		for _, k := range group {
			sum += t.weights[k]
		}
		score += sum / rootOf(int32(len(group)))
	}
	slope := 1 / (1 + math.Exp(-score))
	if first {
		slope--
	}
	slope *= weight
	if math.Abs(slope) < leastSlope {
		return
	}
	for _, group := range row {
		norm := 1 / rootOf(int32(len(group)))
		for _, k := range group {
			g := slope*norm + decay*t.weights[k]
			t.squares[k] += g * g
			t.weights[k] -= rate * g / math.Sqrt(t.squares[k]+damping)
		}
	}
	t.biasSquare += slope * slope
	t.bias -= rate * slope / math.Sqrt(t.biasSquare+damping)
}

// encodeWeights rounds each weight to one byte, in units of a 127th of the largest.
func encodeWeights(weights []float64, bias float64) []byte {
	most := 1e-6
	for _, w := range weights {
		most = max(most, math.Abs(w))
	}
	scale := most / math.MaxInt8
	b := binary.LittleEndian.AppendUint32([]byte(magic), math.Float32bits(float32(scale)))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(bias)))
	for _, w := range weights {
		b = append(b, byte(int8(math.Round(w/scale))))
	}
	return b
}
