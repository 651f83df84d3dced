package service

import (
	"cmp"
	"slices"

	"tooldex/eval"
	"tooldex/eval/inspect"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// NewInspector returns an inspector of the tools of the service, with the requests that should find them: those of a
// labelled set, and those of the archetypes that resemble them most. The service must be opened ToSearch.
func (s *Service) NewInspector(set *eval.Dataset) *inspect.Inspector {
	var analyzer knowledge.Analyzer
	r := s.knownRequests(set)
	return inspect.New(inspect.Options{
		Set: s.Catalog.Set(), Searcher: s.Engine, Requests: r.of,
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

// AdviseMissed says of each missed request of a report over a set what would help. The service must be opened ToSearch.
func (s *Service) AdviseMissed(r *eval.Report, set *eval.Dataset) {
	in := s.NewInspector(set)
	for i := range r.Cases {
		o := &r.Cases[i]
		if o.Missed() == "" {
			continue
		}
		query, labels, found := o.MissedRequest()
		var wanted []tool.ID
		for _, label := range labels {
			wanted = append(wanted, set.IDs(label)...)
		}
		var first tool.ID
		if ids := set.IDs(found); len(ids) > 0 {
			first = ids[0]
		}
		o.Help = in.Remedy(query, wanted, first)
	}
}

// knownRequests are requests that should find tools, by the tool. It is read-only once it was built.
type knownRequests struct {
	labelled map[tool.ID][]inspect.Request
	lent     map[tool.ID][]inspect.Request
}

// What archetypes lend for an inspection: a few requests of few archetypes, and only of those that really resemble the
// tool. Only the tool that resembles an archetype most gets its requests, or all tools of a kind would claim them.
const (
	minLike       = .72 // least likeness of the tool to the archetype
	minLent       = .5  // least weight with which the archetype lends to the tool
	maxArchetypes = 2   // of one tool
	perArchetype  = 4   // requests
	maxLabelled   = 40  // labelled requests of one tool, so that a tool with thousands does not hold up the others
)

// knownRequests collects the requests for all tools at once, since the archetypes are assigned among them.
func (s *Service) knownRequests(set *eval.Dataset) *knownRequests {
	r := &knownRequests{labelled: map[tool.ID][]inspect.Request{}, lent: map[tool.ID][]inspect.Request{}}
	// A label may stand for several tools: the same one on several servers.
	ids := map[string][]tool.ID{}
	for _, t := range set.Tools {
		label := set.Label(t.ID())
		ids[label] = append(ids[label], t.ID())
	}
	for i := range set.Cases {
		c := &set.Cases[i]
		add := func(text string, labels []string) {
			for _, label := range labels {
				for _, id := range ids[label] {
					if len(r.labelled[id]) < maxLabelled {
						one := inspect.Request{ID: c.ID, Text: text, From: inspect.Labelled}
						r.labelled[id] = append(r.labelled[id], one)
					}
				}
			}
		}
		// The request of a step is for its tools; that of the whole task is for all of them, and says less of each.
		if c.Steps == nil {
			add(c.Query, c.Relevant)
		}
		for k, text := range c.Steps {
			add(text, c.AllOf[k])
		}
	}
	if snap := s.Index.Current(); snap != nil && s.Ranking.Base != nil {
		r.addLent(snap, s.Ranking.Base)
	}
	return r
}

// addLent gives each tool the requests of the archetypes that resemble no other tool more.
func (r *knownRequests) addLent(snap *index.Snapshot, base *knowledge.Base) {
	all := snap.Set().All()
	nearest := mostSimilarTools(snap)
	kinds := make([][]int, len(all)) // the archetypes of each tool, nearest first
	for point, by := range nearest {
		kinds[by.doc] = append(kinds[by.doc], int(point))
	}
	var read, of []int // archetypes, and whose they are
	for doc, points := range kinds {
		slices.SortFunc(points, func(a, b int) int {
			return cmp.Or(cmp.Compare(nearest[int32(b)].like, nearest[int32(a)].like), cmp.Compare(a, b))
		})
		for _, point := range points[:min(maxArchetypes, len(points))] {
			read, of = append(read, point), append(of, doc)
		}
	}
	heads, err := base.Heads(read)
	if err != nil {
		return // the base is of another version than what is stored: nothing is borrowed from it
	}
	for i, h := range heads {
		// an archetype without requests is represented by its title
		asked := h.Utterances
		if len(asked) == 0 && h.Title != "" {
			asked = []string{h.Title}
		}
		id := all[of[i]].ID()
		for _, text := range sampleEvenly(asked, perArchetype) {
			r.lent[id] = append(r.lent[id], inspect.Request{Text: text, From: inspect.Borrowed})
		}
	}
}

// resemblance is the tool that resembles an archetype most, by its place in the snapshot.
type resemblance struct {
	doc  int
	like float32
}

// mostSimilarTools returns the enabled tool that resembles each archetype most, by the point of the archetype. Of
// equals the first in the snapshot wins.
func mostSimilarTools(snap *index.Snapshot) map[int32]resemblance {
	out := map[int32]resemblance{}
	for i, t := range snap.Set().All() {
		if t.Disabled {
			continue
		}
		for _, l := range snap.Landmarks(i) {
			if had, ok := out[l.Point]; l.Lent >= minLent && l.Like >= minLike && (!ok || had.like < l.Like) {
				out[l.Point] = resemblance{i, l.Like}
			}
		}
	}
	return out
}

// of lists the requests that should find a tool, those that people wrote first. The caller owns the slice.
func (r *knownRequests) of(t *tool.Tool) []inspect.Request {
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
	return append(out, r.lent[t.ID()]...)
}

// sampleEvenly picks n of a list, the first and the last among them: archetypes list requests from near their wording
// to far from it.
func sampleEvenly(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	out := make([]string, n)
	for i := range out {
		out[i] = list[i*(len(list)-1)/(n-1)]
	}
	return out
}
