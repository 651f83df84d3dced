package main

import (
	"cmp"
	"slices"

	"tooldex/eval/inspect"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// inspector gives what looks at the tools of l, with the requests that ought to find them.
func (l *labelled) inspector() *inspect.Inspector {
	var analyzer knowledge.Analyzer
	r := l.requests()
	return inspect.New(inspect.Options{
		Set: l.catalog.Set(), Searcher: l.engine, Requests: r.of,
		Words: func(text string, yield func(word, term string)) {
			var terms []string
			knowledge.Words(text, func(w string) {
				for _, term := range analyzer.Terms(terms[:0], w) {
					yield(w, term)
				}
			})
		},
	})
}

// requests are what tools ought to be found by.
type requests struct {
	labelled map[tool.ID][]inspect.Request
	kinds    map[tool.ID][]int // the archetypes whose requests a tool borrows, likest first
	base     *knowledge.Base
}

// What is borrowed for a look at a tool: a few requests of few archetypes, and only of those that are really like it. They
// are borrowed by the likest tool of the catalogue alone, or one request would be claimed by all tools of a kind.
const (
	leastLike     = .55
	leastLent     = .5
	mostKinds     = 2
	perKind       = 4
	mostRequested = 40 // labelled requests of one tool, so that a tool with thousands does not hold up the others
)

func (l *labelled) requests() *requests {
	r := &requests{labelled: map[tool.ID][]inspect.Request{}, kinds: map[tool.ID][]int{}, base: l.model.Base}
	ids := map[string][]tool.ID{}
	for _, t := range l.set.Tools {
		label := l.set.Label(t.ID())
		ids[label] = append(ids[label], t.ID())
	}
	for i := range l.set.Cases {
		c := &l.set.Cases[i]
		for _, label := range c.Relevant {
			for _, id := range ids[label] {
				if len(r.labelled[id]) < mostRequested {
					r.labelled[id] = append(r.labelled[id], inspect.Request{ID: c.ID, Text: c.Query, From: inspect.Labelled})
				}
			}
		}
	}
	r.borrow(l.index.Current())
	return r
}

// borrow gives each archetype to the tool that is most like it.
func (r *requests) borrow(snap *index.Snapshot) {
	if r.base == nil || snap == nil {
		return
	}
	type lent struct {
		doc  int
		like float32
	}
	likest := map[int32]lent{}
	all := snap.Set().All()
	for i, t := range all {
		if t.Disabled {
			continue
		}
		for _, l := range snap.Landmarks(i) {
			if had, ok := likest[l.Point]; l.Lent >= leastLent && l.Like >= leastLike && (!ok || had.like < l.Like) {
				likest[l.Point] = lent{i, l.Like}
			}
		}
	}
	for point, by := range likest {
		id := all[by.doc].ID()
		r.kinds[id] = append(r.kinds[id], int(point))
	}
	for _, kinds := range r.kinds {
		slices.SortFunc(kinds, func(a, b int) int {
			return cmp.Or(cmp.Compare(likest[int32(b)].like, likest[int32(a)].like), cmp.Compare(a, b))
		})
	}
}

// of lists the requests that ought to find a tool, those that people answer for first.
func (r *requests) of(t *tool.Tool) []inspect.Request {
	out := slices.Clone(r.labelled[t.ID()])
	for _, u := range t.Utterances {
		from := inspect.Declared
		if u.From == tool.Borrowed {
			from = inspect.Borrowed
		}
		out = append(out, inspect.Request{Text: u.Text, From: from})
	}
	for _, e := range t.Examples {
		if e.Description != "" {
			out = append(out, inspect.Request{Text: e.Description, From: inspect.Example})
		}
	}
	kinds := r.kinds[t.ID()]
	for _, k := range kinds[:min(mostKinds, len(kinds))] {
		h, err := r.base.Head(k)
		if err != nil {
			continue // the base is of another version than what is stored: nothing is borrowed from it
		}
		asked := h.Utterances
		if len(asked) == 0 && h.Title != "" {
			asked = []string{h.Title}
		}
		for _, text := range spread(asked, perKind) {
			out = append(out, inspect.Request{Text: text, From: inspect.Borrowed})
		}
	}
	return out
}

// spread picks n of a list, the first and the last among them: archetypes list requests from near their wording to far from it.
func spread(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	out := make([]string, n)
	for i := range out {
		out[i] = list[i*(len(list)-1)/(n-1)]
	}
	return out
}
