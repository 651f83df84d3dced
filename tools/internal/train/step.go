package train

import (
	"math"

	"tooldex/internal/vector"
)

// settings of the loss and of Adam, as they proved themselves; see the model card for what was tried.
const (
	temperature = .07
	symmetric   = .3  // weight of the term that picks the query for a tool
	pull        = .2  // weight of the term that keeps rows where the teacher has them
	pullWeights = .05 // the same for the token weights, relative to it
	keepProj    = .02 // weight of the term that keeps the projection near the identity
	beta1       = .9
	beta2       = .999
	tiny        = 1e-8
)

// step holds the space that one training step works in, and keeps it for the next.
type step struct {
	m      *model
	now    int     // steps taken
	unbias float64 // what Adam's rates are multiplied by at this step

	occ     []occurrence // of all segments
	segs    []int32      // where the occurrences of each segment begin; one more at the end
	bag64   []float32    // per segment: weighted sum of the teacher's rows
	sum     []float32    // per segment: the row sum, later its gradient
	unit    []float32    // per segment: sum in unit length
	size    []float32    // per segment: length of the sum
	back64  []float32    // per segment: gradient by way of the projection
	q, d    []float32    // queries and documents in unit length
	dq, dd  []float32
	dsize   []float32
	scores  []float32 // queries × documents, later the gradient
	dmix    []float32 // documents × 3
	gproj   []float32
	where   []int32 // per token: its place in seen, or -1
	seen    []int32
	starts  []int32
	byToken []int32 // occurrences sorted by token
	loss    []float64
}

// occurrence is a token in a segment, with its weight.
type occurrence struct {
	token int32
	seg   int32
	w     float32
	free  bool
}

func newStep(m *model) *step {
	s := &step{m: m, where: make([]int32, m.rows), gproj: make([]float32, teacherDims*dims)}
	for i := range s.where {
		s.where[i] = -1
	}
	return s
}

func grow(b *[]float32, n int) []float32 {
	if cap(*b) < n {
		*b = make([]float32, n+n/4)
	}
	*b = (*b)[:n]
	return *b
}

func row(b []float32, i, n int) []float32 { return b[i*n : (i+1)*n : (i+1)*n] }

// run takes one step on a batch at a learning rate relative to the top one and returns the loss.
func (s *step) run(b *batch, rate float64) float64 {
	s.now++
	nq, nd := len(b.queries), len(b.docs)
	s.collect(b)
	each(len(s.segs)-1, s.forward)
	d, dsize := grow(&s.d, nd*dims), grow(&s.dsize, nd)
	s.q = s.unit[:nq*dims]
	var mix [3]float32
	for k := range mix {
		mix[k] = float32(math.Exp(float64(s.m.mix.v[k])))
	}
	each(nd, func(j int) {
		v := row(d, j, dims)
		clear(v)
		for k := range 3 {
			vector.Axpy(v, row(s.unit, nq+3*j+k, dims), mix[k])
		}
		dsize[j] = norm(v) + 1e-6
		scale(v, 1/dsize[j])
	})
	loss := s.contrast(b, nq, nd)

	dq, dd := grow(&s.dq, nq*dims), grow(&s.dd, nd*dims)
	each(nq, func(i int) {
		g := row(dq, i, dims)
		clear(g)
		for j := range nd {
			if f := s.scores[i*nd+j]; f != 0 {
				vector.Axpy(g, row(d, j, dims), f)
			}
		}
		s.intoSum(i, g)
	})
	dmix := grow(&s.dmix, nd*3)
	each(nd, func(j int) {
		g := row(dd, j, dims)
		clear(g)
		for i := range nq {
			if f := s.scores[i*nd+j]; f != 0 {
				vector.Axpy(g, row(s.q, i, dims), f)
			}
		}
		v := row(d, j, dims)
		vector.Axpy(g, v, -vector.Dot(g, v))
		scale(g, 1/dsize[j])
		var part [dims]float32
		for k := range 3 {
			seg := nq + 3*j + k
			dmix[3*j+k] = mix[k] * vector.Dot(row(s.unit, seg, dims), g)
			copy(part[:], g)
			scale(part[:], mix[k])
			s.intoSum(seg, part[:])
		}
	})
	s.update(rate)
	return loss
}

// collect lists the occurrences of the batch: a segment for each query, and three for each document.
func (s *step) collect(b *batch) {
	s.occ, s.segs = s.occ[:0], append(s.segs[:0], 0)
	segment := func(ids []int32, query bool) {
		seg := int32(len(s.segs) - 1)
		for _, t := range ids {
			w, free := s.m.weight(t, query)
			s.occ = append(s.occ, occurrence{t, seg, w, free})
		}
		s.segs = append(s.segs, int32(len(s.occ)))
	}
	for _, q := range b.queries {
		segment(q, true)
	}
	for _, d := range b.docs {
		for _, f := range d {
			segment(f, false)
		}
	}
	n := len(s.segs) - 1
	grow(&s.bag64, n*teacherDims)
	grow(&s.back64, n*teacherDims)
	grow(&s.sum, n*dims)
	grow(&s.unit, n*dims)
	grow(&s.size, n)
}

// forward adds up the rows of segment i and brings the sum to unit length.
func (s *step) forward(i int) {
	low, sum := row(s.bag64, i, teacherDims), row(s.sum, i, dims)
	clear(low)
	clear(sum)
	for _, o := range s.occ[s.segs[i]:s.segs[i+1]] {
		vector.Axpy(low, row(s.m.base, int(o.token), teacherDims), o.w)
		vector.Axpy(sum, row(s.m.delta.v, int(o.token), dims), o.w)
	}
	for k, f := range low {
		if f != 0 {
			vector.Axpy(sum, row(s.m.proj.v, k, dims), f)
		}
	}
	s.size[i] = norm(sum) + 1e-6
	u := row(s.unit, i, dims)
	copy(u, sum)
	scale(u, 1/s.size[i])
}

// contrast computes the loss and leaves its gradient by the scores in s.scores.
func (s *step) contrast(b *batch, nq, nd int) float64 {
	sc := grow(&s.scores, nq*nd)
	each(nq, func(i int) {
		q, r := row(s.q, i, dims), row(sc, i, nd)
		for j := range r {
			r[j] = vector.Dot(q, row(s.d, j, dims)) / temperature
		}
		for _, j := range b.same[i] {
			r[j] = -1e4
		}
	})
	// Both soft maxima are taken of the scores before either gradient overwrites them.
	cols := make([]float64, nq) // logarithms of the sums over the queries
	each(nq, func(j int) {
		top := float32(-1e9)
		for i := range nq {
			top = max(top, sc[i*nd+j])
		}
		sum := 0.0
		for i := range nq {
			sum += math.Exp(float64(sc[i*nd+j] - top))
		}
		cols[j] = float64(top) + math.Log(sum)
	})
	if cap(s.loss) < nq {
		s.loss = make([]float64, nq)
	}
	loss := s.loss[:nq]
	each(nq, func(i int) {
		r := row(sc, i, nd)
		top := r[0]
		for _, v := range r {
			top = max(top, v)
		}
		sum := 0.0
		for _, v := range r {
			sum += math.Exp(float64(v - top))
		}
		all := float64(top) + math.Log(sum)
		loss[i] = all - float64(r[i]) + symmetric*(cols[i]-float64(r[i]))
		for j, v := range r {
			g := math.Exp(float64(v) - all)
			if j < nq {
				g += symmetric * math.Exp(float64(v)-cols[j])
			}
			if j == i {
				g -= 1 + symmetric
			}
			r[j] = float32(g / float64(nq) / temperature)
			if math.Abs(g) < 1e-6 {
				r[j] = 0 // most are; skipping them spares half of the way back
			}
		}
	})
	total := 0.0
	for _, l := range loss {
		total += l
	}
	return total / float64(nq)
}

// intoSum turns the gradient g by the unit vector of segment i into that by its sum, which it replaces, and that by its
// bag of the teacher's rows.
func (s *step) intoSum(i int, g []float32) {
	u := row(s.unit, i, dims)
	out := row(s.sum, i, dims)
	f := vector.Dot(g, u)
	for k := range out {
		out[k] = (g[k] - f*u[k]) / s.size[i]
	}
	back := row(s.back64, i, teacherDims)
	for k := range back {
		back[k] = vector.Dot(row(s.m.proj.v, k, dims), out)
	}
}
