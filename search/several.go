package search

import (
	"context"
	"slices"
	"strings"

	"tooldex/tool"
)

// firstOfEach is how many tools of each part of a request come before those of the request as a whole.
const firstOfEach = 5

// several answers a request for several things, or several requests at once. The groups share the limit: the best tool of
// each part comes before the second of any, so that every part is served as far as the limit goes. a.whole is the ranking of
// the request that the parts were found in, or nil where the caller listed them.
func (e *Engine) several(ctx context.Context, a ask, parts []string, s *scratch) (*tool.Result, error) {
	r := &tool.Result{Query: strings.Join(parts, "; "), Confident: true}
	limit, depth := max(a.q.Limit, len(parts)), a.q.Limit
	if w := a.whole; w != nil {
		r.Query, r.Confident, r.Advice, limit, depth = w.text, w.confident, w.advice, a.q.Limit, min(a.q.Limit, firstOfEach)
	}
	lists := make([][]place, len(parts))
	for k, p := range parts {
		a.text, a.keep = p, false
		one, err := e.rank(ctx, a, s)
		if err != nil {
			return nil, err
		}
		lists[k] = one.first(depth)
		r.Groups = append(r.Groups, tool.Group{Query: p, Confident: one.confident, Advice: one.advice})
		r.Degraded = one.degraded
		if a.whole == nil {
			r.Confident = r.Confident && one.confident
		}
	}
	if a.whole != nil { // what it finds comes after each part's, in case that it was for one thing after all
		lists = append(lists, a.whole.first(depth))
	}
	all, groups := interleave(lists, len(parts), depth, limit)
	if a.whole != nil {
		all = fill(all, a.whole.places, limit)
	}
	r.Tools = hits(a.snap, all, a.q.Detail)
	for k := range groups {
		r.Groups[k].Tools = hits(a.snap, groups[k], a.q.Detail)
	}
	r.Tokens = cost(r.Tools)
	return r, nil
}

// interleave takes the first of every list, then the second, until it has limit different tools. It also tells what it has
// taken, or found taken, of each of the first n lists.
func interleave(lists [][]place, n, depth, limit int) (all []place, groups [][]place) {
	groups = make([][]place, n)
	for at := range depth {
		for k, list := range lists {
			if at >= len(list) || len(all) >= limit {
				continue
			}
			if k < n {
				groups[k] = append(groups[k], list[at])
			}
			if !holds(all, list[at].key) {
				all = append(all, list[at])
			}
		}
	}
	return all, groups
}

// fill adds what more holds, and all does not, until there are limit places.
func fill(all, more []place, limit int) []place {
	for _, p := range more {
		if len(all) < limit && !holds(all, p.key) {
			all = append(all, p)
		}
	}
	return all
}

func holds(places []place, key int32) bool {
	return slices.ContainsFunc(places, func(p place) bool { return p.key == key })
}

// The places, from zero, at which the best tools of clauses are put into a long answer.
const (
	clauseFrom = 7
	clauseTo   = 10
)

// withClauses returns the tools of a.whole, and where more are asked for than anybody reads closely, puts among the last of the
// first ten the best tool of each clause that is not among them: the request may be for several things in a form
// that parts does not recognise.
func (e *Engine) withClauses(ctx context.Context, a ask, clauses []string, s *scratch) ([]place, error) {
	places := a.whole.places
	if len(places) <= clauseFrom {
		clauses = nil
	}
	at := clauseFrom
	for _, c := range clauses {
		a.text, a.keep = c, false
		one, err := e.rank(ctx, a, s)
		if err != nil {
			return nil, err
		}
		if len(one.places) == 0 || at >= clauseTo {
			continue
		}
		best := one.places[0]
		from := slices.IndexFunc(places, func(p place) bool { return p.key == best.key })
		if from >= 0 && from < clauseTo {
			continue
		}
		if from >= 0 {
			places = slices.Delete(places, from, from+1)
		}
		best.score = a.whole.judged.score(s.whole[best.best]) // whether or not as many are shown as would reach it
		places = slices.Insert(places, at, best)
		at++
	}
	return places[:min(len(places), a.q.Limit)], nil
}
