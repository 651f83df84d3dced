package search

import (
	"cmp"
	"slices"

	"tooldex/index"
)

// The needs of one request mostly lie on one or two servers, and where a need found its server but not its tool,
// another tool of that server holds the place. So a request for several things gets its later tools rather from the
// servers of the first ones; docs/adr/0040 has the figures.
const (
	// siblingBonus is added to the fused score of such a tool when later places are ordered; a tool has at most
	// 1 + semanticWeight
	siblingBonus = .4
	// siblingDepth is how many places of a ranking are looked at. So many are ranked whatever the limit, so that the
	// first places do not depend on how many are shown.
	siblingDepth = 20
)

// bringSiblings reorders the places of r from one place on, such that tools on the servers of the first tools of seeds
// come forward. The places before it, and the scores, stay as they are.
func (r *ranking) bringSiblings(snap *index.Snapshot, from int, seeds ...*ranking) {
	if len(r.places) <= from {
		return
	}
	// The best tool of a family decides, not the one shown: which is shown depends on the state of the servers.
	serverOf := func(p *place) string { return snap.Set().All()[p.best].Server }
	first := make([]string, 0, maxParts)
	for _, s := range seeds {
		if len(s.places) > 0 {
			first = append(first, serverOf(&s.places[0]))
		}
	}
	later := r.places[from:min(len(r.places), siblingDepth)]
	for i := range later {
		if later[i].rank = later[i].fused; slices.Contains(first, serverOf(&later[i])) {
			later[i].rank += siblingBonus
		}
	}
	slices.SortStableFunc(later, func(x, y place) int { return cmp.Compare(y.rank, x.rank) })
}
