package search

import (
	"math"

	"tooldex/index"
	"tooldex/knowledge"
)

// leastProbability is the probability below which no tool is said to fit: 95 % of the requests that the decision was
// fitted to, and that a tool serves, lie above it.
const leastProbability = .35

// confidence is the estimate that some tool serves the request. The zero value means that none does.
type confidence struct {
	probability float64
	best        float32          // highest fused score of a ranked tool, names left aside
	archetypes  []knowledge.Near // what the request asks for, of all that is known
}

// nearest is how many archetypes near a request are looked up, nearestHere how many of them the catalogue is compared
// with.
const (
	nearest     = 10
	nearestHere = 3
)

// estimateConfidence estimates how likely some tool of order serves the request. The archetypes represent all known
// kinds of tools: where those nearest to the request resemble nothing in the catalogue, the request is for something
// that is not here; and their cosine is the yardstick for that of the best tool. order is the ranking, best first.
func (e *Engine) estimateConfidence(snap *index.Snapshot, text string, r *scored, order []int32, s *scratch) confidence {
	j := confidence{}
	if len(order) == 0 {
		return j
	}
	for _, i := range order {
		f := s.fused[i]
		if f >= exactBonus {
			f -= exactBonus // the bonus is no measure for the other tools
		}
		j.best = max(j.best, f)
	}
	comparable := r.vector != nil && e.queryEmbedder(snap).Model().Fingerprint == e.o.Map.Fingerprint
	v := r.vector
	if !comparable || e.o.Map.Query == nil {
		v = e.archetypeVector(text, s)
	}
	f := evidence{
		cosine: float64(s.cosines[order[0]]), covered: coveredShare(snap, r.terms, order[0], s),
		size: math.Log(max(r.among, fewTools)),
	}
	if r.among > 0 {
		f.mean = r.mean * r.among / (r.among + fewTools)
	}
	if len(s.lifts) > 0 {
		f.learned = max(0, float64(s.lifts[order[0]]))
	}
	f.presence, f.known, j.archetypes = e.archetypePresence(snap, v, r, s)
	switch {
	case r.exact:
		j.probability = 1
	case comparable:
		j.probability = f.withCosine()
	default:
		j.probability = f.withoutCosine()
	}
	return j
}

// evidence holds the inputs of the decision.
type evidence struct {
	cosine   float64 // of the request and the best tool
	mean     float64 // of the request and all tools: how much it is about what the catalogue is about
	presence float64 // how like the catalogue is to what the request asks for
	known    float64 // the cosine of the request and the archetype nearest to it
	covered  float64 // share of the request's words, by their rarity, that the best tool has
	learned  float64 // by how much use has lifted the best tool's score
	size     float64 // logarithm of the number of tools: among many, some tool is like anything
}

// fewTools is the number of tools below which a catalogue's size, and the mean over it, count less and less.
const fewTools = 32

// coveredShare returns the share of words that document doc has, each weighed by its rarity. A word that no tool has
// counts as rarer than all.
func coveredShare(snap *index.Snapshot, terms []string, doc int32, s *scratch) float64 {
	var has, all float64
	for _, t := range terms {
		idf, ok := s.termRarity(snap, t)
		w := float64(idf)
		if !ok {
			w = math.Log(1 + 2*float64(snap.Len()))
		} else if snap.TermImpact(t, int(doc)) > 0 {
			has += w
		}
		all += w
	}
	if all == 0 {
		return 0
	}
	return has / all
}

// archetypeVector returns the vector of a request in the model that the archetypes are compiled with, or nil if there
// is none. The slice is a buffer of s.
func (e *Engine) archetypeVector(text string, s *scratch) []float32 {
	if e.o.Map.Query == nil {
		return nil
	}
	if len(s.vector) != e.o.Map.Dims {
		s.vector = make([]float32, e.o.Map.Dims)
	}
	e.o.Map.Query(text, s.vector)
	return s.vector
}

// archetypePresence returns how much the catalogue resembles the archetypes nearest to the request, and the greatest
// cosine of these with it. v is the request's vector in the archetypes' model; without it all results are zero.
func (e *Engine) archetypePresence(snap *index.Snapshot, v []float32, r *scored, s *scratch) (here, known float64,
	near []knowledge.Near,
) {
	if e.o.Base == nil || v == nil {
		return 0, 0, nil
	}
	near = e.o.Base.Nearest(r.terms, v, nearest, &s.near)
	var weights float64
	for k, n := range near {
		known = max(known, float64(n.Cosine))
		if k < nearestHere {
			w := math.Exp(-float64(k) / 2)
			here += w * float64(snap.Resemblance(int32(n.Archetype), s.allowed))
			weights += w
		}
	}
	if weights > 0 {
		here /= weights
	}
	return here, known, near
}

// withCosine returns the probability by a logistic regression, fitted to requests put to the catalogues they were
// written for and to others, each catalogue and both answers counting alike.
func (f *evidence) withCosine() float64 {
	return sigmoid(1.451 + 5.695*f.cosine + 11.786*f.mean + 3.205*f.presence - 5.988*f.known +
		1.124*f.covered - .466*f.size + learnedWeight*f.learned)
}

// learnedWeight is not fitted. A lift of 1, as much as all of a request's words can give, multiplies the odds by about
// seven.
const learnedWeight = 2

// withoutCosine is fitted for models whose cosines have another scale, and for none. It separates less well, and its
// constant is raised so that as many of the requests that are served lie above leastProbability.
func (f *evidence) withoutCosine() float64 {
	return sigmoid(4.17 + 7.19*f.presence - 5.034*f.known + 1.848*f.covered - .69*f.size + learnedWeight*f.learned)
}

// sigmoid maps the log-odds x to a probability.
func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// sharpest is the exponent by which a tool's probability falls with its distance from the best score.
const sharpest = 2

// toolProbability converts a fused score to the probability that this tool serves, rounded to four digits: 1 for a
// named tool, otherwise that of the request, reduced by how far the score is below the best.
func (j confidence) toolProbability(fused float32) float64 {
	switch {
	case fused >= exactBonus:
		return 1
	case j.best <= 0:
		return 0
	}
	return math.Round(1e4*j.probability*math.Pow(float64(fused/j.best), sharpest)) / 1e4
}
