package train

import (
	"math"

	"tooldex/internal/vector"
)

// Learning rates at the top of the schedule.
const (
	rateRows    = .004
	rateProj    = .001
	rateWeights = .012
	rateMix     = .01
)

// adam moves n of p's numbers from at on against the gradient g.
func (s *step) adam(p *param, at int, g []float32, rate float64) {
	f := float32(rate * s.unbias)
	v, m, q := p.v[at:at+len(g)], p.m[at:at+len(g)], p.s[at:at+len(g)]
	for i, x := range g {
		m[i] = float32(beta1*m[i]) + float32((1-beta1)*x)
		q[i] = float32(beta2*q[i]) + float32(float32((1-beta2)*x)*x)
		v[i] -= float32(f*m[i]) / (float32(math.Sqrt(float64(q[i]))) + tiny)
	}
}

// update takes the gradients by the segments' sums back to what is learned.
func (s *step) update(rate float64) {
	s.unbias = math.Sqrt(1-math.Pow(beta2, float64(s.now))) / (1 - math.Pow(beta1, float64(s.now)))
	s.sortByToken()
	n := float32(len(s.seen))
	each(len(s.seen), func(i int) { s.updateToken(i, rate, n) })

	each(teacherDims, func(k int) {
		g := row(s.gproj, k, dims)
		clear(g)
		for seg := range len(s.segs) - 1 {
			if f := s.bag64[seg*teacherDims+k]; f != 0 {
				vector.Axpy(g, row(s.sum, seg, dims), f)
			}
		}
		p := row(s.m.proj.v, k, dims)
		for j := range teacherDims {
			want := float32(0)
			if j == k {
				want = 1
			}
			g[j] += 2 * keepProj / teacherDims * (p[j] - want)
		}
		s.adam(&s.m.proj, k*dims, g, rateProj*rate)
	})

	var mix [3]float32
	for i, g := range s.dmix {
		mix[i%3] += g
	}
	s.adam(&s.m.mix, 0, mix[:], rateMix)
}

// sortByToken lists the occurrences of each token of the batch together, in the order of the batch.
func (s *step) sortByToken() {
	for _, t := range s.seen {
		s.where[t] = -1
	}
	s.seen = s.seen[:0]
	count := s.starts[:0]
	for _, o := range s.occ {
		if s.where[o.token] < 0 {
			s.where[o.token] = int32(len(s.seen))
			s.seen = append(s.seen, o.token)
			count = append(count, 0)
		}
		count[s.where[o.token]]++
	}
	at := int32(0)
	for i, c := range count {
		count[i] = at
		at += c
	}
	if cap(s.byToken) < len(s.occ) {
		s.byToken = make([]int32, len(s.occ)+len(s.occ)/4)
	}
	s.byToken = s.byToken[:len(s.occ)]
	for i, o := range s.occ {
		w := s.where[o.token]
		s.byToken[count[w]] = int32(i)
		count[w]++
	}
	s.starts = count // now the ends
}

// updateToken moves the row and the weights of the i-th token seen.
func (s *step) updateToken(i int, rate float64, seen float32) {
	t := int(s.seen[i])
	from := int32(0)
	if i > 0 {
		from = s.starts[i-1]
	}
	var g [dims]float32
	var doc, query float32
	delta, base := row(s.m.delta.v, t, dims), row(s.m.base, t, teacherDims)
	queries := int32(len(s.q) / dims)
	for _, k := range s.byToken[from:s.starts[i]] {
		o := &s.occ[k]
		back := row(s.sum, int(o.seg), dims)
		vector.Axpy(g[:], back, o.w)
		if o.free {
			w := o.w * (vector.Dot(delta, back) + vector.Dot(base, row(s.back64, int(o.seg), teacherDims)))
			doc += w
			if o.seg < queries {
				query += w
			}
		}
	}
	home := row(s.m.home, t, dims)
	f := 2 * pull / seen
	for k := range g {
		g[k] += f * (delta[k] - home[k])
	}
	s.adam(&s.m.delta, t*dims, g[:], rateRows*rate)
	doc += f * pullWeights * s.m.doc.v[t]
	query += f * pullWeights * s.m.query.v[t]
	s.adam(&s.m.doc, t, []float32{doc}, rateWeights*rate)
	s.adam(&s.m.query, t, []float32{query}, rateWeights*rate)
}
