package search

import (
	"cmp"
	"slices"

	"tooldex/index"
	"tooldex/tool"
	"tooldex/upstream"
)

// bestOfDuplicates returns which tools are ranked: the allowed ones, but of each family (one tool on several servers)
// only the one with the best score. The result is a buffer of s.
func (s *scratch) bestOfDuplicates(snap *index.Snapshot) []bool {
	families := snap.DuplicateGroups()
	if len(families) == 0 {
		return s.allowed
	}
	copy(s.ranked, s.allowed)
	for _, f := range families {
		best := int32(-1)
		for _, i := range f {
			if !s.allowed[i] {
				continue
			}
			s.ranked[i] = false
			if best < 0 || s.fused[i] > s.fused[best] {
				best = i
			}
		}
		if best >= 0 {
			s.ranked[best] = true
		}
	}
	return s.ranked
}

// placeDuplicates returns the place of document i, with the copy to show in front and the other allowed ones behind it.
// steer are the words of the request.
func (e *Engine) placeDuplicates(snap *index.Snapshot, i int32, steer []string, s *scratch) place {
	p := place{doc: i, best: i, key: i}
	family := snap.Duplicates(int(i))
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
	ranks := make(map[int32]duplicateRank, len(all))
	own := s.analyzer.Terms(nil, snap.Set().All()[i].Name)
	for _, d := range all {
		t := snap.Set().All()[d]
		r := e.rankDuplicate(t, s.fused[d], s.countServerWords(t.Server, steer, own), s)
		r.copy = snap.IsCopy(int(d))
		ranks[d] = r
	}
	slices.SortFunc(all, func(a, b int32) int { return cmp.Or(ranks[a].compareRanks(ranks[b]), cmp.Compare(a, b)) })
	p.doc, p.also = all[0], all[1:]
	return p
}

// duplicateRank holds what decides which copy of a tool is shown, the most important first.
type duplicateRank struct {
	exact       bool // the request spells its name
	serverWords int  // words of its server's name in the request
	// the tool is marked to be always shown
	always bool
	copy   bool // its server has copied it from another
	uses   float64
	fails  bool // its server does not run
	score  float32
}

// compareRanks puts the better first.
func (a duplicateRank) compareRanks(b duplicateRank) int {
	return cmp.Or(
		trueFirst(a.exact, b.exact), cmp.Compare(b.serverWords, a.serverWords), trueFirst(a.always, b.always),
		trueFirst(b.copy, a.copy),
		cmp.Compare(b.uses, a.uses),
		trueFirst(b.fails, a.fails), cmp.Compare(b.score, a.score),
	)
}

// trueFirst puts what is true first.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// rankDuplicate collects what decides whether t is the copy to show. steered is how many words of its server's name the
// request has.
func (e *Engine) rankDuplicate(t *tool.Tool, fused float32, steered int, s *scratch) duplicateRank {
	out := duplicateRank{
		exact: fused >= exactBonus, serverWords: steered, always: t.Always, fails: e.failedServers(s)[t.Server],
		score: fused,
	}
	if e.o.Usage != nil {
		out.uses = e.o.Usage.Uses(t.ID())
	}
	return out
}

// countServerWords counts the words of a server's name that the request has, except those of the tool's own name. The
// words of each server are looked up once per request and cached in s.
func (s *scratch) countServerWords(server string, steer, own []string) (n int) {
	words, ok := s.serverTerms[server]
	if !ok {
		s.terms = s.analyzer.Terms(s.terms[:0], server)
		for _, w := range s.terms {
			if slices.Contains(steer, w) {
				words = append(words, w)
			}
		}
		if s.serverTerms == nil {
			s.serverTerms = map[string][]string{}
		}
		s.serverTerms[server] = words
	}
	for _, w := range words {
		if !slices.Contains(own, w) {
			n++
		}
	}
	return n
}

// failedServers returns the servers that have failed. It asks for them once per search.
func (e *Engine) failedServers(s *scratch) map[string]bool {
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
