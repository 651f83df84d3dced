package selection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"tooldex/tool"
)

// sheet is what is worth remembering of a set of tools: what they cost, and how they are written.
type sheet struct {
	set    *tool.Set
	tools  int // enabled ones
	tokens int
	cost   map[tool.ID]int
	core   []tool.ID
	// vocabulary is what tells messages apart that vectors do not.
	vocabulary *Vocabulary
	written    sync.Map // of writtenKey to writing
}

type writtenKey struct {
	id     tool.ID
	format Format
}

type writing struct {
	Written
	err error
}

// sheetOf returns the sheet of a set, made once for as long as it is the set.
func (s *Selector) sheetOf(set *tool.Set) *sheet {
	if now := s.sheet.Load(); now != nil && now.set == set {
		return now
	}
	now := &sheet{set: set, cost: make(map[tool.ID]int, set.Len()), vocabulary: NewVocabulary(set)}
	for _, t := range set.All() {
		if t.Disabled {
			continue
		}
		id, n := t.ID(), t.Tokens()
		now.tools++
		now.tokens += n
		now.cost[id] = n
		if t.Always {
			now.core = append(now.core, id)
		}
	}
	s.sheet.Store(now)
	return now
}

// write writes a tool once for each format.
func (h *sheet) write(t *tool.Tool, f Format) (Written, error) {
	key := writtenKey{t.ID(), f}
	if v, ok := h.written.Load(key); ok {
		w, _ := v.(writing)
		return w.Written, w.err
	}
	w, err := Write(t, h.set.Exposed(t.ID()), f)
	h.written.Store(key, writing{w, err})
	return w, err
}

// basket is a selection in the making.
type basket struct {
	set    *tool.Set
	sheet  *sheet
	most   int // tools; zero means any number
	tokens int // likewise
	quiet  bool
	// confirms tells whose calls have to be confirmed; nil for none.
	confirms func(*tool.Tool) bool

	out    *Selection
	picked []Selected
	at     map[tool.ID]int // places in picked
}

// add puts a tool in, unless it is there already, disabled, or has no room.
func (b *basket) add(t *tool.Tool, origin Origin, score float64) {
	id := t.ID()
	if t.Disabled {
		return
	}
	if i, ok := b.at[id]; ok {
		b.picked[i].Score = max(b.picked[i].Score, score)
		return
	}
	cost := b.sheet.cost[id]
	switch {
	case b.most > 0 && len(b.picked) >= b.most:
		b.leave(id, fmt.Sprintf("there are %d tools already", b.most))
	case b.tokens > 0 && b.out.Tokens+cost > b.tokens:
		b.leave(id, fmt.Sprintf("its %d tokens would make more than %d", cost, b.tokens))
	default:
		b.at[id] = len(b.picked)
		b.picked = append(b.picked, Selected{ID: id, Source: origin, Score: score, Tokens: cost})
		b.out.Tokens += cost
	}
}

// addNamed adds a tool by its name or ID. One that is not there is told of if a client asked for it.
func (b *basket) addNamed(name string, origin Origin) {
	t, err := b.set.Resolve(name)
	switch {
	case err == nil && t.Disabled && origin == FromExplicit:
		b.out.LeftOut = append(b.out.LeftOut, LeftOut{Name: name, Why: "it is disabled"})
	case err == nil:
		b.add(t, origin, 0)
	case origin == FromExplicit:
		b.out.LeftOut = append(b.out.LeftOut, LeftOut{Name: name, Why: reason(err)})
	}
}

// leave tells of a tool that has no room.
func (b *basket) leave(id tool.ID, why string) {
	if !b.quiet {
		b.out.LeftOut = append(b.out.LeftOut, LeftOut{Name: string(id), Why: why})
	}
}

// order puts the tools that a conversation had first, as it had them, and the others by their origin.
func (b *basket) order(had []tool.ID) {
	place := map[tool.ID]int{}
	for i, id := range had {
		place[id] = i - len(had)
	}
	rank := func(s Selected) int {
		return slices.Index([]Origin{
			FromCore, FromExplicit, FromSearch, FromCache,
			FromSession, FromPreference,
		}, s.Source)
	}
	slices.SortStableFunc(b.picked, func(x, y Selected) int {
		return cmp.Or(cmp.Compare(place[x.ID], place[y.ID]), cmp.Compare(rank(x), rank(y)))
	})
	for i, s := range b.picked {
		b.at[s.ID] = i
	}
}

func (b *basket) ids() []tool.ID {
	out := make([]tool.ID, len(b.picked))
	for i, s := range b.picked {
		out[i] = s.ID
	}
	return out
}

// write finishes the selection: each tool in the form that was asked for.
func (b *basket) write(q Query) {
	b.out.Selected = []Selected{}
	b.out.Tools = []json.RawMessage{}
	for _, s := range b.picked {
		t, _ := b.set.Get(s.ID)
		w, err := b.sheet.write(t, q.Format)
		if err != nil {
			b.out.Tokens -= s.Tokens
			b.out.LeftOut = append(b.out.LeftOut, LeftOut{Name: string(s.ID), Why: reason(err)})
			continue
		}
		s.Name, s.Renamed, s.Confirm = w.Name, w.Renamed, b.confirms != nil && b.confirms(t)
		raw := w.JSON
		if later := s.Source != FromCore; later {
			if q.Defer {
				raw = deferred(raw)
			}
			if q.References {
				b.out.References = append(b.out.References, Reference{Type: "tool_reference", Name: s.Name})
			}
		}
		b.out.Tools = append(b.out.Tools, raw)
		b.out.Selected = append(b.out.Selected, s)
	}
	b.out.Saved = b.out.AllTokens - b.out.Tokens
}
