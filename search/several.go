package search

import (
	"context"
	"slices"
	"strings"

	"tooldex/index"
	"tooldex/tool"
)

// firstOfEach is how many tools of each part of a request come before those of the request as a whole.
const firstOfEach = 5

// several answers a request for several things, or several requests at once. The groups share the limit: the best tool of
// each part comes before the second of any, so that every part is served as far as the limit goes. whole is the ranking of
// the request that the parts were found in, or nil where the caller listed them.
func (e *Engine) several(ctx context.Context, snap *index.Snapshot, q *tool.Query, parts []string, whole *ranking, s *scratch) (*tool.Result, error) {
	r := &tool.Result{Query: strings.Join(parts, "; "), Tools: []tool.Hit{}, Confident: true}
	limit, depth := max(q.Limit, len(parts)), q.Limit
	if whole != nil {
		r.Query, r.Confident, r.Advice, limit, depth = whole.text, whole.confident, whole.advice, q.Limit, min(q.Limit, firstOfEach)
	}
	lists := make([][]tool.Hit, len(parts))
	for k, p := range parts {
		one, err := e.rank(ctx, snap, q, p, whole, s)
		if err != nil {
			return nil, err
		}
		lists[k] = one.hits(depth)
		r.Groups = append(r.Groups, tool.Group{Query: p, Tools: []tool.Hit{}, Confident: one.confident, Advice: one.advice})
		r.Degraded = one.degraded
		if whole == nil {
			r.Confident = r.Confident && one.confident
		}
	}
	if whole != nil { // what it finds comes after each part's, in case that it was for one thing after all
		lists = append(lists, whole.hits(depth))
	}
	seen := make(map[tool.ID]bool, limit)
	for place := range depth {
		for k, list := range lists {
			if place >= len(list) || len(r.Tools) >= limit {
				continue
			}
			if k < len(parts) {
				r.Groups[k].Tools = append(r.Groups[k].Tools, list[place])
			}
			if h := list[place]; !seen[h.ID] {
				seen[h.ID] = true
				r.Tools = append(r.Tools, h)
			}
		}
	}
	if whole != nil {
		rest := slices.DeleteFunc(whole.hits(q.Limit), func(h tool.Hit) bool { return seen[h.ID] })
		r.Tools = append(r.Tools, rest[:min(len(rest), limit-len(r.Tools))]...)
	}
	r.Tokens = cost(r.Tools)
	return r, nil
}

// The places, from zero, at which the best tools of clauses are put into a long answer.
const (
	clauseFrom = 7
	clauseTo   = 10
)

// withClauses returns the tools of whole, and where more are asked for than anybody reads closely, puts among the last of the
// first ten the best tool of each clause that is not among them: the request may be for several things in a form
// that parts does not recognise.
func (e *Engine) withClauses(ctx context.Context, snap *index.Snapshot, q *tool.Query, whole *ranking, s *scratch) ([]tool.Hit, error) {
	hits := whole.hits(q.Limit)
	if q.Limit <= clauseFrom || len(hits) <= clauseFrom || e.o.Base == nil {
		return hits, nil
	}
	at := clauseFrom
	for _, c := range clauses(whole.text, &s.analyzer) {
		one, err := e.rank(ctx, snap, q, c, whole, s)
		if err != nil {
			return nil, err
		}
		if len(one.found) == 0 || at >= clauseTo {
			continue
		}
		best := one.found[0]
		place := slices.IndexFunc(hits, func(h tool.Hit) bool { return h.ID == best.ID })
		if place >= 0 && place < clauseTo {
			continue
		}
		if place >= 0 {
			best = hits[place]
			hits = slices.Delete(hits, place, place+1)
		}
		hits = slices.Insert(hits, at, best)
		at++
	}
	return hits[:min(len(hits), q.Limit)], nil
}
