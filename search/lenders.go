package search

import (
	"cmp"
	"slices"

	"tooldex/index"
	"tooldex/tool"
)

// Lender is an archetype that lent its words to a tool.
type Lender struct {
	tool.Loan
	Like  float64 // how like the two are, 0 to 1
	Title string
	// Synonyms and Utterances are what is said to the archetype. The words that weigh most among those of all of a
	// tool's lenders find the tool.
	Synonyms, Utterances []string
}

// Lenders returns what lent its words to a tool, likest first. A tool that is not in the index, that borrows nothing or
// that is like nothing known has none. The error is Internal: the knowledge cannot be read.
func (e *Engine) Lenders(id tool.ID) ([]Lender, error) {
	snap := e.o.Lookup.Current()
	if snap == nil || e.o.Base == nil {
		return nil, nil
	}
	place, ok := slices.BinarySearchFunc(snap.Set().All(), id, func(t *tool.Tool,
		id tool.ID,
	) int {
		return cmp.Compare(t.ID(), id)
	})
	if !ok {
		return nil, nil
	}
	var out []Lender
	for _, l := range lenders(snap, place) {
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

// lenders returns those of the archetypes that document i resembles which lent to it, likest first. The others stand
// behind them.
func lenders(snap *index.Snapshot, i int) []index.Landmark {
	all := snap.Landmarks(i)
	n := slices.IndexFunc(all, func(l index.Landmark) bool { return l.Lent <= 0 })
	if n < 0 {
		return all
	}
	return all[:n]
}
