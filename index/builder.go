package index

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tooldex/internal/flatfile"
	"tooldex/internal/vector"
	"tooldex/tool"
)

// Lengths are the lengths of the fields of documents, which a Builder must know before it is given the documents. The
// zero Lengths is of none.
type Lengths struct {
	sums         [NumFields]float64
	documents    int
	terms, marks int // how much is to come, for a good guess; 0 where it is not known
}

// Add counts a document.
func (l *Lengths) Add(d *Doc) {
	for f := range NumFields {
		l.sums[f] += float64(fieldLength(d.Fields[f]))
		l.terms += len(d.Fields[f])
	}
	l.marks += len(d.Landmarks)
	l.documents++
}

// mean returns the mean length of each field, never zero, since scores are divided by it.
func (l *Lengths) mean() (mean [NumFields]float32) {
	for f, sum := range l.sums {
		mean[f] = float32(max(sum/float64(max(l.documents, 1)), 1e-9))
	}
	return mean
}

// Builder makes an index of documents that are added one after the other, so that they need not be in memory together.
// It is not safe for concurrent use. Close it after use. It collects postings by document, as they come, and turns them
// into lists by term when all documents are there. With a path, long lists are in files: memory then holds the
// dictionary and a part of the postings.
type Builder struct {
	o    Options
	s    *Snapshot
	path string // beside which long lists are kept in files; "" for memory
	mean [NumFields]float32

	terms  map[string]int32
	place  []int32  // of each term in buffer, for the current document, plus one
	uses   []uint32 // by term: how many documents have it
	tooled []uint32 // by term: how many documents have it in a field of the tool's own
	buffer []posting
	found  *column[posting] // of all documents, one after the other; doc is the term
	starts []int            // of found, by document
	posts  *column[posting]
	rows   *column[float32]
	marks  *column[Landmark]
	near   *column[landmarkTool]
	groups []int32 // the DuplicateGroup of each document
	sum    []float32
	// enabled counts the documents so far that are not disabled.
	enabled int
	atOnce  uint32 // postings, or landmarks, that are arranged in memory at once where they are kept in files
}

// NewBuilder returns a Builder for the documents of set, of these lengths. Path is the file that the image will be
// written to, beside which the long lists are kept until then; "" keeps them in memory.
func NewBuilder(set *tool.Set, l Lengths, o Options, path string) (*Builder, error) {
	b := &Builder{
		o: o.withDefaults(), s: &Snapshot{set: set, model: o.Model, lengths: l}, path: path, mean: l.mean(),
		terms: make(map[string]int32, min(4*set.Len(), mostWords)+256), starts: make([]int, 1, set.Len()+1),
		groups: make([]int32, 0, set.Len()), atOnce: postsAtOnce,
	}
	b.s.markAt, b.s.classes = make([]uint32, 1, set.Len()+1), make([]uint8, 0, set.Len())
	var errs [2]error
	b.found, errs[0] = newColumn[posting](path, l.terms)
	b.marks, errs[1] = newColumn[Landmark](path, l.marks)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// mostWords is how many different words room is made for at once. Larger catalogues repeat more of them.
const mostWords = 1 << 16

// Close removes the files of the Builder. Sections that Image returned cannot be used any more; a Snapshot can.
func (b *Builder) Close() error {
	return errors.Join(b.found.close(), b.posts.close(), b.rows.close(), b.marks.close(), b.near.close())
}

// Add adds the next document of the set, of which it keeps nothing. The error is Invalid if the vector has another
// width than the first, or that of writing a file.
func (b *Builder) Add(d *Doc) error {
	if len(b.groups) == b.s.Len() {
		return &tool.Error{Code: tool.Invalid, Op: "build index", Msg: fmt.Sprintf("more documents than %d tools", b.s.Len())}
	}
	if err := errors.Join(b.addTerms(d), b.addVector(d.Vector), b.marks.add(d.Landmarks...)); err != nil {
		return err
	}
	class := d.Class &^ copyMark
	if d.Copy {
		class |= copyMark
	}
	b.s.classes = append(b.s.classes, class)
	b.s.markAt = append(b.s.markAt, b.s.markAt[len(b.s.markAt)-1]+uint32(len(d.Landmarks)))
	b.groups = append(b.groups, d.DuplicateGroup)
	return nil
}

// MarkDuplicates sets DuplicateGroup and Copy of all documents, for a caller that did not know them in Add.
func (b *Builder) MarkDuplicates(groups []int32, copies []bool) {
	copy(b.groups, groups)
	for i, is := range copies {
		if is {
			b.s.classes[i] |= copyMark
		}
	}
}

// addTerms adds the postings of the next document. Field weights are summed per term before saturation, as BM25F has
// it.
func (b *Builder) addTerms(d *Doc) error {
	b.buffer = b.buffer[:0]
	for f := range NumFields {
		if b.o.Weight[f] == 0 || len(d.Fields[f]) == 0 {
			continue
		}
		norm := b.o.Weight[f] / (1 - b.o.Length[f] + b.o.Length[f]*fieldLength(d.Fields[f])/b.mean[f])
		for _, t := range d.Fields[f] {
			id, ok := b.terms[t.Text]
			if !ok {
				id = int32(len(b.place))
				b.terms[cloneTerm(t.Text, b.path)] = id
				b.place, b.tooled, b.uses = append(b.place, 0), append(b.tooled, 0), append(b.uses, 0)
			}
			if b.place[id] == 0 {
				// What a server says of itself is the same for all of its tools, and must not make its words look
				// common.
				if f != Server { // the last field
					b.tooled[id]++
				}
				b.uses[id]++
				p := posting{doc: id}
				if f == Server {
					p.own = serverOnly()
				}
				b.buffer = append(b.buffer, p)
				b.place[id] = int32(len(b.buffer))
			}
			p := &b.buffer[b.place[id]-1]
			p.impact += norm * t.Weight
			// own is the share of the tool's own words, which long requests prefer
			if f != Lent && f != Server {
				p.own += norm * t.Weight
			}
		}
	}
	for _, p := range b.buffer {
		b.place[p.doc] = 0
	}
	b.starts = append(b.starts, b.starts[len(b.starts)-1]+len(b.buffer))
	return b.found.add(b.buffer...)
}

// addVector adds the vector of the next document; a zero one if it has none and others have.
func (b *Builder) addVector(v []float32) error {
	s, i := b.s, len(b.groups)
	if v != nil && s.dims == 0 {
		s.dims = len(v)
		rows, err := newColumn[float32](b.path, b.s.Len()*s.dims)
		if b.rows = rows; err != nil {
			return err
		}
		b.sum = make([]float32, s.dims)
		// the documents before this one had no vector
		if err := rows.add(make([]float32, i*s.dims)...); err != nil {
			return err
		}
	}
	if v != nil && len(v) != s.dims {
		return &tool.Error{
			Code: tool.Invalid, Op: "build index",
			Msg:  fmt.Sprintf("vector of %s has %d dimensions, others %d", s.set.All()[i].ID(), len(v), s.dims),
			Hint: "re-embed the catalogue with one model",
		}
	}
	enabled := !s.set.All()[i].Disabled
	if enabled {
		b.enabled++
	}
	if s.dims == 0 {
		return nil
	}
	if v == nil {
		return b.rows.add(make([]float32, s.dims)...)
	}
	if enabled {
		vector.Axpy(b.sum, v, 1)
	}
	return b.rows.add(v...)
}

// finish makes all that can only be made once all documents are there.
func (b *Builder) finish() error {
	s := b.s
	if len(b.groups) != s.Len() {
		return &tool.Error{Code: tool.Invalid, Op: "build index", Msg: fmt.Sprintf("%d tools but %d documents",
			s.Len(), len(b.groups))}
	}
	s.words = newDictionary(b.terms)
	b.terms = nil
	if err := errors.Join(b.arrangePostings(), b.addCoarse(), b.arrangeLandmarks()); err != nil {
		return err
	}
	s.groupDuplicates(b.groups)
	return nil
}

// Snapshot returns the index of all documents, which were kept in memory.
func (b *Builder) Snapshot() (*Snapshot, error) {
	if err := b.finish(); err != nil {
		return nil, err
	}
	s := b.s
	s.posts, s.marks, s.near = b.posts.list, b.marks.list, b.near.list
	if b.rows != nil {
		s.rows = b.rows.list
	}
	s.cluster = sync.OnceValues(s.fillCollection)
	return s, nil
}

// Image returns what Snapshot.Image of the index would, as sections of a flat file.
func (b *Builder) Image() ([]flatfile.Section, error) {
	if err := b.finish(); err != nil {
		return nil, err
	}
	small, err := b.s.Image()
	if err != nil {
		return nil, err
	}
	out := flatfile.Parts(small...)
	out[imagePosts], out[imageMarks], out[imageNear] = b.posts.section(), b.marks.section(), b.near.section()
	if b.rows != nil {
		out[imageRows] = b.rows.section()
	}
	return out, nil
}

// postsAtOnce is how many postings a Builder arranges in memory at once where they are kept in files: 48 MB.
const postsAtOnce = 4 << 20

// endOfRound returns where the lists end that are arranged in memory together with the first one. At has the beginning
// of each list and the end of the last.
func (b *Builder) endOfRound(at []uint32, first int) int {
	last := first + 1
	for last+1 < len(at) && (b.path == "" || at[last+1]-at[first] <= b.atOnce) {
		last++
	}
	return last
}

// arrangePostings turns postings by document into lists by term. A term is as rare as the tools that have it, by
// tooled; what a server says of itself makes no word common unless no tool has it.
func (b *Builder) arrangePostings() error {
	s, terms, k1 := b.s, len(b.tooled), b.o.K1
	s.listAt, s.idf = make([]uint32, terms+1), make([]float32, terms)
	n := float64(s.Len())
	for id, uses := range b.uses {
		s.idf[id] = idfOf(float64(cmp.Or(b.tooled[id], uses)), n)
		s.listAt[id+1] = s.listAt[id] + uses
	}
	// BM25F saturates the sum over the fields once; the impact then includes the rarity of the term.
	saturated := func(id int32, w float32) float32 { return s.idf[id] * w * (k1 + 1) / (w + k1) }
	var err error
	if b.posts, err = newColumn[posting](b.path, 0); err != nil {
		return err
	}
	next := slices.Clone(s.listAt)
	// Each round arranges as many terms as fit in memory and reads all postings for them. In memory one round is
	// enough.
	var part []posting
	for first := 0; first < terms; {
		last := b.endOfRound(s.listAt, first)
		size := int(s.listAt[last] - s.listAt[first])
		part = slices.Grow(part[:0], size)[:size] // each place is written
		doc, at := 0, 0
		err := b.found.each(1, func(found []posting) error {
			for _, p := range found {
				for at == b.starts[doc+1] {
					doc++
				}
				at++
				if id := p.doc; int(id) >= first && int(id) < last {
					part[next[id]-s.listAt[first]] = posting{int32(doc), saturated(id, p.impact), saturated(id, p.own)}
					next[id]++
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if b.path == "" {
			b.posts.list = part
			return nil
		}
		if err := b.posts.add(part...); err != nil {
			return err
		}
		first = last
	}
	return nil
}

// arrangeLandmarks lays out by landmark what documents resemble.
func (b *Builder) arrangeLandmarks() error {
	s := b.s
	uses := make(map[int32]uint32, s.Len())
	err := b.marks.each(1, func(part []Landmark) error {
		for _, l := range part {
			uses[l.Point]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	for point := range uses {
		s.points = append(s.points, point)
	}
	slices.Sort(s.points)
	s.nearAt = make([]uint32, len(s.points)+1)
	place := make(map[int32]int, len(s.points))
	for k, point := range s.points {
		s.nearAt[k+1] = s.nearAt[k] + uses[point]
		place[point] = k
	}
	if b.near, err = newColumn[landmarkTool](b.path, 0); err != nil {
		return err
	}
	next := slices.Clone(s.nearAt)
	var part []landmarkTool
	for first := 0; first < len(s.points); {
		last := b.endOfRound(s.nearAt, first)
		size := int(s.nearAt[last] - s.nearAt[first])
		part = slices.Grow(part[:0], size)[:size] // each place is written
		doc, at := 0, uint32(0)
		err := b.marks.each(1, func(marks []Landmark) error {
			for _, l := range marks {
				for at == s.markAt[doc+1] {
					doc++
				}
				at++
				if k := place[l.Point]; k >= first && k < last {
					part[next[k]-s.nearAt[first]] = landmarkTool{int32(doc), l.Like}
					next[k]++
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if b.path == "" {
			b.near.list = part
			return nil
		}
		if err := b.near.add(part...); err != nil {
			return err
		}
		first = last
	}
	return nil
}

// cloneTerm returns a term that does not keep its document in memory.
func cloneTerm(t, path string) string {
	if path == "" {
		return t
	}
	return string([]byte(t))
}
