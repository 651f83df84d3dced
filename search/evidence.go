package search

import (
	"math"

	"tooldex/index"
	"tooldex/knowledge"
)

// The entries of Evidence.
const (
	evCosine     = iota // cosine of the request and the best tool
	evMean              // cosine of the request and all tools: how much it is about what the catalogue is about
	evPresence          // how like the catalogue is to the archetypes nearest to the request
	evKnown             // highest cosine of the request and an archetype
	evGap               // by how much an archetype is nearer to the request than any that the best tool resembles
	evKind              // share of the nearest archetypes that are of a kind of server that the best tool resembles
	evCovered           // share of the request's words, by their rarity, that the best tool has
	evOwn               // the same without lent words
	evOpposite          // 1 if the best tool does another thing than the request begins with, else 0
	evAgree             // fused score of the best tool, as a share of the highest possible
	evFifth             // fused score of the fifth tool, as a share of the best
	evSize              // logarithm of the number of tools: among many, some tool is like anything
	evUnderstood        // share of the request's words that are known at all
	evWords             // logarithm of the number of words, up to maxWords of them
	evTalk              // how much the request reads like talk
	evTranslated        // 1 if words of the request were translated, else 0
	evLearned           // by how much use has lifted the best tool's score
	numEvidence
)

// Evidence holds what the estimate is made of that a tool serves a request.
type Evidence [numEvidence]float64

// EvidenceNames returns the names of the entries of Evidence, in their order.
func EvidenceNames() [numEvidence]string {
	return [...]string{
		evCosine: "cosine", evMean: "mean", evPresence: "presence", evKnown: "known", evGap: "gap", evKind: "kind",
		evCovered: "covered", evOwn: "own", evOpposite: "opposite", evAgree: "agree", evFifth: "fifth", evSize: "size",
		evUnderstood: "understood", evWords: "words", evTalk: "talk", evTranslated: "translated", evLearned: "learned",
	}
}

const (
	// fewTools is the number of tools below which a catalogue's size, and the mean over it, count less and less.
	fewTools = 32
	// maxWords is the number of words from which further ones are no evidence.
	maxWords = 7
	// leastTalk and mostTalk bound the score of the model of talk: beyond them it is no more certain.
	leastTalk, mostTalk = -8, 4
	// topMarks is how many of the archetypes that the best tool resembles count as its own.
	topMarks = 8
	// nearSharpness is how fast an archetype counts less with its distance from the nearest.
	nearSharpness = 10
)

// gatherEvidence collects the evidence that the first tool of order serves the request. comparable reports whether the
// model of the catalogue's vectors is that of the archetypes.
func (e *Engine) gatherEvidence(a request, full string, r *scored, order []int32, j *confidence, s *scratch) (f Evidence,
	comparable bool,
) {
	best := order[0]
	comparable = r.vector != nil && e.queryEmbedder(a.snap).Model().Fingerprint == e.o.Map.Fingerprint
	// The request is compared with the archetypes in the model that those were compiled with. If the catalogue has the
	// same model, the vector is there already.
	v := r.vector
	if !comparable || e.o.Map.Query == nil {
		v = e.archetypeVector(full, s)
	}
	f[evCosine] = float64(s.cosines[best])
	f[evSize] = math.Log(max(r.among, fewTools))
	// shrunk towards 0 for small catalogues, whose mean says little
	if r.among > 0 {
		f[evMean] = r.mean * r.among / (r.among + fewTools)
	}
	if len(s.lifts) > 0 {
		f[evLearned] = max(0, float64(s.lifts[best]))
	}
	f[evOpposite] = oneIf(r.asked.Contradicts(knowledge.Effect(a.snap.Class(int(best)))))
	f[evAgree] = float64(j.best) / (1 + semanticWeight)
	if len(order) > 4 && j.best > 0 {
		// The bonus for a spelled name is no measure of how well the text fits.
		fifth := s.fused[order[4]]
		if fifth >= exactBonus {
			fifth -= exactBonus
		}
		f[evFifth] = float64(fifth / j.best)
	}
	f[evWords] = math.Log(1 + float64(min(len(r.terms), maxWords)))
	f[evTranslated] = oneIf(len(full) > len(a.text))
	f[evTalk] = talkScore(a.text)
	if e.o.Base != nil {
		f[evUnderstood] = e.o.Base.Understood(a.text, func(stem string) bool { return a.snap.HasTerm(stem, s.allowed) })
	}
	f.addCoverage(a.snap, r.terms, best, s)
	if e.o.Base != nil && v != nil {
		j.archetypes = e.o.Base.Nearest(r.terms, v, nearest, &s.near)
		e.addArchetypes(&f, a.snap, v, best, j.archetypes, s)
	}
	return f, comparable
}

// oneIf returns 1 for true and 0 for false.
func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// addCoverage adds how much of a request's words document doc has, each weighed by its rarity. A word that no tool has
// counts as rarer than all.
func (f *Evidence) addCoverage(snap *index.Snapshot, terms []string, doc int32, s *scratch) {
	var has, own, all float64
	for _, t := range terms {
		idf, ok := s.termRarity(snap, t)
		w := float64(idf)
		if !ok {
			w = math.Log(1 + 2*float64(snap.Len()))
		} else if impact, without := snap.TermImpacts(t, int(doc)); impact > 0 {
			has += w
			if without > 0 {
				own += w
			}
		}
		all += w
	}
	if all > 0 {
		f[evCovered], f[evOwn] = has/all, own/all
	}
}

// addArchetypes adds what the archetypes near to a request show: whether the catalogue, and its best tool, resemble
// them. v is the vector of the request.
func (e *Engine) addArchetypes(f *Evidence, snap *index.Snapshot, v []float32, best int32, near []knowledge.Near,
	s *scratch,
) {
	if len(near) == 0 {
		return
	}
	marks := snap.Landmarks(int(best))
	marks = marks[:min(len(marks), topMarks)]
	first := float64(near[0].Nearness)
	var weights, here, all, kin float64
	for k, n := range near {
		f[evKnown] = max(f[evKnown], float64(n.Cosine))
		if k < nearestHere {
			// the nearest archetype counts most, the third about a third of it
			w := math.Exp(-float64(k) / 2)
			weights += w
			here += w * float64(snap.Resemblance(int32(n.Archetype), s.allowed))
		}
		w := math.Exp(nearSharpness * (float64(n.Nearness) - first))
		all += w
		for _, m := range marks {
			if e.o.Base.SameKind(int(m.Point), n.Archetype) {
				kin += w
				break
			}
		}
	}
	f[evPresence], f[evKind] = here/weights, kin/all
	own := 0.
	for _, m := range marks {
		own = max(own, float64(e.o.Base.Nearness(int(m.Point), v, &s.near)))
	}
	f[evGap] = first - own
}
