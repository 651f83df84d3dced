package search

import (
	"context"
	"math"
	"slices"

	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// The weights of the fusion, as measured on the labelled sets by the quality run.
const (
	semanticWeight  = 1.25 // of the cosine, beside 1 for words
	expansionWeight = .15  // of a thesaurus word, beside 1 for a word of the request
	wholeShare      = .3   // of the whole request's score in that of a part
)

const (
	// factor for a tool whose effect contradicts the action that the request begins with
	oppositeAction = .94
	maxExpansions  = 12
	maxQueryTerms  = 64
	exactBonus     = 10 // lifts a tool whose name the request spells above all that can be fused
)

// scratch holds the buffers of one search, indexed by document unless said otherwise. It belongs to one goroutine.
// Buffers are kept between searches: a search over a million tools would otherwise allocate about 20 MB.
type scratch struct {
	words, own, cosines, fused []float32
	lifts                      []float32 // what use added to fused; empty where nothing can be learned
	best                       []float32 // fused, of the sentence that a tool serves best
	whole                      []float32 // fused, of the request whose parts are ranked
	allowed                    []bool    // matching, or those of setFacts: not to be changed
	matching                   []bool    // what passes the filter of a search that is not wide
	wide                       bool      // all enabled tools are allowed, and no others
	count                      int       // how many are allowed, if the search is wide
	ranked                     []bool    // the same with only the best of each family
	excluded                   []bool    // what only the caller's own choices leave out
	permitted                  []bool    // what a caller with limited permissions may know of; valid only if limited
	limited                    bool
	// how many are permitted
	among       int
	order       []int32
	refined     []int32 // tools whose cosines were made exact last
	best2n      []scoredTool
	named       []int
	terms       []string
	vector      []float32
	analyzer    knowledge.Analyzer
	near        knowledge.Scratch
	failed      map[string]bool     // servers that do not run; nil until asked for
	serverTerms map[string][]string // words of a server's name that the request has
}

// resizeFor gives every array a place for each of n documents and resets what is cached per search. The arrays keep old
// contents: each step that fills one writes all of it.
func (s *scratch) resizeFor(n int) {
	if cap(s.words) < n {
		s.words, s.own, s.cosines, s.fused = make([]float32, n), make([]float32, n), make([]float32, n),
			make([]float32, n)
		s.matching, s.ranked, s.excluded = make([]bool, n), make([]bool, n), make([]bool, n)
	}
	s.words, s.own, s.cosines, s.fused = s.words[:n], s.own[:n], s.cosines[:n], s.fused[:n]
	s.matching, s.ranked, s.excluded = s.matching[:n], s.ranked[:n], s.excluded[:n]
	s.failed, s.limited = nil, false
}

// markAllowed sets s.allowed, where tool i is true if it passes the filter.
func (s *scratch) markAllowed(facts *setFacts, f *tool.Filter) {
	s.wide = len(f.Servers)+len(f.Categories) == 0 && !f.ReadOnly && !f.Disabled && f.Allow == nil
	if s.wide {
		s.allowed, s.count = facts.enabled, facts.count
		return
	}
	s.allowed = s.matching
	for i, t := range facts.set.All() {
		s.allowed[i] = f.Match(t)
	}
}

// request is one ranking to be made.
type request struct {
	snap       *index.Snapshot
	query      *tool.Query
	text       string
	whole      *ranking // ranking of the request that text is a part of; nil for a whole request
	keepScores bool     // store the fused scores in scratch.whole, for ranking parts afterwards
}

// ranking is the outcome for one request. places may be more than the query's limit.
type ranking struct {
	text        string
	terms       []string
	places      []place
	confidence  confidence
	isConfident bool
	advice      *tool.Advice
	degraded    string
}

// place is one position of a ranking: a tool, or one tool on several servers.
type place struct {
	doc     int32   // the one to show
	best    int32   // the one with the highest score
	also    []int32 // the same tool on other servers, best first
	key     int32   // the lowest document of the family, which identifies it
	score   float64
	fused   float64 // before calibration
	rank    float64 // the same with siblingBonus, for bringSiblings
	explain *tool.Explain
}

// firstPlaces returns at most n places, best first.
func (r *ranking) firstPlaces(n int) []place { return r.places[:min(n, len(r.places))] }

// leastDepth is how many places are ranked at least, so that the first ten do not depend on how many are shown.
const leastDepth = clauseTo

// rankTools orders the allowed tools for one request, or for one part of a request whose ranking was kept.
func (e *Engine) rankTools(ctx context.Context, a request, s *scratch) (*ranking, error) {
	if ctx.Err() != nil {
		return nil, timeoutError(ctx)
	}
	if err := e.scoreSentences(ctx, a, s); err != nil {
		return nil, err
	}
	// The order of the steps: score, mix with the whole request or the sentences, apply what was learned, lift named
	// tools, lower deprecated ones, then rank. Each changes s.fused.
	full := e.expandText(a.text)
	r, err := e.scoreTools(ctx, a.snap, a.query.Mode, full, s)
	if err != nil {
		return nil, err
	}
	out := &ranking{text: a.text, terms: r.terms, degraded: r.degraded}
	steer := r.terms
	switch {
	// A part of a request keeps a share of the whole request's scores, since it often lacks the subject that only
	// another part names.
	case a.whole != nil:
		steer = a.whole.terms
		for i, f := range s.whole {
			s.fused[i] += wholeShare * f
		}
	case a.keepScores:
		s.whole = append(s.whole[:0], s.fused...)
	}
	s.addSentenceScores()
	if a.whole == nil {
		clear(s.serverTerms)
	}
	e.addLearned(a, r, s)
	s.named = namedTools(a.snap.Set(), a.text, s.named[:0])
	r.exact = s.addExactBonus()
	s.lowerDeprecated(e.factsOf(a.snap.Set()).deprecations(), a.text)
	depth := max(a.query.Limit, leastDepth)
	if a.keepScores || a.whole != nil {
		depth = max(depth, siblingDepth)
	}
	order := topDocuments(s.fused, s.bestOfDuplicates(a.snap), depth, s.order)
	s.order = order
	j := e.estimateConfidence(a, full, r, order, s)
	out.confidence, out.isConfident = j, j.probability >= leastProbability
	out.places = make([]place, 0, len(order))
	for _, i := range order {
		p := e.placeDuplicates(a.snap, i, steer, s)
		p.score, p.fused = j.toolProbability(s.fused[i]), float64(s.fused[i])
		if a.query.Explain {
			p.explain = e.explainScore(a.snap, r, int(p.doc), s)
		}
		out.places = append(out.places, p)
	}
	// Advice comes last, because it overwrites the scores.
	if !out.isConfident {
		out.advice = e.makeAdvice(a, full, r, j, s)
	}
	return out, nil
}

// expandText replaces words that are recognised by their form, such as addresses, by what they are, and appends English
// words for those of other languages.
func (e *Engine) expandText(text string) string {
	full := knowledge.DescribeForms(text)
	if e.o.Base != nil {
		if english := e.o.Base.Translate(text); english != "" {
			full += " " + english
		}
	}
	return full
}

// scored is the result of one scoring of a request, for the decision and for explanations.
type scored struct {
	terms      []string // the request's own, unique
	known      int      // how many of them some tool has
	expansions []knowledge.Expansion
	maxWords   float32 // highest word score of an allowed tool
	maxOwn     float32 // the same by the tools' own words
	maxCosine  float32
	among      float64   // how many tools are allowed
	mean       float64   // cosine of the request and them
	least      float32   // cosine of a tool that has nothing to do with the request
	vector     []float32 // nil where only words were searched
	asked      knowledge.Effect
	exact      bool // the request spells the name of an allowed tool
	degraded   string
	rough      bool // most cosines are estimates: only those of the best tools are exact
}

// scoreTools fills s.words, s.own, s.cosines and s.fused with the scores of text. The only error is Timeout.
func (e *Engine) scoreTools(ctx context.Context, snap *index.Snapshot, mode tool.Mode, text string, s *scratch) (*scored,
	error,
) {
	r := &scored{}
	// The buffers hold the scores of the previous request.
	clear(s.words)
	clear(s.own)
	clear(s.cosines)
	s.terms = s.analyzer.Terms(s.terms[:0], text)
	slices.Sort(s.terms)
	s.terms = slices.Compact(s.terms)
	r.terms = slices.Clone(s.terms[:min(len(s.terms), maxQueryTerms)])
	if mode != tool.Keyword {
		var err error
		if r.vector, r.degraded, err = e.embedQuery(ctx, snap, text); err != nil {
			return nil, err
		}
		// without a vector the search is degraded, and the cosines stay zero
		if r.vector != nil {
			s.compareVectors(snap, r)
		}
	}
	if mode != tool.Semantic || r.vector == nil {
		e.scoreWords(snap, text, s, r)
	}
	r.asked = s.analyzer.RequestedEffect(trimFillers(text))
	r.fuseScores(snap, s)
	return r, nil
}

// belowMean is by how many standard deviations the cosine of a tool that has nothing to do with a request lies below
// the mean. The lowest cosine itself would depend on one tool, and with it every score.
const belowMean = 2.5

// fuseScores fills s.fused from the other arrays. Ranges are taken over the allowed tools only, so that what a caller
// may not see cannot change its scores.
func (r *scored) fuseScores(snap *index.Snapshot, s *scratch) {
	r.maxWords, r.maxOwn, r.maxCosine = 0, 0, -1
	if r.rough {
		r.fuseRough(snap, s)
		return
	}
	var sum, squares float64
	r.among = 0
	for i, ok := range s.allowed {
		if ok {
			r.maxWords = max(r.maxWords, s.words[i])
			r.maxOwn = max(r.maxOwn, s.own[i])
			r.maxCosine = max(r.maxCosine, s.cosines[i])
			r.among, sum, squares = r.among+1, sum+float64(s.cosines[i]),
				squares+float64(s.cosines[i])*float64(s.cosines[i])
		}
	}
	if r.among > 0 {
		r.mean = sum / r.among
		r.least = float32(r.mean - belowMean*math.Sqrt(max(0, squares/r.among-r.mean*r.mean)))
	}
	r.fuseAll(snap, s)
}

// fuseAll fills s.fused from the other arrays and the ranges in r.
func (r *scored) fuseAll(snap *index.Snapshot, s *scratch) {
	for i := range s.fused {
		s.fused[i] = r.fuseOne(snap, i, s)
	}
}

// fuseOne returns the fused score of document i.
func (r *scored) fuseOne(snap *index.Snapshot, i int, s *scratch) float32 {
	f := r.fuseScore(s.words[i], s.own[i], s.cosines[i])
	if r.asked.Contradicts(knowledge.Effect(snap.Class(i))) {
		f *= oppositeAction
	}
	return f
}

// scoreWords adds the BM25F scores of the request's words and, lighter, of what the thesaurus has for them.
func (e *Engine) scoreWords(snap *index.Snapshot, text string, s *scratch, r *scored) {
	for _, t := range r.terms {
		if share := s.rarityShare(snap, t); share > 0 && snap.AddWordScores(t, share, s.words, s.own) {
			r.known++
		}
	}
	if e.o.Base == nil {
		return
	}
	r.expansions = e.o.Base.Expand(text, maxExpansions, func(stem string) bool {
		// Rare words are expanded, and words that no tool has: those need it most.
		idf, ok := s.termRarity(snap, stem)
		return !ok || idf >= commonIDF
	})
	for _, x := range r.expansions {
		snap.AddWordScores(x.Stem, expansionWeight*x.Weight*s.rarityShare(snap, x.Stem), s.words, nil)
	}
}

// commonIDF is the rarity below which a word of the request is common enough and is not expanded: about one tool in
// three has it.
const commonIDF = 1

// The numbers of different known words up to which a request is short, and from which it is long. A short one hints at
// what a tool does, in words that may only have been lent to it; a long one describes it in many, among them the tool's
// own.
const (
	shortRequest = 7
	longRequest  = 15
)

// fuseScore scales the word and meaning scores by the range they span for this request and adds them. Unlike ranks,
// scores keep how much better one tool is than the next. The longer the request, the more of the word score is that of
// the tool's own words.
func (r *scored) fuseScore(words, own, cosine float32) float32 {
	var f float32
	if r.maxWords > 0 {
		f = words / r.maxWords
	}
	if r.maxOwn > 0 {
		f += r.length() * (own/r.maxOwn - f)
	}
	if r.vector != nil && r.maxCosine > r.least {
		f += semanticWeight * (cosine - r.least) / (r.maxCosine - r.least)
	}
	return f
}

// length returns how long the request is, from 0 for a short one to 1.
func (r *scored) length() float32 {
	return min(1, max(0, float32(r.known-shortRequest)/(longRequest-shortRequest)))
}

// topDocuments returns the n allowed documents with the highest positive scores, best first; ties go by document, that
// is by ID. It appends to buf[:0].
func topDocuments(scores []float32, allowed []bool, n int, buf []int32) []int32 {
	out, least := buf[:0], float32(0)
	for i, x := range scores {
		if x <= least || !allowed[i] {
			continue
		}
		// Insertion into a short sorted list beats sorting all documents. Equal scores stay in document order, since a
		// later document is inserted behind them.
		k, _ := slices.BinarySearchFunc(out, scores[i], func(d int32, s float32) int {
			if scores[d] >= s {
				return -1
			}
			return 1
		})
		if len(out) < n {
			out = append(out, 0)
		}
		copy(out[k+1:], out[k:])
		if out[k] = int32(i); len(out) == n {
			least = scores[out[n-1]]
		}
	}
	return out
}

// markPermitted marks the tools that a caller with limited permissions may know of. From then on rarity is counted
// among those, because the rarity of a word among all tools would reveal what the others are about.
func (s *scratch) markPermitted(set *tool.Set, may func(*tool.Tool) bool) {
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

// termRarity returns the IDF of a word as the caller may see it, and false if no tool that the caller may know of has
// it.
func (s *scratch) termRarity(snap *index.Snapshot, term string) (idf float32, ok bool) {
	if !s.limited {
		return snap.IDF(term)
	}
	return snap.IDFAmong(term, s.permitted, s.among)
}

// rarityShare returns the factor that converts a word's weight from its rarity among all tools to that among the
// permitted ones; 0 for a word that none of these has.
func (s *scratch) rarityShare(snap *index.Snapshot, term string) float32 {
	if !s.limited {
		return 1
	}
	idf, ok := s.termRarity(snap, term)
	if !ok {
		return 0
	}
	all, _ := snap.IDF(term)
	return idf / all
}
