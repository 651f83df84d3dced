package search

import (
	"slices"
	"strings"

	"tooldex/tool"
)

const (
	maxKinds      = 3
	maxCategories = 3
	maxUnplaced   = 8
)

// advise says what to try where no tool fits: the kinds of servers that would serve, the words nobody here knows, and
// the categories that come nearest.
func (e *Engine) advise(ask ask, full string, r *scored, j judged, s *scratch) *tool.Advice {
	a := &tool.Advice{Message: "No tool here seems to do this."}
	for _, n := range j.near {
		if len(a.Kinds) == maxKinds {
			break
		}
		if kind := e.o.Base.Kind(n.Archetype); kind != "" && !slices.Contains(a.Kinds, kind) {
			a.Kinds = append(a.Kinds, kind)
		}
	}
	if len(a.Kinds) > 0 {
		a.Message = "No tool here seems to do this; a server of this kind would: " + strings.Join(a.Kinds, ", ") + "."
	}
	if e.o.Base != nil {
		words := e.o.Base.NotUnderstood(ask.text, func(stem string) bool { return ask.snap.Known(stem, s.allowed) })
		a.NotUnderstood = words[:min(len(words), maxUnplaced)]
	}
	for _, i := range s.order[:min(len(s.order), leastDepth)] {
		c := ask.snap.Set().All()[i].Category
		if c != "" && !slices.Contains(a.Categories, c) && len(a.Categories) < maxCategories {
			a.Categories = append(a.Categories, c)
		}
	}
	a.Unseen = e.unseen(ask, full, r, s)
	return a
}
