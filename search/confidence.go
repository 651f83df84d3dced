package search

import (
	"math"

	"tooldex/knowledge"
)

// confidence is the estimate that some tool serves the request. The zero value means that none does.
type confidence struct {
	probability float64 // that some tool serves
	first       float64 // that the best tool serves
	asks        float64 // that the request asks for a tool
	best        float32 // highest fused score of a ranked tool, names left aside
	evidence    Evidence
	archetypes  []knowledge.Near // what the request asks for, of all that is known
}

// nearest is how many archetypes near a request are looked up, nearestHere how many of them the catalogue is compared
// with.
const (
	nearest     = 10
	nearestHere = 3
)

// estimateConfidence estimates how likely some tool of order serves the request, in two steps: whether the request asks
// for a tool at all, and whether a tool does it. The archetypes represent all known kinds of tools: where those nearest
// to the request resemble nothing in the catalogue, the request is for something that is not here; and their cosine is
// the yardstick for that of the best tool. order is the ranking, best first.
func (e *Engine) estimateConfidence(a request, full string, r *scored, order []int32, s *scratch) confidence {
	j := confidence{asks: 1} // unless evidence says otherwise
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
	var comparable bool
	j.evidence, comparable = e.gatherEvidence(a, full, r, order, &j, s)
	// Three regressions: whether the text asks for a tool, whether some tool fits, and whether the first one does. The
	// weights are in weights.go; make confidence fits them.
	asks, fits, first := weighAll()
	if !comparable {
		asks, fits, first = weighWithoutCosines()
	}
	asked := j.evidence
	asked[evCosine] = max(asked[evCosine], nearTieCosine(order, s))
	if j.asks = asks.probability(&asked); e.o.Base == nil {
		j.asks = 1 // without knowledge of what people ask for, every text is taken for a request
	}
	j.probability, j.first = j.asks*fits.probability(&j.evidence), j.asks*first.probability(&j.evidence)
	if j.evidence[evLearned] > 0 {
		// The two were fitted apart. Where use says that the best tool serves, so does some tool.
		j.probability = max(j.probability, j.first)
	}
	// a request that spells a tool's name is certain
	if r.exact {
		j.asks, j.probability, j.first = 1, 1, 1
	}
	return j
}

// nearTie is the share of the highest fused score from which a tool ranks as high as the first, and tied how many tools
// are looked at.
const (
	nearTie = .95
	tied    = 5
)

// nearTieCosine returns the highest cosine of the request and a tool that ranks about as high as the first. Which of
// them is first is chance, and whether a text asks for a tool at all must not depend on it.
func nearTieCosine(order []int32, s *scratch) float64 {
	first := order[0]
	most := s.cosines[first]
	for _, i := range order[1:min(len(order), tied)] {
		if s.fused[i] >= nearTie*s.fused[first] {
			most = max(most, s.cosines[i])
		}
	}
	return float64(most)
}

// logistic is a logistic regression over the evidence.
type logistic struct {
	bias    float64
	weights Evidence
}

// probability returns the probability that the regression gives.
func (l *logistic) probability(f *Evidence) float64 {
	odds := l.bias
	for k, w := range l.weights {
		odds += w * f[k]
	}
	return 1 / (1 + math.Exp(-odds))
}

// learnedWeight is not fitted. A lift of 1, as much as all of a request's words can give, multiplies the odds by about
// seven.
const learnedWeight = 2

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

// sharpest is the exponent by which a tool's probability falls with its distance from the best score.
const sharpest = 2

// toolProbability converts a fused score to the probability that this tool serves, rounded to four digits: 1 for a
// named tool, otherwise that of the best tool, reduced by how far the score is below its score.
func (j confidence) toolProbability(fused float32) float64 {
	switch {
	case fused >= exactBonus:
		return 1
	case j.best <= 0:
		return 0
	}
	return math.Round(1e4*j.first*math.Pow(float64(fused/j.best), sharpest)) / 1e4
}

// asksForNothing reports whether the request probably needs no tool: small talk, a question of general knowledge, or
// noise.
func (j confidence) asksForNothing() bool {
	return j.probability < leastProbability && j.asks < mostIdle
}

// mostIdle is the probability of asking for a tool below which a text is said to need none.
const mostIdle = .3
