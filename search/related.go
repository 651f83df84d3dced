package search

import (
	"context"

	"tooldex/tool"
)

// leastRelated is the cosine below which two tools have nothing to do with each other.
const leastRelated = .45

// Related returns the enabled tools that are nearest to a tool in meaning, at most n, nearest first. A tool that is not
// in the index, or has no vector, has none. The error is Timeout when ctx ends first.
func (e *Engine) Related(ctx context.Context, id tool.ID, n int) ([]tool.ID, error) {
	snap := e.o.Lookup.Current()
	if snap == nil {
		return nil, nil
	}
	place := snap.Set().Spelled(string(id))
	if len(place) != 1 {
		return nil, nil
	}
	near, err := snap.Neighbours(ctx, place[0], n)
	if err != nil {
		return nil, err
	}
	var out []tool.ID
	for _, d := range near {
		if t := snap.Set().All()[d.Doc]; !t.Disabled && d.Cosine >= leastRelated {
			out = append(out, t.ID())
		}
	}
	return out, nil
}
