package train

import (
	"math"
	"math/rand/v2"
	"slices"

	"tooldex/embed"
)

// How a batch is put together.
const (
	turns      = 6   // families in a batch
	labelShare = .55 // of the draws are of requests; the others make a request of a tool's own text
	dropName   = .4  // of the requests lose the words of the tool's name
	dropToken  = .1  // of the tokens are left out
	// of the requests for archetypes are answered by other requests for the same tool, not by its text
	mates       = .12
	splitWord   = .04 // of the words are spelled by pieces, so that pieces are learned
	hardShare   = .7  // of the requests that have them bring a hard negative
	withPar     = .5
	withoutName = .1
)

// doc is a tool as rows of the table: name with server, description, parameters.
type doc [3][]int32

// example is a request as rows.
type example struct {
	ids      []int32
	rel, kin []int32
	mates    []int32 // examples for the same tool, if their wording may stand for it
}

// source is a family as rows.
type source struct {
	examples []example
	tools    []int32
	weight   float64
}

// batch is what one step learns from. Query i is answered by document i; the documents after those are hard negatives.
type batch struct {
	queries [][]int32
	docs    []doc
	same    [][]int32 // per query: documents that must not count against it

	ids []int32 // the tool of each document
	rel [][]int32
}

// sampler draws batches. It is a function of the data and its generator alone.
type sampler struct {
	rng      *rand.Rand
	size     int // of a batch
	docs     []doc
	bare     [][]int32 // names without servers
	all      []source
	labelled []source
	apart    [][]int32 // per token: how pieces spell it; nil for what is no word
	words    []int32   // space for thinned texts
}

// newSampler reads all texts. The caller sets the generator before drawing.
func newSampler(c *corpus, s *embed.Static, batch int) *sampler {
	p := &sampler{size: batch, docs: make([]doc, len(c.tools)), bare: make([][]int32, len(c.tools))}
	each(len(c.tools), func(i int) {
		t := c.tools[i]
		p.docs[i] = doc{
			s.AppendTokens(nil, t.server+" "+t.name, nameLimit), s.AppendTokens(nil, t.desc, descLimit),
			s.AppendTokens(nil, t.par, parLimit),
		}
		p.bare[i] = s.AppendTokens(nil, t.name, 16)
	})
	for _, f := range c.families {
		src := source{tools: f.tools, weight: math.Sqrt(float64(len(f.tools)))}
		p.all = append(p.all, src)
		src.examples = make([]example, len(f.requests))
		each(len(f.requests), func(i int) {
			q := f.requests[i]
			src.examples[i] = example{ids: s.AppendTokens(nil, q.text, queryLimit), rel: q.rel, kin: q.kin}
		})
		src.examples = slices.DeleteFunc(src.examples, func(e example) bool { return len(e.ids) == 0 })
		if f.name == "archetypes" {
			src.link()
		}
		src.weight = math.Sqrt(float64(len(src.examples))) * f.weight
		if len(src.examples) > 0 {
			p.labelled = append(p.labelled, src)
		}
	}
	p.apart = spellings(s)
	return p
}

// link notes for each example the others of its tool.
func (s *source) link() {
	of := map[int32][]int32{}
	for i, e := range s.examples {
		of[e.rel[0]] = append(of[e.rel[0]], int32(i))
	}
	for i, e := range s.examples {
		s.examples[i].mates = of[e.rel[0]]
	}
}

// How many rows of each text are read in training; queries shorter than in use, for speed.
const (
	queryLimit = 96
	nameLimit  = 24
	descLimit  = 96
	parLimit   = 64
)

// spellings gives for each word of five letters or more how it would be read if it were not in the table.
func spellings(s *embed.Static) [][]int32 {
	out := make([][]int32, s.Rows())
	each(len(out), func(i int) {
		if w := s.Token(i); len(w) >= 5 && w[0] != '#' {
			out[i] = s.AppendSpelling(nil, w)
		}
	})
	return out
}

// pick chooses a source with the probability of its weight.
func (p *sampler) pick(from []source) *source {
	total := 0.0
	for _, s := range from {
		total += s.weight
	}
	x := p.rng.Float64() * total
	for i := range from {
		if x -= from[i].weight; x < 0 {
			return &from[i]
		}
	}
	return &from[len(from)-1]
}

// next draws a batch, whose slices are valid until the one after it.
func (p *sampler) next(b *batch) {
	b.queries, b.docs, b.ids, b.rel = b.queries[:0], b.docs[:0], b.ids[:0], b.rel[:0]
	p.words = p.words[:0]
	var hard []int32
	for len(b.queries) < p.size {
		if p.rng.Float64() < labelShare {
			src := p.pick(p.labelled)
			for range max(1, p.size/turns) {
				hard = p.request(b, src, hard)
			}
		} else {
			src := p.pick(p.all)
			for range max(1, p.size/turns) {
				p.self(b, src)
			}
		}
	}
	for _, h := range hard {
		b.docs = append(b.docs, doc{p.docs[h][0], p.docs[h][1], nil})
		b.ids = append(b.ids, h)
	}
	b.exclude()
}

// request adds a labelled request, and perhaps a hard negative to the list.
func (p *sampler) request(b *batch, src *source, hard []int32) []int32 {
	e := &src.examples[p.rng.IntN(len(src.examples))]
	j := e.rel[p.rng.IntN(len(e.rel))]
	d := p.docs[j]
	q := e.ids
	if p.rng.Float64() < dropName {
		q = p.without(q, d[0])
	}
	text := doc{d[0], p.thin(d[1]), nil}
	if p.rng.Float64() < withoutName && len(text[1]) > 0 {
		text[0] = nil
	}
	if p.rng.Float64() < withPar {
		text[2] = d[2]
	}
	if len(e.mates) > 0 && p.rng.Float64() < mates {
		if said := p.others(src, e); len(said) > 0 {
			text = doc{nil, said, nil}
		}
	}
	b.add(p.thin(p.split(q)), text, j, e.rel)
	if len(e.kin) > 1 && p.rng.Float64() < hardShare {
		if h := e.kin[p.rng.IntN(len(e.kin))]; h != j {
			hard = append(hard, h)
		}
	}
	return hard
}

// others is one to three other requests for the same tool.
func (p *sampler) others(src *source, e *example) []int32 {
	at := len(p.words)
	for range 1 + p.rng.IntN(3) {
		if o := &src.examples[e.mates[p.rng.IntN(len(e.mates))]]; o != e {
			p.words = append(p.words, o.ids...)
		}
	}
	return p.words[at:]
}

// self makes a request of part of a tool's text, to be answered by the rest of it.
func (p *sampler) self(b *batch, src *source) {
	j := src.tools[p.rng.IntN(len(src.tools))]
	d, name := p.docs[j], p.bare[j]
	if len(d[1]) == 0 || len(name) == 0 {
		return
	}
	var q []int32
	var text doc
	half := max(2, len(d[1])/2)
	switch u := p.rng.Float64(); {
	case u < .35:
		q, text = name, doc{nil, d[1], nil}
	case u < .7:
		q = d[1][:min(24, len(d[1]))]
		if p.rng.Float64() < .6 {
			q = p.without(q, name)
		}
		text = doc{d[0], nil, d[2]}
	default:
		half = min(half, len(d[1]))
		q, text = d[1][:half], doc{nil, d[1][half:], d[2]}
		if p.rng.Float64() < .3 {
			text[0] = d[0]
		}
	}
	if len(text[0])+len(text[1])+len(text[2]) == 0 {
		return
	}
	b.add(p.thin(p.split(q)), text, j, nil)
}

func (b *batch) add(q []int32, d doc, j int32, rel []int32) {
	b.queries, b.docs = append(b.queries, q), append(b.docs, d)
	b.ids, b.rel = append(b.ids, j), append(b.rel, rel)
}

// exclude lists for each query the other documents that answer it too.
func (b *batch) exclude() {
	of := map[int32][]int32{}
	for j, id := range b.ids {
		of[id] = append(of[id], int32(j))
	}
	for len(b.same) < len(b.queries) {
		b.same = append(b.same, nil)
	}
	for i := range b.queries {
		b.same[i] = b.same[i][:0]
		note := func(id int32) {
			for _, j := range of[id] {
				if int(j) != i {
					b.same[i] = append(b.same[i], j)
				}
			}
		}
		note(b.ids[i])
		for _, r := range b.rel[i] {
			if r != b.ids[i] {
				note(r)
			}
		}
	}
}

// without leaves out the tokens of name, if at least two others remain.
func (p *sampler) without(q, name []int32) []int32 {
	at := len(p.words)
	for _, t := range q {
		if !slices.Contains(name, t) {
			p.words = append(p.words, t)
		}
	}
	if len(p.words)-at < 2 {
		return q
	}
	return p.words[at:]
}

// thin leaves out tokens at random, but never all.
func (p *sampler) thin(q []int32) []int32 {
	if len(q) < 2 {
		return q
	}
	at := len(p.words)
	for _, t := range q {
		if p.rng.Float64() >= dropToken {
			p.words = append(p.words, t)
		}
	}
	if len(p.words) == at {
		return q
	}
	return p.words[at:]
}

// split spells some words by their pieces.
func (p *sampler) split(q []int32) []int32 {
	at := len(p.words)
	for _, t := range q {
		if a := p.apart[t]; a != nil && p.rng.Float64() < splitWord {
			p.words = append(p.words, a...)
		} else {
			p.words = append(p.words, t)
		}
	}
	return p.words[at:]
}
