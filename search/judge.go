package search

import (
	"math"

	"tooldex/index"
	"tooldex/knowledge"
)

// leastProbability is the probability below which no tool is said to fit.
const leastProbability = .5

// judged says how likely it is that some tool serves the request.
type judged struct {
	fits float64
	best float32          // fused score of the best tool
	near []knowledge.Near // what the request asks for, of all that is known
}

// nearest is how many archetypes speak for what a request asks for.
const nearest = 5

// judge weighs what tells a request that a tool here serves from one that none does. The archetypes are the map of what
// exists: where those nearest to the request resemble no tool of the catalogue, what is asked for is known and not here.
func (e *Engine) judge(snap *index.Snapshot, text string, r *scored, order []int32, s *scratch) judged {
	j := judged{}
	if len(order) == 0 {
		return j
	}
	best := order[0]
	j.best = s.fused[best]
	f := evidence{cosine: float64(s.cosines[best]), most: float64(r.mostCosine)}
	for _, t := range r.terms {
		idf, ok := snap.IDF(t)
		rarity := float64(idf)
		if !ok {
			rarity = math.Log(1 + 2*float64(snap.Len()))
		}
		f.ideal += rarity
		if snap.Impact(t, int(best)) > 0 {
			f.covered += rarity
		}
	}
	if f.ideal > 0 {
		f.words = float64(s.words[best]) / (saturated * f.ideal)
		f.covered /= f.ideal
	}
	f.here, j.near = e.here(snap, text, r, s)
	switch {
	case r.exact:
		j.fits = 1
	case r.vector == nil || e.o.Embedder.Model().Fingerprint != e.o.Map.Fingerprint:
		j.fits = f.withoutCosine()
	default:
		j.fits = f.probability()
	}
	return j
}

// saturated is the most that one word can add, in units of its idf: k1 + 1.
const saturated = 2.2

// evidence is what the decision rests on; each from about 0 to 1.
type evidence struct {
	cosine, most   float64 // of the best tool, and the highest of any
	words, covered float64 // word score as a share of the possible; share of the request's words that the best tool has
	here           float64 // how like the catalogue is to what the request asks for
	ideal          float64
}

// here returns how like the likest tools are to the archetypes nearest to the request.
func (e *Engine) here(snap *index.Snapshot, text string, r *scored, s *scratch) (float64, []knowledge.Near) {
	if e.o.Base == nil || e.o.Map.Query == nil {
		return 0, nil
	}
	if len(s.vector) != e.o.Map.Dims {
		s.vector = make([]float32, e.o.Map.Dims)
	}
	e.o.Map.Query(text, s.vector)
	near := e.o.Base.Nearest(r.terms, s.vector, nearest, &s.near)
	var sum, weights float64
	for k, n := range near {
		w := math.Exp(-float64(k) / 2)
		sum += w * float64(snap.Resembles(int32(n.Archetype), s.allowed))
		weights += w
	}
	if weights == 0 {
		return 0, near
	}
	return sum / weights, near
}

// The weights of the decision, fitted by logistic regression to requests put to the catalogues they were written for and
// to others, each catalogue counting alike.
func (f *evidence) probability() float64 {
	return sigmoid(-10 + 6*f.cosine + 4*f.most + 2*f.words + 1*f.covered + 5*f.here)
}

func (f *evidence) withoutCosine() float64 {
	return sigmoid(-6 + 4*f.words + 2*f.covered + 6*f.here)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// sharpest is how fast the score falls behind the best tool's.
const sharpest = 2

// score turns a fused score into the probability that this tool serves: that some tool does, shared by how near the
// tool comes to the best.
func (j judged) score(fused float32) float64 {
	if j.best <= 0 {
		return 0
	}
	return math.Round(1e4*j.fits*math.Pow(float64(fused/j.best), sharpest)) / 1e4
}
