package train

import (
	"math"
	"math/rand/v2"
	"testing"
)

// tiny is a model and a batch small enough for gradients by difference.
func tinyCase() (*model, *batch) {
	rng := rand.New(rand.NewPCG(4, 4))
	const rows = 40
	m := &model{
		rows: rows, base: randoms(rng, rows*teacherDims), home: make([]float32, rows*dims),
		proj: newParam(teacherDims * dims), delta: newParam(rows * dims), doc: newParam(rows), query: newParam(rows),
		mix: newParam(3),
	}
	for i := range m.delta.v {
		m.delta.v[i] = float32(rng.NormFloat64()) * .3
	}
	for i := range m.proj.v {
		m.proj.v[i] = float32(rng.NormFloat64()) * .1
	}
	for i := range rows {
		m.doc.v[i], m.query.v[i] = float32(rng.NormFloat64())*.4, float32(rng.NormFloat64())*.4
	}
	copy(m.mix.v, []float32{-.5, 0, -1})
	text := func(n int) []int32 {
		var out []int32
		for range n {
			out = append(out, int32(rng.IntN(rows)))
		}
		return out
	}
	b := &batch{}
	for i := range 6 {
		b.add(text(3+i), doc{text(2), text(6), text(i % 3)}, int32(i%5), nil) // tool 0 occurs twice
	}
	b.docs = append(b.docs, doc{text(2), text(5), nil})
	b.ids = append(b.ids, 9)
	b.exclude()
	return m, b
}

// lossOf is the contrastive loss in float64, written as the formula reads.
func lossOf(m *model, b *batch) float64 {
	bag := func(ids []int32, query bool) []float64 {
		v := make([]float64, dims)
		for _, t := range ids {
			x := float64(m.doc.v[t])
			if query {
				x += float64(m.query.v[t])
			}
			w := math.Exp(min(max(x, weightLeast), weightMost))
			for k := range v {
				r := float64(m.delta.v[int(t)*dims+k])
				for l := range teacherDims {
					r += float64(m.base[int(t)*teacherDims+l]) * float64(m.proj.v[l*dims+k])
				}
				v[k] += w * r
			}
		}
		return unit64(v)
	}
	var q, d [][]float64
	for _, ids := range b.queries {
		q = append(q, bag(ids, true))
	}
	for _, text := range b.docs {
		v := make([]float64, dims)
		for i, ids := range text {
			for k, x := range bag(ids, false) {
				v[k] += math.Exp(float64(m.mix.v[i])) * x
			}
		}
		d = append(d, unit64(v))
	}
	s := make([][]float64, len(q))
	for i := range q {
		s[i] = make([]float64, len(d))
		for j := range d {
			for k := range dims {
				s[i][j] += q[i][k] * d[j][k] / temperature
			}
		}
		for _, j := range b.same[i] {
			s[i][j] = -1e4
		}
	}
	total := 0.0
	for i := range q {
		rowSum, colSum := 0.0, 0.0
		for j := range d {
			rowSum += math.Exp(s[i][j])
		}
		for j := range q {
			colSum += math.Exp(s[j][i])
		}
		total += math.Log(rowSum) - s[i][i] + symmetric*(math.Log(colSum)-s[i][i])
	}
	return total / float64(len(q))
}

func unit64(v []float64) []float64 {
	n := 1e-12
	for _, x := range v {
		n += x * x
	}
	for i := range v {
		v[i] /= math.Sqrt(n)
	}
	return v
}

// TestGradients compares what one step learns from with differences of the loss. Adam hides the gradient's size, so it
// is read from the first moments, which after one step are a tenth of it.
func TestGradients(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	m, b := tinyCase()
	at, _ := tinyCase()
	want := lossOf(at, b)
	copy(m.home, m.delta.v) // so that nothing pulls
	s := newStep(m)
	if got := s.run(b, 1); math.Abs(got-want) > 1e-3*want {
		t.Errorf("loss %v, want %v", got, want)
	}
	check := func(name string, learned, fixed *param, i int, extra float64) {
		t.Helper()
		const h = 1e-3
		was := fixed.v[i]
		fixed.v[i] = was + h
		up := lossOf(at, b)
		fixed.v[i] = was - h
		down := lossOf(at, b)
		fixed.v[i] = was
		want := (up-down)/(2*h) + extra
		got := float64(learned.m[i]) * 10
		if math.Abs(got-want) > .01*math.Abs(want)+2e-6 {
			t.Errorf("%s %d: gradient %.5f, by difference %.5f", name, i, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(5, 5))
	seen := float64(len(s.seen))
	for range 40 {
		check("row", &m.delta, &at.delta, rng.IntN(len(m.delta.v)), 0)
		i := rng.IntN(len(m.proj.v))
		eye := 0.0
		if i/dims == i%dims {
			eye = 1
		}
		extra := 0.0
		if i%dims < teacherDims {
			extra = 2 * keepProj / teacherDims * (float64(at.proj.v[i]) - eye)
		}
		check("projection", &m.proj, &at.proj, i, extra)
	}
	for i := range m.rows {
		if s.where[i] < 0 {
			continue
		}
		check("token weight", &m.doc, &at.doc, i, 2*pull*pullWeights/seen*float64(at.doc.v[i]))
		check("query weight", &m.query, &at.query, i, 2*pull*pullWeights/seen*float64(at.query.v[i]))
	}
	for i := range 3 {
		check("field weight", &m.mix, &at.mix, i, 0)
	}
}

func TestStepsLower(t *testing.T) {
	m, b := tinyCase()
	copy(m.home, m.delta.v)
	s := newStep(m)
	first := s.run(b, 1)
	var last float64
	for range 60 {
		last = s.run(b, 1)
	}
	if last > first/4 {
		t.Errorf("loss went from %.3f to %.3f on the same batch", first, last)
	}
}
