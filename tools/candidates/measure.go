package main

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"time"

	"tooldex/catalog"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/search"
	"tooldex/tool"
)

// shown is how many tools of an answer are looked at.
const shown = 10

// subject is a catalogue with requests, and what a search answers them.
type subject struct {
	snap     *index.Snapshot
	model    catalog.Model
	terms    []string
	items    []item
	requests []request
}

// request is a request with the tools that a search of the whole catalogue shows, and what engines are asked for.
type request struct {
	texts []string // that a search scores: the whole, its sentences and parts
	docs  []int32
	asks  []ask // by text
}

// answer searches the whole catalogue for each of texts, and keeps what it finds.
func (s *subject) answer(ctx context.Context, texts []string) (times []time.Duration, err error) {
	current := &index.Index{}
	current.Swap(s.snap)
	e := search.New(search.Options{
		Lookup: current, Embedder: s.model.Embedder, Base: s.model.Base, Map: s.model.Encoder,
	})
	s.requests = nil
	for _, text := range texts {
		start := time.Now()
		res, err := e.Search(ctx, tool.Query{Text: text, Limit: shown, Detail: tool.DetailName})
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
		r := request{texts: scored(text, res)}
		for _, h := range res.Tools {
			r.docs = append(r.docs, placeOf(s.snap.Set(), h.ID))
		}
		s.requests = append(s.requests, r)
	}
	return times, nil
}

// placeOf returns the number of a tool in the index: its place by ID.
func placeOf(set *tool.Set, id tool.ID) int32 {
	i, _ := slices.BinarySearchFunc(set.All(), id, func(t *tool.Tool, id tool.ID) int { return cmp.Compare(t.ID(), id) })
	return int32(i)
}

// prepareAsks makes what engines are asked for each request.
func (s *subject) prepareAsks(ctx context.Context) error {
	ids := make(map[string]int32, len(s.terms))
	for i, t := range s.terms {
		ids[t] = int32(i)
	}
	for i := range s.requests {
		r := &s.requests[i]
		for _, text := range r.texts {
			a, err := s.asked(ctx, text, ids)
			if err != nil {
				return err
			}
			r.asks = append(r.asks, a)
		}
	}
	return nil
}

// sentenceEnd stands between the sentences of a request.
var sentenceEnd = regexp.MustCompile(`[.!?;]+\s+|\n+`)

// scored returns the texts that a search scores for a request: the whole, its sentences, and what it found to be parts.
func scored(text string, res *tool.Result) []string {
	out := []string{text}
	if sentences := sentenceEnd.Split(text, -1); len(sentences) > 1 {
		out = append(out, sentences...)
	}
	for _, g := range res.Groups {
		out = append(out, g.Query)
	}
	return out
}

// The thesaurus' words of a request, as package search weighs them.
const (
	expansions      = 12
	expansionWeight = .15
)

// asked returns what an engine is asked for a text.
func (s *subject) asked(ctx context.Context, text string, ids map[string]int32) (ask, error) {
	full := knowledge.DescribeForms(text)
	if english := s.model.Base.Translate(text); english != "" {
		full += " " + english
	}
	v, err := s.model.Embedder.Queries(ctx, []string{full})
	if err != nil {
		return ask{}, err
	}
	a := ask{vector: v[0]}
	add := func(term string, weight float32) {
		if id, ok := ids[term]; ok {
			rarity, _ := s.snap.IDF(term)
			a.words = append(a.words, word{id: id, text: term, weight: weight, rarity: rarity})
		}
	}
	terms := new(knowledge.Analyzer).Terms(nil, full)
	slices.Sort(terms)
	for _, t := range slices.Compact(terms) {
		add(t, 1)
	}
	for _, x := range s.model.Base.Expand(full, expansions, func(stem string) bool {
		rarity, ok := s.snap.IDF(stem)
		return !ok || rarity >= 1
	}) {
		add(x.Stem, expansionWeight*x.Weight)
	}
	return a, nil
}

// found is what an engine gives for all requests.
type found struct {
	times   []time.Duration // of one request, with all of its texts and both branches
	vectors [][][]int32     // by request and text, best first
	words   [][][]int32
}

// ask has an engine answer all requests, n tools for each text and branch.
func (s *subject) ask(ctx context.Context, e engine, n int) (*found, error) {
	out := &found{}
	for _, r := range s.requests {
		start := time.Now()
		var vectors, words [][]int32
		for i := range r.asks {
			v, err := e.byVector(ctx, &r.asks[i], n)
			if err != nil {
				return nil, err
			}
			w, err := e.byWords(ctx, &r.asks[i], n)
			if err != nil {
				return nil, err
			}
			vectors, words = append(vectors, v), append(words, w)
		}
		out.times = append(out.times, time.Since(start))
		out.vectors, out.words = append(out.vectors, vectors), append(out.words, words)
	}
	return out, nil
}

// shares returns how much of the first ten tools of the searches, and of their first ones, is among the first n
// candidates by vector and the first m by words.
func (s *subject) shares(f *found, n, m int) (ten, first float64) {
	for i, r := range s.requests {
		have := map[int32]bool{}
		for _, one := range []struct {
			lists [][]int32
			n     int
		}{{f.vectors[i], n}, {f.words[i], m}} {
			for _, list := range one.lists {
				for _, d := range list[:min(one.n, len(list))] {
					have[d] = true
				}
			}
		}
		hits := 0
		for _, d := range r.docs {
			if have[d] {
				hits++
			}
		}
		ten += float64(hits) / float64(max(1, len(r.docs)))
		if len(r.docs) == 0 || have[r.docs[0]] {
			first++
		}
	}
	n = len(s.requests)
	return ten / float64(n), first / float64(n)
}

// recall returns how much of the n best of exact an engine's lists have.
func recall(got, exact [][][]int32, n int) float64 {
	var have, all float64
	for i := range exact {
		for k, list := range exact[i] {
			list = list[:min(n, len(list))]
			all += float64(len(list))
			for _, d := range got[i][k][:min(n, len(got[i][k]))] {
				if slices.Contains(list, d) {
					have++
				}
			}
		}
	}
	return have / max(1, all)
}

// highest returns the places of the n highest positive scores, highest first.
func highest(scores []float32, n int) []int32 {
	var all []int32
	for i, s := range scores {
		if s > 0 {
			all = append(all, int32(i))
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return all[:min(n, len(all))]
}

// percentile returns what p percent of the times do not exceed.
func percentile(times []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}
