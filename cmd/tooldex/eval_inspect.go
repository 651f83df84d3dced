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
		Set: l.Catalog.Set(), Searcher: l.Engine, Requests: r.of,
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
	borrowed map[tool.ID][]inspect.Request
}

// What is borrowed for a look at a tool: a few requests of few archetypes, and only of those that are really like it.
// They are borrowed by the likest tool of the catalogue alone, or one request would be claimed by all tools of a kind.
const (
	leastLike     = .72
	leastLent     = .5
	mostKinds     = 2
	perKind       = 4
	mostRequested = 40 // labelled requests of one tool, so that a tool with thousands does not hold up the others
)

func (l *labelled) requests() *requests {
	r := &requests{labelled: map[tool.ID][]inspect.Request{}, borrowed: map[tool.ID][]inspect.Request{}}
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
					r.labelled[id] = append(r.labelled[id], inspect.Request{
						ID: c.ID, Text: c.Query,
						From: inspect.Labelled,
					})
				}
			}
		}
	}
	if snap := l.Index.Current(); snap != nil && l.Ranking.Base != nil {
		r.borrow(snap, l.Ranking.Base)
	}
	return r
}

// borrow gives each tool the requests of the archetypes that no other tool is more like.
func (r *requests) borrow(snap *index.Snapshot, base *knowledge.Base) {
	all := snap.Set().All()
	likest := likestTools(snap)
	kinds := make([][]int, len(all)) // the archetypes of each tool, likest first
	for point, by := range likest {
		kinds[by.doc] = append(kinds[by.doc], int(point))
	}
	var read, of []int // archetypes, and whose they are
	for doc, points := range kinds {
		slices.SortFunc(points, func(a, b int) int {
			return cmp.Or(cmp.Compare(likest[int32(b)].like, likest[int32(a)].like), cmp.Compare(a, b))
		})
		for _, point := range points[:min(mostKinds, len(points))] {
			read, of = append(read, point), append(of, doc)
		}
	}
	heads, err := base.Heads(read)
	if err != nil {
		return // the base is of another version than what is stored: nothing is borrowed from it
	}
	for i, h := range heads {
		asked := h.Utterances
		if len(asked) == 0 && h.Title != "" {
			asked = []string{h.Title}
		}
		id := all[of[i]].ID()
		for _, text := range spread(asked, perKind) {
			r.borrowed[id] = append(r.borrowed[id], inspect.Request{Text: text, From: inspect.Borrowed})
		}
	}
}

// likeness is the tool that is likest to an archetype, by its place in the snapshot.
type likeness struct {
	doc  int
	like float32
}

func likestTools(snap *index.Snapshot) map[int32]likeness {
	out := map[int32]likeness{}
	for i, t := range snap.Set().All() {
		if t.Disabled {
			continue
		}
		for _, l := range snap.Landmarks(i) {
			if had, ok := out[l.Point]; l.Lent >= leastLent && l.Like >= leastLike && (!ok || had.like < l.Like) {
				out[l.Point] = likeness{i, l.Like}
			}
		}
	}
	return out
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
	return append(out, r.borrowed[t.ID()]...)
}

// spread picks n of a list, the first and the last among them: archetypes list requests from near their wording to far
// from it.
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
