package tool

import (
	"iter"
	"sync"
)

// numNameLists is how many lists the tables of a set's names have.
const numNameLists = 9

// NameLists returns the lists of the tables that find tools by name, for RestoreSet. It takes about as long as making
// the names. The lists share memory with the set and must not be changed.
func (s *Set) NameLists() [numNameLists][]uint32 {
	if s.lazy == nil {
		return [numNameLists][]uint32{}
	}
	n := s.lazy.names()
	return [...][]uint32{
		n.exposed.slots, n.exposed.next, n.exposed.hashes, n.plain.slots, n.plain.next, n.plain.hashes,
		n.full.slots, n.full.next, n.full.hashes,
	}
}

// Held returns the tools that are held, with the names under which clients would see them.
func (s *Set) Held() iter.Seq2[*Tool, string] {
	return func(yield func(*Tool, string) bool) {
		for _, h := range s.held {
			if !yield(h.tool, h.exposed) {
				return
			}
		}
	}
}

// RestoreSet returns a set from what was stored of it, without making its names again. Tools has all tools of the set,
// those that it holds among them, sorted by ID. Exposed has their names at the same index, and held the reason of each
// tool that is held. Lists are those of NameLists; the set keeps them, so they must not change. RestoreSet returns
// false if the lists are not those of a set of as many tools.
func RestoreSet(tools []*Tool, exposed []string, held map[*Tool]string, lists [numNameLists][]uint32) (*Set, bool) {
	s := newSet(tools, exposed)
	if len(held) > 0 {
		s = s.Withhold(func(t *Tool) string { return held[t] })
	}
	var tables [3]*nameTable
	for k, key := range s.nameKeys() {
		var ok bool
		if tables[k], ok = restoreNameTable(lists[3*k:3*k+3], len(s.tools), key); !ok {
			return nil, false
		}
	}
	s.lazy.names = sync.OnceValue(func() setNames { return setNames{tables[0], tables[1], tables[2]} })
	return s, true
}
