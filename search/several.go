package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tooldex/tool"
)

// firstOfEach is how many tools of each part of a request come before those of the request as a whole.
const firstOfEach = 5

// each ranks the tools for every one of texts: several requests at once, or the parts of a.whole.
func (e *Engine) each(ctx context.Context, a ask, texts []string, s *scratch) ([]*ranking, error) {
	out := make([]*ranking, len(texts))
	for k, t := range texts {
		a.text, a.keep = t, false
		var err error
		if out[k], err = e.rank(ctx, a, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// serves reports whether one tool, the best for the whole request, is the best for each of its parts as well: then they
// say more of one thing, and the request is not for several.
func (r *ranking) serves(parts []*ranking) bool {
	return len(r.places) > 0 && !slices.ContainsFunc(parts, func(p *ranking) bool {
		return len(p.places) == 0 || p.places[0].key != r.places[0].key
	})
}

// group answers a request for several things, or several requests at once, from what was ranked for each. The groups
// share the limit: the best tool of each comes first, so that every need is served as far as the limit goes. The best
// ones of parts stand by how well they serve the whole request, since a part is a guess, and may be no more than a
// remark.
func group(a ask, texts []string, each []*ranking, s *scratch) *tool.Result {
	r := &tool.Result{Query: strings.Join(texts, "; "), Confident: true}
	limit, depth := max(a.q.Limit, len(texts)), a.q.Limit
	if w := a.whole; w != nil {
		r.Query, r.Confident, r.Advice, limit, depth = w.text, w.confident, w.advice, a.q.Limit,
			min(a.q.Limit, firstOfEach)
	}
	lists := make([][]place, len(each))
	for k, one := range each {
		lists[k] = one.first(depth)
		r.Groups = append(r.Groups, tool.Group{Query: texts[k], Confident: one.confident, Advice: one.advice})
		r.Degraded = one.degraded
		if a.whole == nil {
			r.Confident = r.Confident && one.confident
		}
	}
	all := round(nil, lists, 0)
	if a.whole != nil {
		slices.SortStableFunc(all, func(x, y place) int { return cmp.Compare(s.whole[y.best], s.whole[x.best]) })
		// behind the best of each part, in case that it was for one thing after all
		all = plus(all, a.whole.first(depth)...)
	}
	for at := 1; at < depth && len(all) < limit; at++ {
		all = round(all, lists, at)
	}
	if a.whole != nil {
		all = plus(all, a.whole.places...)
	}
	all = all[:min(len(all), limit)]
	r.Tools = hits(a.snap, all, a.q.Detail)
	for k := range r.Groups {
		own := slices.DeleteFunc(slices.Clone(lists[k]), func(p place) bool { return !holds(all, p.key) })
		r.Groups[k].Tools = hits(a.snap, own, a.q.Detail)
	}
	r.Tokens = cost(r.Tools)
	return r
}

// round adds to all what stands at one place of each list.
func round(all []place, lists [][]place, at int) []place {
	for _, list := range lists {
		if at < len(list) {
			all = plus(all, list[at])
		}
	}
	return all
}

// plus adds those of more that all does not hold.
func plus(all []place, more ...place) []place {
	for _, p := range more {
		if !holds(all, p.key) {
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

// withClauses returns the tools of a.whole, and where more are asked for than anybody reads closely, puts among the
// last of the first ten the best tool of each clause that is not among them: the request may be for several things in a
// form that parts does not recognise.
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
