package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	chromem "github.com/philippgille/chromem-go"

	"tooldex/tool"
)

// fillCollection puts the snapshot's rows into a chromem collection. The rows have unit length, so chromem keeps them
// as they are: both it and Cosines read the same memory. It happens at the first use, since a search does not need it.
//
// Five habits of chromem v0.7.0 are hidden from callers: it embeds by a remote service unless configured not to, it
// fails when more results are asked for than it holds, it leaves ties at the cut to chance, it finds everything near a
// zero vector, and it calls a part of the answer the whole when the context ends.
func (s *Snapshot) fillCollection() (*chromem.Collection, error) {
	refuse := func(context.Context, string) ([]float32, error) {
		return nil, errors.New("chromem was asked to embed a text")
	}
	c, err := chromem.NewDB().CreateCollection("tools", nil, refuse)
	if err != nil {
		return nil, fmt.Errorf("create collection: %w", err)
	}
	for i := range s.Len() {
		v := s.vectorOf(i)
		if isZero(v) {
			continue
		}
		if err := c.AddDocument(context.Background(), chromem.Document{ID: strconv.Itoa(i), Embedding: v}); err != nil {
			return nil, fmt.Errorf("add %s: %w", s.set.All()[i].ID(), err)
		}
	}
	return c, nil
}

// tieRoom is how many more results than wanted are asked of chromem at first, so that ties at the cut can be broken by
// ID.
const tieRoom = 8

// queryCollection asks for more until all that tie with the last wanted are among what was found.
func (s *Snapshot) queryCollection(ctx context.Context, c *chromem.Collection, v []float32, n, but int) ([]Neighbour, error) {
	for k := min(n+1+tieRoom, c.Count()); ; k = min(4*k, c.Count()) {
		found, err := c.QueryEmbedding(ctx, v, k, nil, nil)
		if ctx.Err() != nil { // chromem then returns what it has seen so far, without an error
			return nil, &tool.Error{
				Code: tool.Timeout, Op: "nearest tools",
				Msg: "stopped before all tools were compared", Err: ctx.Err(),
			}
		}
		if err != nil {
			return nil, &tool.Error{
				Code: tool.Internal, Op: "nearest tools", Msg: "the vector index did not answer",
				Err: err,
			}
		}
		out, err := toNeighbours(found, but)
		if err != nil {
			return nil, err
		}
		if k == c.Count() || len(out) > n && out[len(out)-1].Cosine < out[n-1].Cosine {
			return out[:min(n, len(out))], nil
		}
	}
}

// toNeighbours returns what chromem found in order, without one.
func toNeighbours(found []chromem.Result, but int) ([]Neighbour, error) {
	out := make([]Neighbour, 0, len(found))
	for _, r := range found {
		i, err := strconv.Atoi(r.ID)
		if err != nil {
			return nil, &tool.Error{
				Code: tool.Internal, Op: "nearest tools",
				Msg: "the vector index holds an unknown document", Err: err,
			}
		}
		if i != but {
			out = append(out, Neighbour{i, r.Similarity})
		}
	}
	slices.SortFunc(out, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Doc, b.Doc))
	})
	return out, nil
}

// isZero reports whether v has no direction: chromem cannot compare it.
func isZero(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}
