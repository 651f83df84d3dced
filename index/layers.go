package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"tooldex/internal/vector"
	"tooldex/tool"
)

// layers are what a snapshot is made of that takes its documents from two others: a base, of which some documents are
// gone, and a small addition.
type layers struct {
	n    int
	of   [2]layer
	from []int32 // by document: its number in the base, or the complement of that in the addition
	// rarities remembers the IDF of a term, by its number in the base, else in the addition: the bits of a float32, 0
	// while it is not known, absent for a term that no document has any more.
	rarities [2][]atomic.Uint32
	zero     []float32 // a vector for documents of an addition without vectors
}

// layer is one of the two.
type layer struct {
	s  *Snapshot
	at []int32 // by document of s: its number in the whole, -1 for one that is gone
}

// absent is in place of the IDF of a term that no document has. No IDF has these bits.
const absent = 1

// Layer returns a snapshot of set whose documents are those of two others: from has for each the number of a document
// of base, or the complement of the number of one of extra. Documents of base that from leaves out are gone. Groups and
// copies are DuplicateGroup and Copy of all documents. Neither base nor extra is changed or copied; base must not be
// made by Layer itself.
//
// The answers are those of an index that is built of all documents, up to three things: documents of base keep the
// weights of words that the mean lengths of its fields gave them, the spread of the cosines in a large index stays that
// of base, and the scores of words are rounded once more. Extra is to be built with the lengths of LayerLengths.
//
// The error is Invalid if the parts do not fit together.
func Layer(set *tool.Set, base, extra *Snapshot, from []int32, groups []int32, copies []bool) (*Snapshot, error) {
	n := set.Len()
	if base.layers != nil || extra.layers != nil || len(from) != n || len(groups) != n || len(copies) != n ||
		extra.dims != 0 && extra.dims != base.dims || extra.dims != 0 && extra.model != base.model {
		return nil, &tool.Error{Code: tool.Invalid, Op: "layer index", Msg: "the layers do not fit together"}
	}
	l := &layers{n: n, from: from, zero: make([]float32, base.dims)}
	s := &Snapshot{
		set: set, dims: base.dims, model: base.model, classes: make([]uint8, n), lengths: base.lengths, layers: l,
	}
	for k, of := range [2]*Snapshot{base, extra} {
		at := make([]int32, of.Len())
		for i := range at {
			at[i] = -1
		}
		l.of[k], l.rarities[k] = layer{of, at}, make([]atomic.Uint32, len(of.idf))
	}
	for i, f := range from {
		of, k := l.of[0], int(f)
		if f < 0 {
			of, k = l.of[1], int(^f)
		}
		if k >= len(of.at) || of.at[k] >= 0 {
			return nil, &tool.Error{Code: tool.Invalid, Op: "layer index", Msg: "the numbers of documents do not fit"}
		}
		of.at[k] = int32(i)
		s.classes[i] = of.s.classes[k] &^ copyMark
		if copies[i] {
			s.classes[i] |= copyMark
		}
	}
	s.groupDuplicates(groups)
	if base.HasCoarse() {
		s.coarse.mean = l.meanVector(s)
	}
	s.cluster = sync.OnceValues(s.fillCollection)
	return s, nil
}

// LayerLengths returns the lengths of fields with which an addition to base is to be built that has these documents.
func LayerLengths(base *Snapshot, extra []Doc) Lengths {
	l := Lengths{sums: base.lengths.sums, documents: base.lengths.documents}
	for i := range extra {
		l.Add(&extra[i])
	}
	return l
}

// IsLayered reports whether Layer made the snapshot.
func (s *Snapshot) IsLayered() bool { return s.layers != nil }

// Parts returns the snapshots that Layer was given, and where the documents come from; nil for a whole snapshot.
func (s *Snapshot) Parts() (base, extra *Snapshot, from []int32) {
	if s.layers == nil {
		return nil, nil, nil
	}
	return s.layers.of[0].s, s.layers.of[1].s, s.layers.from
}

// base returns the larger layer.
func (l *layers) base() *Snapshot { return l.of[0].s }

// locate returns where document i comes from, and its number there.
func (l *layers) locate(i int) (*layer, int) {
	if f := l.from[i]; f < 0 {
		return &l.of[1], int(^f)
	}
	return &l.of[0], int(l.from[i])
}

// vectorOf returns the vector of document i, as Snapshot.vectorOf does.
func (l *layers) vectorOf(i int) []float32 {
	of, k := l.locate(i)
	if of.s.dims == 0 {
		return l.zero
	}
	return of.s.vectorOf(k)
}

// meanVector returns the mean of the vectors of all enabled documents of s: that of the base, less what is gone and
// with what came.
func (l *layers) meanVector(s *Snapshot) []float32 {
	base, enabled, sum := &l.of[0], 0, make([]float32, s.dims)
	for i, t := range base.s.set.All() {
		if !t.Disabled {
			enabled++
			if base.at[i] < 0 {
				vector.Axpy(sum, base.s.vectorOf(i), -1)
			}
		}
	}
	vector.Axpy(sum, base.s.coarse.mean, float32(enabled))
	for i, at := range base.at {
		if at < 0 && !base.s.set.All()[i].Disabled {
			enabled--
		}
	}
	for k, t := range l.of[1].s.set.All() {
		if !t.Disabled {
			enabled++
			vector.Axpy(sum, l.vectorOf(int(l.of[1].at[k])), 1)
		}
	}
	scale(sum, enabled)
	return sum
}

// layeredTerm is a term in both layers.
type layeredTerm struct {
	id    [2]int // its numbers; -1 where a layer has none
	idf   float32
	lists [2][]posting
}

// find returns a term, and false if no document has it.
func (l *layers) find(term string) (t layeredTerm, ok bool) {
	memory := (*atomic.Uint32)(nil)
	for k := range l.of {
		s := l.of[k].s
		id, has := s.words.find(term)
		if !has {
			t.id[k] = -1
			continue
		}
		t.id[k], t.lists[k] = id, s.posts[s.listAt[id]:s.listAt[id+1]]
		if memory == nil {
			memory = &l.rarities[k][id]
		}
	}
	if memory == nil {
		return t, false
	}
	bits := memory.Load()
	if bits == 0 {
		bits = l.rarity(&t)
		memory.Store(bits)
	}
	if bits == absent {
		return t, false
	}
	t.idf = math.Float32frombits(bits)
	return t, true
}

// rarity counts the documents that have a term, and returns the bits of its IDF; absent if there are none.
func (l *layers) rarity(t *layeredTerm) uint32 {
	uses, tooled := 0, 0
	for k, list := range t.lists {
		at := l.of[k].at
		for i := range list {
			if at[list[i].doc] >= 0 {
				uses++
				if !list[i].isServerOnly() {
					tooled++
				}
			}
		}
	}
	if uses == 0 {
		return absent
	}
	return math.Float32bits(idfOf(float64(cmp.Or(tooled, uses)), float64(l.n)))
}

// share returns what turns an impact in layer k into one in the whole: the layer's own rarity of the term is in it.
func (t *layeredTerm) share(l *layers, k int) float32 { return t.idf / l.of[k].s.idf[t.id[k]] }

func (l *layers) addWordScores(term string, weight float32, scores, own []float32) bool {
	t, ok := l.find(term)
	if !ok {
		return false
	}
	for k, list := range t.lists {
		if len(list) == 0 {
			continue
		}
		at, weight := l.of[k].at, weight*t.share(l, k)
		for _, p := range list {
			if d := at[p.doc]; d >= 0 {
				scores[d] += weight * p.impact
			}
		}
		if own == nil {
			continue
		}
		for _, p := range list {
			if d := at[p.doc]; d >= 0 {
				own[d] += weight * p.own
			}
		}
	}
	return true
}

func (l *layers) termImpacts(term string, doc int) (impact, own float32) {
	t, ok := l.find(term)
	if !ok {
		return 0, 0
	}
	k, at := 0, l.from[doc]
	if at < 0 {
		k, at = 1, ^at
	}
	i, found := slices.BinarySearchFunc(t.lists[k], at, func(p posting, d int32) int { return int(p.doc - d) })
	if !found {
		return 0, 0
	}
	share := t.share(l, k)
	return share * t.lists[k][i].impact, share * t.lists[k][i].own
}

// rarityAmong is IDFAmong.
func (l *layers) rarityAmong(term string, these []bool, n int) (float32, bool) {
	df := 0
	for k := range l.of {
		list, _ := l.of[k].s.postings(term)
		for i := range list {
			if d := l.of[k].at[list[i].doc]; d >= 0 && these[d] {
				df++
			}
		}
	}
	return idfOf(float64(df), float64(n)), df > 0
}

func (l *layers) hasTerm(term string, allowed []bool) bool {
	for _, of := range l.of {
		list, _ := of.s.postings(term)
		if slices.ContainsFunc(list, func(p posting) bool { d := of.at[p.doc]; return d >= 0 && allowed[d] }) {
			return true
		}
	}
	return false
}

func (l *layers) resemblance(landmark int32, allowed []bool) (like float32) {
	for _, of := range l.of {
		k, ok := slices.BinarySearch(of.s.points, landmark)
		if !ok {
			continue
		}
		for _, p := range of.s.near[of.s.nearAt[k]:of.s.nearAt[k+1]] {
			if d := of.at[p.doc]; d >= 0 && allowed[d] {
				like = max(like, p.like)
			}
		}
	}
	return like
}

func (l *layers) cosines(q, scores []float32) {
	for k := range l.of {
		l.exactCosines(k, q, scores)
	}
}

// exactCosines writes the cosines of the documents of one layer.
func (l *layers) exactCosines(k int, q, scores []float32) {
	for i, d := range l.of[k].at {
		switch {
		case d < 0:
		case l.of[k].s.dims == 0:
			scores[d] = 0
		default:
			scores[d] = vector.Dot(q, l.of[k].s.vectorOf(i))
		}
	}
}

// roughCosines estimates the cosines of the base's documents; those of the addition are exact.
func (l *layers) roughCosines(q, scores []float32) {
	l.base().coarse.compare(q, scores, l.of[0].at)
	l.exactCosines(1, q, scores)
}
