package search

import (
	"context"
	"slices"

	"tooldex/tool"
)

// Learned adjusts scores by what use has shown. *learn.Learner implements it.
type Learned interface {
	// Lift adds to the scores of the tools of set, which are in the order of set.All, what the evidence of a profile
	// says of a request with these terms and this vector, which is nil where only words are known; tools that are not
	// allowed count for nothing. It is safe for concurrent use, gives the same for the same evidence, and keeps
	// nothing.
	Lift(set *tool.Set, profile string, terms []string, vector []float32, allowed []bool, scores []float32)
}

// addLearned adds what was learned to s.fused, and stores the differences in s.lifts for explanations.
func (e *Engine) addLearned(a request, r *scored, s *scratch) {
	s.lifts = s.lifts[:0]
	if e.o.Learned == nil {
		return
	}
	s.lifts = append(s.lifts, s.fused...)
	vector := r.vector
	if vector != nil && e.queryEmbedder(a.snap).Model().Fingerprint != e.o.Embedder.Model().Fingerprint {
		vector = nil // what was learned has vectors of the other model
	}
	e.o.Learned.Lift(a.snap.Set(), a.query.Profile, r.terms, vector, s.allowed, s.fused)
	for i := range s.lifts {
		s.lifts[i] = s.fused[i] - s.lifts[i]
	}
}

// Read returns the terms and vector of a request, and the n best enabled tools for it without what was learned. The
// errors are those of Search. The result shares nothing with the engine.
func (e *Engine) Read(ctx context.Context, text string, n int) (*tool.Reading, error) {
	q := tool.Query{Text: text}
	needs, err := readNeeds(&q)
	if err != nil {
		return nil, err
	}
	snap := e.o.Lookup.Current()
	if snap == nil {
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "read request", Msg: "the catalogue is still being read",
			Hint: "try again in a moment",
		}
	}
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	s.resizeFor(snap.Len())
	s.markAllowed(e.factsOf(snap.Set()), &q.Filter)
	r, err := e.scoreTools(ctx, snap, q.Mode, e.expandText(needs[0]), s)
	if err != nil {
		return nil, err
	}
	s.named = namedTools(snap.Set(), needs[0], s.named[:0])
	s.addExactBonus()
	out := &tool.Reading{Terms: slices.Clone(r.terms), Vector: slices.Clone(r.vector)}
	if r.vector != nil {
		out.Model = e.queryEmbedder(snap).Model().Fingerprint
	}
	if e.o.Base != nil {
		out.Unknown = e.o.Base.NotUnderstood(needs[0], func(stem string) bool {
			_, ok := snap.IDF(stem)
			return ok
		})
	}
	s.order = topDocuments(s.fused, s.allowed, n, s.order)
	for _, i := range s.order {
		out.Found = append(out.Found, tool.Hit{ID: snap.Set().All()[i].ID(), Score: float64(s.fused[i])})
	}
	return out, nil
}
