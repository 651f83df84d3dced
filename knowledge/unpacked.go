package knowledge

import (
	"slices"
	"sync"
	"weak"
)

// archetypes holds what a lender reads of all archetypes of a base, unpacked: each tool of an import is compared with
// hundreds of them.
type archetypes struct {
	vectors []float32 // one after the other, with as many entries each as the lender's model has dimensions
	said    *unpacked
}

// unpackArchetypes returns the archetypes for a model of so many dimensions. Lenders of one model share them while any
// of these lenders exists. The base has only a weak pointer to them, since they take much more memory than itself.
func (b *Base) unpackArchetypes(dims int) *archetypes {
	b.unpacking.Lock()
	defer b.unpacking.Unlock()
	if a := b.archetypes.Value(); a != nil && len(a.vectors) == b.count*dims {
		return a
	}
	a := &archetypes{}
	var group sync.WaitGroup
	group.Go(func() { a.said = b.unpack() })
	a.vectors = make([]float32, b.count*dims)
	for i := range b.count {
		b.unpackVector(i, a.vectors[i*dims:(i+1)*dims])
	}
	group.Wait()
	b.archetypes = weak.Make(a)
	return a
}

// unpacked holds the lists of the base in the two forms that lending needs: by archetype, how often its requests and
// synonyms have each stem, and by stem, which archetypes have it.
type unpacked struct {
	stems []string // all of the base, sorted; what follows refers to them by their place
	begin []int32  // of each archetype, where its entries begin; and where the last ends
	stem  []int32
	times []uint8

	listed []int32  // of each stem, where its archetypes begin; and where the last ends
	impact []uint32 // the archetype, and in the lowest 8 bits the impact of the stem
}

// unpack reads the lists of a base. A damaged list ends where the damage is.
func (b *Base) unpack() *unpacked {
	lists := b.lists()
	dict, n := lists.stems, len(lists.lists.data) // an entry takes more than a byte
	s := &unpacked{stems: make([]string, dict.n), begin: make([]int32, b.count+1), listed: make([]int32, dict.n+1)}
	s.impact = make([]uint32, 0, n)
	times := make([]uint8, 0, n)
	var buf [64]entry
	all := string(dict.data) // one copy for all stems
	// The first pass counts the entries of each archetype, so that it is known where they begin. The second fills them
	// in.
	for k := range s.stems {
		from, to := dict.bounds(k)
		s.stems[k] = all[from:to]
		list := lists.read(k)
		for some := list.next(buf[:]); len(some) > 0; some = list.next(buf[:]) {
			for _, e := range some {
				if int(e.archetype) >= b.count {
					break
				}
				s.impact = append(s.impact, uint32(e.archetype)<<8|uint32(e.impact))
				times = append(times, e.times)
				if e.times > 0 {
					s.begin[e.archetype+1]++
				}
			}
		}
		s.listed[k+1] = int32(len(s.impact))
	}
	s.impact = slices.Clone(s.impact) // without room for more
	for i := range b.count {
		s.begin[i+1] += s.begin[i]
	}
	s.stem, s.times = make([]int32, s.begin[b.count]), make([]uint8, s.begin[b.count])
	next := append([]int32(nil), s.begin[:b.count]...)
	for k := range s.stems {
		for at := s.listed[k]; at < s.listed[k+1]; at++ {
			if times[at] > 0 {
				i := s.impact[at] >> 8
				s.stem[next[i]], s.times[next[i]] = int32(k), times[at]
				next[i]++
			}
		}
	}
	return s
}

// addWords does what Base.addWords does, several times faster.
func (s *unpacked) addWords(stem string, scores []uint16) {
	k, ok := slices.BinarySearch(s.stems, stem)
	if !ok {
		return
	}
	for _, e := range s.impact[s.listed[k]:s.listed[k+1]] {
		scores[e>>8] += uint16(e & 0xff)
	}
}
