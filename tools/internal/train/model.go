package train

import (
	"math"
	"math/rand/v2"

	"tooldex/embed"
	"tooldex/internal/vector"
)

const dims = embed.Dims

// param is numbers that are learned, with the moments that Adam keeps of their gradients.
type param struct {
	v, m, s []float32
}

func newParam(n int) param { return param{make([]float32, n), make([]float32, n), make([]float32, n)} }

// model is what is learned: the row of token t is base[t]·proj + delta[t], times exp of its weights.
type model struct {
	rows  int
	base  []float32 // rows × teacherDims, as the teacher has it; not learned
	home  []float32 // rows × dims, where delta started and is pulled to
	proj  param     // teacherDims × dims
	delta param     // rows × dims
	doc   param     // rows: log weight of a token
	query param     // rows: what is added to it in a query
	mix   param     // log weight of name, description, parameters
}

// spread is the length of the random part of a row relative to the teacher's part; it tells rows apart in the
// dimensions that the teacher does not fill.
const spread = .1

// newModel places each token where the teacher has its string, and those of the lexicon where it has their English
// words.
func newModel(tokens []string, buckets int, t *teacher, foreign map[int][]string, seed uint64) *model {
	n := len(tokens) + buckets
	m := &model{
		rows: n, base: make([]float32, n*teacherDims), home: make([]float32, n*dims),
		proj: newParam(teacherDims * dims), delta: newParam(n * dims), doc: newParam(n), query: newParam(n),
		mix: newParam(3),
	}
	for k := range teacherDims {
		m.proj.v[k*dims+k] = 1
	}
	for i, w := range []float64{.5, 1, .3} {
		m.mix.v[i] = float32(math.Log(w))
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		b := m.base[i*teacherDims : (i+1)*teacherDims]
		known := false
		for _, english := range foreign[i] {
			known = t.embed(english, b) || known
		}
		if !known && i < len(tokens) {
			known = t.embed(tokens[i], b)
		}
		size := norm(b)
		if len(foreign[i]) > 1 && size > 0 {
			scale(b, 1/float32(len(foreign[i])))
		}
		if !known {
			size = .5
			for k := range b {
				b[k] = float32(rng.NormFloat64() * .5 / 8)
			}
		}
		h := m.home[i*dims : (i+1)*dims]
		for k := teacherDims; k < dims; k++ {
			h[k] = float32(rng.NormFloat64()*spread/16) * size
		}
	}
	copy(m.delta.v, m.home)
	return m
}

func norm(v []float32) float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return float32(math.Sqrt(sum))
}

func scale(v []float32, f float32) {
	for i := range v {
		v[i] *= f
	}
}

// weightLeast and weightMost bound the logarithm of a token's weight.
const weightLeast, weightMost = -4, 3

// weight is the factor of token t in a document, or in a query, and whether it is free to move.
func (m *model) weight(t int32, query bool) (w float32, free bool) {
	x := m.doc.v[t]
	if query {
		x += m.query.v[t]
	}
	c := min(max(x, weightLeast), weightMost)
	return float32(math.Exp(float64(c))), c == x
}

// table folds everything into rows. Where a token was never seen in training its row is still the teacher's, projected.
func (m *model) table(tokens []string) embed.Table {
	t := embed.Table{
		Tokens: tokens, Buckets: m.rows - len(tokens), Rows: make([]float32, m.rows*dims),
		Query: make([]float32, m.rows),
	}
	each(m.rows, func(i int) {
		r := t.Rows[i*dims : (i+1)*dims]
		copy(r, m.delta.v[i*dims:])
		for k := range teacherDims {
			vector.Axpy(r, m.proj.v[k*dims:(k+1)*dims], m.base[i*teacherDims+k])
		}
		doc, _ := m.weight(int32(i), false)
		query, _ := m.weight(int32(i), true)
		scale(r, doc)
		t.Query[i] = query / doc
	})
	for i := range t.Mix {
		t.Mix[i] = float32(math.Exp(float64(m.mix.v[i])))
	}
	return t
}
