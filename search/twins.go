package search

import (
	"cmp"
	"slices"

	"tooldex/index"
	"tooldex/tool"
	"tooldex/upstream"
)

// onePerFamily returns which tools are ranked: the allowed ones, and of those that are one tool on several servers only
// the one that scores best. The family takes its place.
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

// place makes the place of document i, with the best of its family at the front and the rest of it behind. Steer are
// the words of the request.
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
	own := s.analyzer.Terms(nil, snap.Set().All()[i].Name)
	for _, d := range all {
		t := snap.Set().All()[d]
		ranks[d] = e.standing(t, s.fused[d], s.steered(t.Server, steer, own), s)
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
		before(a.exact, b.exact), cmp.Compare(b.steered, a.steered), before(a.always, b.always),
		cmp.Compare(b.uses, a.uses),
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

func (e *Engine) standing(t *tool.Tool, fused float32, steered int, s *scratch) standing {
	out := standing{
		exact: fused >= exactBonus, steered: steered, always: t.Always, fails: e.failing(s)[t.Server],
		score: fused,
	}
	if e.o.Usage != nil {
		out.uses = e.o.Usage.Uses(t.ID())
	}
	return out
}

// steered counts the words of a server's name that a request has, but for those of the tool's own name. What the
// request has of each server is looked up once.
func (s *scratch) steered(server string, steer, own []string) (n int) {
	words, ok := s.steering[server]
	if !ok {
		s.terms = s.analyzer.Terms(s.terms[:0], server)
		for _, w := range s.terms {
			if slices.Contains(steer, w) {
				words = append(words, w)
			}
		}
		if s.steering == nil {
			s.steering = map[string][]string{}
		}
		s.steering[server] = words
	}
	for _, w := range words {
		if !slices.Contains(own, w) {
			n++
		}
	}
	return n
}

// failing returns the servers that do not run, as asked once for each search.
func (e *Engine) failing(s *scratch) map[string]bool {
	if s.failed == nil {
		s.failed = map[string]bool{}
		if e.o.Servers != nil {
			for _, st := range e.o.Servers.Status() {
				if st.State == upstream.Failed {
					s.failed[st.Server] = true
				}
			}
		}
	}
	return s.failed
}
