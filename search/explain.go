package search

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// explainScore describes the score of document i. It reads s, so it must be called before s is used for another
// scoring.
func (e *Engine) explainScore(snap *index.Snapshot, r *scored, i int, s *scratch) *tool.Explain {
	x := &tool.Explain{
		Keyword: float64(s.words[i]), Semantic: float64(s.cosines[i]), Fused: float64(s.fused[i]),
		Weight: semanticWeight,
		Exact:  s.fused[i] >= exactBonus, OppositeAction: r.asked.Contradicts(knowledge.Effect(snap.Class(i))),
		Terms: map[string]float64{},
	}
	for _, t := range r.terms {
		if v := snap.TermImpact(t, i); v > 0 {
			x.Terms[t] = float64(v * s.rarityShare(snap, t))
		}
	}
	for _, ex := range r.expansions {
		if v := snap.TermImpact(ex.Stem, i); v > 0 {
			x.Terms[ex.Stem] = float64(v) * float64(expansionWeight*ex.Weight*s.rarityShare(snap, ex.Stem))
		}
	}
	x.Borrowed = e.listLoans(snap, i)
	if len(s.lifts) > 0 {
		x.Learned = float64(s.lifts[i])
	}
	return x
}

// maxLoans bounds the archetypes that an explanation names.
const maxLoans = 5

// listLoans returns the archetypes that lent most to document i, at most maxLoans.
func (e *Engine) listLoans(snap *index.Snapshot, i int) (out []tool.Loan) {
	if e.o.Base == nil {
		return nil
	}
	all := lendersOf(snap, i)
	for _, l := range all[:min(maxLoans, len(all))] {
		name, err := e.o.Base.Name(int(l.Point))
		if err != nil {
			continue // the base is of another version than what is stored; the score stands all the same
		}
		out = append(out, tool.Loan{Archetype: e.o.Base.Kind(int(l.Point)) + "/" + name, Weight: float64(l.Lent)})
	}
	return out
}

// Lender is an archetype whose words were lent to a tool.
type Lender struct {
	tool.Loan
	Like  float64 // how like the two are, 0 to 1
	Title string
	// Synonyms and Utterances are those of the archetype. The tool is found by the words that weigh most among those of
	// all its lenders.
	Synonyms, Utterances []string
}

// Lenders returns what lent its words to a tool, likest first. A tool that is not in the index, that borrows nothing or
// that is like nothing known has none. The error is Internal: the knowledge cannot be read.
func (e *Engine) Lenders(id tool.ID) ([]Lender, error) {
	snap := e.o.Lookup.Current()
	if snap == nil || e.o.Base == nil {
		return nil, nil
	}
	place, ok := slices.BinarySearchFunc(snap.Set().All(), id, func(t *tool.Tool, id tool.ID) int {
		return cmp.Compare(t.ID(), id)
	})
	if !ok {
		return nil, nil
	}
	var out []Lender
	for _, l := range lendersOf(snap, place) {
		h, err := e.o.Base.Head(int(l.Point))
		if err != nil {
			return nil, &tool.Error{
				Code: tool.Internal, Op: "read lenders",
				Msg: "what was lent to " + string(id) + " cannot be read", Err: err,
			}
		}
		loan := tool.Loan{Archetype: h.Server + "/" + h.Name, Weight: float64(l.Lent)}
		out = append(out, Lender{
			Loan: loan, Like: float64(l.Like), Title: h.Title, Synonyms: h.Synonyms,
			Utterances: h.Utterances,
		})
	}
	return out, nil
}

// lendersOf returns the archetypes that lent to document i, likest first. They come before those that it merely
// resembles.
func lendersOf(snap *index.Snapshot, i int) []index.Landmark {
	all := snap.Landmarks(i)
	n := slices.IndexFunc(all, func(l index.Landmark) bool { return l.Lent <= 0 })
	if n < 0 {
		return all
	}
	return all[:n]
}

// ExplainText says for people how the score of a hit came about: the scores of both branches, then what each word
// added, then the archetypes that lent words. The hit must have been asked for with its explanation.
func ExplainText(h *tool.Hit) string {
	var b strings.Builder
	e := h.Explain
	fmt.Fprintf(&b, "\n%s: words %.3f, meaning %.3f with weight %.2f, fused %.3f", h.Name, e.Keyword, e.Semantic, e.Weight,
		e.Fused)
	if e.Learned != 0 {
		fmt.Fprintf(&b, " of which %+.3f learned from use", e.Learned)
	}
	if e.Exact {
		b.WriteString(", named exactly")
	}
	b.WriteByte('\n')
	for _, term := range slices.Sorted(maps.Keys(e.Terms)) {
		fmt.Fprintf(&b, "  %-20s %.3f\n", term, e.Terms[term])
	}
	for _, l := range e.Borrowed {
		fmt.Fprintf(&b, "  borrowed from %s %.2f\n", l.Archetype, l.Weight)
	}
	return b.String()
}
