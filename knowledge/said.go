package knowledge

// said holds how often the requests and synonyms of each archetype have each stem: the lists of the base, by archetype
// instead of by stem.
type said struct {
	stems []string // all of the base, sorted; what follows refers to them by their place
	begin []int32  // of each archetype, where its entries begin; and where the last ends
	stem  []int32
	times []uint8
}

// readSaid reads the lists of a base. A damaged list ends where the damage is.
func (b *Base) readSaid() *said {
	dict := b.dict()
	s := &said{stems: make([]string, dict.n), begin: make([]int32, b.count+1)}
	all := string(dict.data) // one copy for all stems
	for k := range s.stems {
		from, to := dict.bounds(k)
		s.stems[k] = all[from:to]
	}
	// The first pass counts the entries of each archetype, which says where they begin, and the second fills them in.
	b.eachSaid(func(i, _, _ int) { s.begin[i+1]++ })
	for i := range b.count {
		s.begin[i+1] += s.begin[i]
	}
	n := s.begin[b.count]
	s.stem, s.times = make([]int32, n), make([]uint8, n)
	next := append([]int32(nil), s.begin[:b.count]...)
	b.eachSaid(func(i, k, times int) {
		s.stem[next[i]], s.times[next[i]] = int32(k), uint8(times)
		next[i]++
	})
	return s
}

// eachSaid calls do with each archetype and stem of its requests and synonyms, and how often they have it.
func (b *Base) eachSaid(do func(archetype, stem, times int)) {
	for k := range b.lists.n {
		list, at := b.lists.entryAt(k), 0
		for {
			var times int
			var ok bool
			at, _, times, list, ok = readEntry(list, at)
			if !ok || at >= b.count {
				break
			}
			if times > 0 {
				do(at, k, times)
			}
		}
	}
}
