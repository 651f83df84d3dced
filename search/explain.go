package search

import (
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// explain tells how the score of document i came about. It must be called before the scratch is used again.
func (e *Engine) explain(snap *index.Snapshot, r *scored, i int, s *scratch) *tool.Explain {
	x := &tool.Explain{
		Keyword: float64(s.words[i]), Semantic: float64(s.cosines[i]), Fused: float64(s.fused[i]),
		Weight: semanticWeight,
		Exact:  s.fused[i] >= exactBonus, Contrary: r.asked.Contradicts(knowledge.Effect(snap.Class(i))),
		Terms: map[string]float64{},
	}
	for _, t := range r.terms {
		if v := snap.Impact(t, i); v > 0 {
			x.Terms[t] = float64(v * s.share(snap, t))
		}
	}
	for _, ex := range r.expansions {
		if v := snap.Impact(ex.Stem, i); v > 0 {
			x.Terms[ex.Stem] = float64(v) * float64(expansionWeight*ex.Weight*s.share(snap, ex.Stem))
		}
	}
	x.Borrowed = e.borrowed(snap, i)
	if len(s.lifts) > 0 {
		x.Learned = float64(s.lifts[i])
	}
	return x
}

// maxLoans bounds the archetypes that an explanation names.
const maxLoans = 5

// borrowed names the archetypes that lent most to document i.
func (e *Engine) borrowed(snap *index.Snapshot, i int) (out []tool.Loan) {
	if e.o.Base == nil {
		return nil
	}
	all := lenders(snap, i)
	for _, l := range all[:min(maxLoans, len(all))] {
		name, err := e.o.Base.Name(int(l.Point))
		if err != nil {
			continue // the base is of another version than what is stored; the score stands all the same
		}
		out = append(out, tool.Loan{Archetype: e.o.Base.Kind(int(l.Point)) + "/" + name, Weight: float64(l.Lent)})
	}
	return out
}
