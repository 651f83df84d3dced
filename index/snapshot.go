package index

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	chromem "github.com/philippgille/chromem-go"

	"tooldex/internal/vector"
	"tooldex/tool"
)

// Field is a part of a document whose words are weighed alike.
type Field int

// The fields, and what belongs into each.
const (
	Name   Field = iota // the tool's name, title and server
	Text                // summary and description
	Params              // names and descriptions of parameters
	Labels              // category, keywords and synonyms
	Said                // declared and learned utterances, examples
	Lent                // words lent by archetypes
	Server              // what the server says of itself, alike for all of its tools
	NumFields
)

// Term is a word in index form with its count in a field; lent words have fractional counts.
type Term struct {
	Text   string
	Weight float32
}

// Doc is one tool as the index sees it.
type Doc struct {
	Fields [NumFields][]Term
	Vector []float32 // of unit length; nil for a tool that only words find
	// Class is a class of operations in the caller's terms, below 128; the index only keeps it.
	Class uint8
	// Landmarks are points outside the catalogue, such as archetypes, that the tool resembles.
	Landmarks []Landmark
	// DuplicateGroup is a number that documents share which are one tool, offered by several servers; 0 for a tool that
	// has no twin.
	DuplicateGroup int32
	// Copy marks a tool that a server has copied from another: it comes behind the others of its group.
	Copy bool
}

// Landmark says how like a point outside the catalogue is, from 0 to 1, and by what weight it has lent its words.
type Landmark struct {
	Point int32
	Like  float32
	Lent  float32
}

// Options tune BM25F. The zero value means the defaults.
type Options struct {
	K1     float32            // saturation; 0 means 1.2
	Weight [NumFields]float32 // of each field; all zero means the defaults
	Length [NumFields]float32 // b: how much a field's length counts; used with Weight
	Model  string             // what made the vectors, for Snapshot.Model; "" where it is not needed
}

// The defaults of BM25F (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009): name, text and params as
// measured on the labelled sets, the rest between them by what they are.
var (
	defaultWeight = [NumFields]float32{Name: 2, Text: 1, Params: .4, Labels: .8, Said: .8, Lent: .5, Server: .2}
	defaultLength = [NumFields]float32{Name: .5, Text: .75, Params: .75, Labels: .5, Said: .75, Lent: .75, Server: .75}
)

// withDefaults sets the constants of BM25F. Weights are all given or all default: one zero field is a choice.
func (o Options) withDefaults() Options {
	if o.K1 == 0 {
		o.K1 = 1.2
	}
	if o.Weight == ([NumFields]float32{}) {
		o.Weight, o.Length = defaultWeight, defaultLength
	}
	return o
}

// Snapshot is an immutable index of the tools of one tool.Set; document i is the i-th tool by ID. All lists of one kind
// lie one after the other in one array, so that a snapshot can be used where it lies in a file. The list of place k
// then reaches from at[k] to at[k+1].
type Snapshot struct {
	set     *tool.Set
	words   dictionary
	listAt  []uint32 // of postings, by term
	posts   []posting
	idf     []float32 // by term
	dims    int
	model   string
	rows    []float32 // dims floats a document; zero rows for documents without a vector; nil without vectors
	coarse  coarse    // empty in a small snapshot
	markAt  []uint32  // of marks, by document
	marks   []Landmark
	points  []int32  // the landmarks that documents resemble, sorted
	nearAt  []uint32 // of near, by the place in points
	near    []landmarkTool
	classes []uint8 // by document
	// duplicateGroups are the documents that are one tool, parts of groupDocs; family is the place of a document's own,
	// plus one, and nil without families.
	duplicateGroups [][]int32
	groupAt         []uint32
	groupDocs       []int32
	family          []int32
	cluster         func() (*chromem.Collection, error)
	lengths         Lengths // by which the documents were weighed
	// layers are set in a snapshot that Layer made; it then has no lists of terms, vectors and landmarks of its own.
	layers *layers
}

// landmarkTool is a document that resembles a landmark.
type landmarkTool struct {
	doc  int32
	like float32
}

// posting is one document that has a term.
type posting struct {
	doc    int32
	impact float32 // idf times saturated weight: what the term adds to the document's score
	own    float32 // the same without what was lent; serverOnly where only the server's text has the term
}

// serverOnly is a zero that marks a posting which does not count for the rarity of its term.
func serverOnly() float32 { return float32(math.Copysign(0, -1)) }

// isServerOnly reports whether only what the server says of itself has the term.
func (p *posting) isServerOnly() bool { return math.Signbit(float64(p.own)) }

// Build makes a Snapshot of set, whose i-th tool by ID is described by docs[i], of which it keeps nothing. It returns
// an Invalid error if the numbers differ or a vector has another width than the first.
func Build(set *tool.Set, docs []Doc, o Options) (*Snapshot, error) {
	if set.Len() != len(docs) {
		return nil, &tool.Error{Code: tool.Invalid, Op: "build index", Msg: fmt.Sprintf("%d tools but %d documents",
			set.Len(), len(docs))}
	}
	var l Lengths
	for i := range docs {
		l.Add(&docs[i])
	}
	b, err := NewBuilder(set, l, o, "")
	if err != nil {
		return nil, err
	}
	for i := range docs {
		if err := b.Add(&docs[i]); err != nil {
			return nil, err
		}
	}
	return b.Snapshot()
}

// fieldLength is the length of a field in BM25F: the sum of the weights of its terms.
func fieldLength(terms []Term) (n float32) {
	for _, t := range terms {
		n += t.Weight
	}
	return n
}

// postings returns the list of a term, and false if no document has it.
func (s *Snapshot) postings(term string) (list []posting, ok bool) {
	id, ok := s.words.find(term)
	if !ok {
		return nil, false
	}
	return s.posts[s.listAt[id]:s.listAt[id+1]], true
}

// vectorOf returns the vector of document i, all zero if it has none. It shares memory with the snapshot.
func (s *Snapshot) vectorOf(i int) []float32 {
	if s.layers != nil {
		return s.layers.vectorOf(i)
	}
	return s.rows[i*s.dims : (i+1)*s.dims : (i+1)*s.dims]
}

// Set returns the tools that were indexed.
func (s *Snapshot) Set() *tool.Set { return s.set }

// Len returns the number of documents.
func (s *Snapshot) Len() int { return s.set.Len() }

// Dims returns the width of the vectors, or 0 if there are none.
func (s *Snapshot) Dims() int { return s.dims }

// Model returns what made the vectors, as it was given to Build.
func (s *Snapshot) Model() string { return s.model }

// Landmarks returns what document i resembles, as it was given to Build. The slice is shared and must not be changed.
func (s *Snapshot) Landmarks(i int) []Landmark {
	if s.layers != nil {
		of, k := s.layers.locate(i)
		return of.s.Landmarks(k)
	}
	return s.marks[s.markAt[i]:s.markAt[i+1]]
}

// Class returns the class of document i, as it was given to Build.
func (s *Snapshot) Class(i int) uint8 { return s.classes[i] &^ copyMark }

// copyMark is the bit of a class that marks a copy.
const copyMark = 1 << 7

// IsCopy reports whether document i was marked as a copy of another server's tool.
func (s *Snapshot) IsCopy(i int) bool { return s.classes[i]&copyMark != 0 }

// Resemblance returns how like a landmark the likest of the allowed documents is; 0 if none resembles it.
func (s *Snapshot) Resemblance(landmark int32, allowed []bool) (like float32) {
	if s.layers != nil {
		return s.layers.resemblance(landmark, allowed)
	}
	k, ok := slices.BinarySearch(s.points, landmark)
	if !ok {
		return 0
	}
	for _, p := range s.near[s.nearAt[k]:s.nearAt[k+1]] {
		if allowed[p.doc] {
			like = max(like, p.like)
		}
	}
	return like
}

// IDF returns how rare a term is: ln(1 + (N-df+.5)/(df+.5)), and false if no document has it.
func (s *Snapshot) IDF(term string) (float32, bool) {
	if s.layers != nil {
		t, ok := s.layers.find(term)
		return t.idf, ok
	}
	id, ok := s.words.find(term)
	if !ok {
		return 0, false
	}
	return s.idf[id], true
}

// IDFAmong returns how rare a term is among n documents, those that are true in these, and false if none of them has
// it.
func (s *Snapshot) IDFAmong(term string, these []bool, n int) (float32, bool) {
	if s.layers != nil {
		return s.layers.rarityAmong(term, these, n)
	}
	list, ok := s.postings(term)
	if !ok {
		return 0, false
	}
	df := 0
	for _, p := range list {
		if these[p.doc] {
			df++
		}
	}
	return idfOf(float64(df), float64(n)), df > 0
}

// idfOf is the inverse document frequency of a term that df of n documents have. It is never negative.
func idfOf(df, n float64) float32 { return float32(math.Log(1 + (n-df+.5)/(df+.5))) }

// HasTerm reports whether any of the allowed documents has a term.
func (s *Snapshot) HasTerm(term string, allowed []bool) bool {
	if s.layers != nil {
		return s.layers.hasTerm(term, allowed)
	}
	list, _ := s.postings(term)
	return slices.ContainsFunc(list, func(p posting) bool { return allowed[p.doc] })
}

// AddWordScores adds weight times each document's BM25F impact of term to scores, and to own what the term adds without
// lent words. Both have Len entries; own may be nil. It reports whether any document has the term.
func (s *Snapshot) AddWordScores(term string, weight float32, scores, own []float32) bool {
	if s.layers != nil {
		return s.layers.addWordScores(term, weight, scores, own)
	}
	list, ok := s.postings(term)
	if !ok {
		return false
	}
	for _, p := range list {
		scores[p.doc] += weight * p.impact
	}
	if own != nil {
		for _, p := range list {
			own[p.doc] += weight * p.own
		}
	}
	return true
}

// TermImpact returns what term adds to one document's score at weight 1.
func (s *Snapshot) TermImpact(term string, doc int) float32 {
	impact, _ := s.TermImpacts(term, doc)
	return impact
}

// TermImpacts returns what TermImpact does, and the same without lent words.
func (s *Snapshot) TermImpacts(term string, doc int) (impact, own float32) {
	if s.layers != nil {
		return s.layers.termImpacts(term, doc)
	}
	list, _ := s.postings(term)
	if k, found := slices.BinarySearchFunc(list, int32(doc), func(p posting, d int32) int {
		return int(p.doc - d)
	}); found {
		return list[k].impact, list[k].own
	}
	return 0, 0
}

// Cosines writes the cosine of q and each document's vector into scores, which has Len entries. q must have unit length
// and Dims entries; a document without a vector gets 0.
func (s *Snapshot) Cosines(q, scores []float32) {
	if s.dims == 0 || len(q) != s.dims {
		clear(scores)
		return
	}
	if s.layers != nil {
		s.layers.cosines(q, scores)
		return
	}
	for i := range scores {
		scores[i] = vector.Dot(q, s.rows[i*s.dims:(i+1)*s.dims])
	}
}

// Neighbour is a document near another.
type Neighbour struct {
	Doc    int
	Cosine float32
}

// Neighbours returns the n documents most like document i by vector, best first and ties by ID, without i itself. It is
// answered by chromem over the vectors that Cosines scans. A document without a vector has no neighbours and is
// nobody's. When ctx ends first, the error is a Timeout.
func (s *Snapshot) Neighbours(ctx context.Context, i, n int) ([]Neighbour, error) {
	if s.dims == 0 || n <= 0 || i < 0 || i >= s.Len() || isZero(s.vectorOf(i)) {
		return nil, nil
	}
	n = min(n, s.Len())
	c, err := s.cluster()
	if err != nil {
		return nil, err
	}
	return s.queryCollection(ctx, c, s.vectorOf(i), n, i)
}

// Index holds the current Snapshot. The zero Index holds none.
type Index struct{ current atomic.Pointer[Snapshot] }

// Current returns the snapshot of the latest Swap, or nil before the first.
func (x *Index) Current() *Snapshot { return x.current.Load() }

// Swap makes s current. Searches that began on the former snapshot end on it.
func (x *Index) Swap(s *Snapshot) { x.current.Store(s) }
