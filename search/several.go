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

// rankEach ranks the tools for every one of texts: several requests at once, or the parts of a.whole.
func (e *Engine) rankEach(ctx context.Context, a request, texts []string, s *scratch) ([]*ranking, error) {
	out := make([]*ranking, len(texts))
	for k, t := range texts {
		a.text, a.keepScores = t, false
		var err error
		if out[k], err = e.rankTools(ctx, a, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// isOneTool reports whether the best tool for the whole request is also the best for each of its parts. Then the
// request is for one thing, described at length.
func (r *ranking) isOneTool(parts []*ranking) bool {
	return len(r.places) > 0 && !slices.ContainsFunc(parts, func(p *ranking) bool {
		return len(p.places) == 0 || p.places[0].key != r.places[0].key
	})
}

// groupResult answers a request for several things, or several requests at once, from what was ranked for each. The
// groups share the limit: the best tool of each comes first, so that every need is served as far as the limit goes. The
// best ones of parts stand by how well they serve the whole request, since a part is a guess, and may be no more than a
// remark.
func groupResult(a request, texts []string, each []*ranking, s *scratch) *tool.Result {
	r := &tool.Result{Query: strings.Join(texts, "; "), Confident: true}
	limit, depth := max(a.query.Limit, len(texts)), a.query.Limit
	if w := a.whole; w != nil {
		r.Query, r.Confident, r.Advice, limit, depth = w.text, w.isConfident, w.advice, a.query.Limit,
			min(a.query.Limit, firstOfEach)
	}
	lists := make([][]place, len(each))
	for k, one := range each {
		if a.whole != nil {
			one.bringSiblings(a.snap, 1, each...)
		}
		lists[k] = one.firstPlaces(depth)
		r.Groups = append(r.Groups, tool.Group{Query: texts[k], Confident: one.isConfident, Advice: one.advice})
		r.Degraded = one.degraded
		if a.whole == nil {
			r.Confident = r.Confident && one.isConfident
		}
	}
	all := addPlaceOfEach(nil, lists, 0)
	if a.whole != nil {
		slices.SortStableFunc(all, func(x, y place) int { return cmp.Compare(s.whole[y.best], s.whole[x.best]) })
		// behind the best of each part, in case that it was for one thing after all
		all = appendMissing(all, a.whole.firstPlaces(depth)...)
	}
	for at := 1; at < depth && len(all) < limit; at++ {
		all = addPlaceOfEach(all, lists, at)
	}
	if a.whole != nil {
		all = appendMissing(all, a.whole.places...)
	}
	all = all[:min(len(all), limit)]
	r.Tools = describeHits(a.snap, all, a.query.Detail)
	for k := range r.Groups {
		own := slices.DeleteFunc(slices.Clone(lists[k]), func(p place) bool { return !containsPlace(all, p.key) })
		r.Groups[k].Tools = describeHits(a.snap, own, a.query.Detail)
	}
	r.Tokens = countTokens(r.Tools)
	return r
}

// addPlaceOfEach adds to all what stands at one place of each list.
func addPlaceOfEach(all []place, lists [][]place, at int) []place {
	for _, list := range lists {
		if at < len(list) {
			all = appendMissing(all, list[at])
		}
	}
	return all
}

// appendMissing adds those of more that all does not hold.
func appendMissing(all []place, more ...place) []place {
	for _, p := range more {
		if !containsPlace(all, p.key) {
			all = append(all, p)
		}
	}
	return all
}

// containsPlace reports whether one of places has this key, that is, the same tool or a duplicate of it.
func containsPlace(places []place, key int32) bool {
	return slices.ContainsFunc(places, func(p place) bool { return p.key == key })
}

// The places, from zero, at which the best tools of clauses are put into a long answer.
const (
	clauseFrom = 7
	clauseTo   = 10
)

// insertClauses returns the tools of a.whole, and where more are asked for than anybody reads closely, puts among the
// last of the first ten the best tool of each clause that is not among them, and behind these prefers siblings of the
// best: the request may be for several things in a form that parts does not recognise.
func (e *Engine) insertClauses(ctx context.Context, a request, clauses []string, s *scratch) ([]place, error) {
	if len(clauses) == 0 || len(a.whole.places) <= clauseFrom {
		return a.whole.firstPlaces(a.query.Limit), nil
	}
	each, err := e.rankEach(ctx, a, clauses, s)
	if err != nil {
		return nil, err
	}
	a.whole.bringSiblings(a.snap, clauseFrom, append(each, a.whole)...)
	places := a.whole.places
	at := clauseFrom
	for _, one := range each {
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
		// whether or not as many are shown as would reach it
		best.score = a.whole.confidence.toolProbability(s.whole[best.best])
		places = slices.Insert(places, at, best)
		at++
	}
	return places[:min(len(places), a.query.Limit)], nil
}
