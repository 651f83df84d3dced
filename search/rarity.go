package search

import (
	"tooldex/index"
	"tooldex/tool"
)

// permit notes which tools a caller with limited permissions may know of. From then on, words are as rare as they are
// among those: how rare a word is among all would tell such a caller what the others are about.
func (s *scratch) permit(set *tool.Set, may func(*tool.Tool) bool) {
	if cap(s.permitted) < set.Len() {
		s.permitted = make([]bool, set.Len())
	}
	s.permitted, s.limited, s.among = s.permitted[:set.Len()], true, 0
	for i, t := range set.All() {
		s.permitted[i] = may(t)
		if s.permitted[i] {
			s.among++
		}
	}
}

// rarity returns how rare a word is to the caller, and false if no tool has it that the caller may know of.
func (s *scratch) rarity(snap *index.Snapshot, term string) (idf float32, ok bool) {
	if !s.limited {
		return snap.IDF(term)
	}
	return snap.IDFAmong(term, s.permitted, s.among)
}

// share is by what the weight of a word is multiplied since it is of another rarity to the caller than among all tools;
// 0 for a word that none has.
func (s *scratch) share(snap *index.Snapshot, term string) float32 {
	if !s.limited {
		return 1
	}
	idf, ok := s.rarity(snap, term)
	if !ok {
		return 0
	}
	all, _ := snap.IDF(term)
	return idf / all
}
