package search

import (
	"context"
	"slices"

	"tooldex/tool"
)

// Judgement is what the engine's confidence in an answer is made of.
type Judgement struct {
	Evidence Evidence
	Exact    bool       // the request spells the name of a tool
	Hits     []tool.Hit // best first
	Fused    []float64  // score of each hit before calibration
}

// Judge ranks the tools for a request as a whole, and returns the n best with the evidence that they serve. It is for
// fitting and measuring the confidence of answers. The errors are those of Search.
func (e *Engine) Judge(ctx context.Context, text string, n int) (*Judgement, error) {
	q := tool.Query{Text: text, Limit: n, Detail: tool.DetailName}
	needs, err := readNeeds(&q)
	if err != nil {
		return nil, err
	}
	snap := e.o.Lookup.Current()
	if snap == nil {
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "judge", Msg: "the catalogue is still being read", Hint: "try again in a moment",
		}
	}
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	s.resizeFor(snap.Len())
	s.markAllowed(e.factsOf(snap.Set()), &q.Filter)
	r, err := e.rankTools(ctx, request{snap: snap, query: &q, text: needs[0]}, s)
	if err != nil {
		return nil, err
	}
	places := r.firstPlaces(n)
	out := &Judgement{
		Evidence: r.confidence.evidence, Exact: len(s.named) > 0, Hits: describeHits(snap, places, tool.DetailName),
	}
	for _, p := range places {
		out.Fused = append(out.Fused, p.fused)
	}
	return out, nil
}

// EvidenceIndex returns the place of a name in EvidenceNames, or -1.
func EvidenceIndex(name string) int {
	names := EvidenceNames()
	return slices.Index(names[:], name)
}
