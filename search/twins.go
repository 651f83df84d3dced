package search

import (
	"cmp"
	"slices"

	"tooldex/index"
	"tooldex/tool"
)

// onePerFamily returns which tools are ranked: the allowed ones, and of those that are one tool on several servers only the
// one that scores best. The family takes its place.
func (s *scratch) onePerFamily(snap *index.Snapshot) []bool {
	families := snap.Families()
	if len(families) == 0 {
		return s.allowed
	}
	copy(s.listed, s.allowed)
	for _, f := range families {
		best := int32(-1)
		for _, i := range f {
			if !s.allowed[i] {
				continue
			}
			s.listed[i] = false
			if best < 0 || s.fused[i] > s.fused[best] {
				best = i
			}
		}
		if best >= 0 {
			s.listed[best] = true
		}
	}
	return s.listed
}

// place makes the place of document i, with the best of its family at the front and the rest of it behind. Steer are the words
// of the request.
func (e *Engine) place(snap *index.Snapshot, i int32, steer []string, s *scratch) place {
	p := place{doc: i, best: i, key: i}
	family := snap.Twins(int(i))
	if family == nil {
		return p
	}
	p.key = family[0]
	all := make([]int32, 0, len(family))
	for _, d := range family {
		if s.allowed[d] {
			all = append(all, d)
		}
	}
	if len(all) < 2 {
		return p
	}
	ranks := make(map[int32]standing, len(all))
	for _, d := range all {
		ranks[d] = e.standing(snap.Set().All()[d], s.fused[d], steer, s)
	}
	slices.SortFunc(all, func(a, b int32) int { return cmp.Or(ranks[a].compare(ranks[b]), cmp.Compare(a, b)) })
	p.doc, p.also = all[0], all[1:]
	return p
}

// standing is what decides which copy of a tool is shown.
type standing struct {
	exact   bool // the request spells its name
	steered int  // words of its server's name in the request
	always  bool
	uses    float64
	fails   bool // its server does not run
	score   float32
}

// compare puts the better first.
func (a standing) compare(b standing) int {
	return cmp.Or(
		before(a.exact, b.exact), cmp.Compare(b.steered, a.steered), before(a.always, b.always), cmp.Compare(b.uses, a.uses),
		before(b.fails, a.fails), cmp.Compare(b.score, a.score),
	)
}

// before puts what is true first.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (e *Engine) standing(t *tool.Tool, fused float32, steer []string, s *scratch) standing {
	out := standing{exact: fused >= exactBonus, always: t.Always, score: fused}
	own := s.analyzer.Terms(nil, t.Name)
	for _, w := range s.analyzer.Terms(nil, t.Server) {
		if slices.Contains(steer, w) && !slices.Contains(own, w) {
			out.steered++
		}
	}
	if e.o.Usage != nil {
		out.uses = e.o.Usage.Uses(t.ID())
	}
	out.fails = e.failing(s)[t.Server]
	return out
}

// failing returns the servers that do not run, as asked once for each search.
func (e *Engine) failing(s *scratch) map[string]bool {
	if s.failed == nil {
		s.failed = map[string]bool{}
		if e.o.Servers != nil {
			for _, st := range e.o.Servers.Status() {
				if st.State == tool.Failed {
					s.failed[st.Server] = true
				}
			}
		}
	}
	return s.failed
}
