package selection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"tooldex/tool"
)

// toolCosts caches what selections need of one set of tools: token counts, and the tools as written for each format. It
// is immutable except for written, which is safe for concurrent use. When the catalogue publishes another set, the next
// selection computes new costs.
type toolCosts struct {
	set   *tool.Set
	tools int // enabled ones
	// tokens is the sum over all enabled tools: what listing everything would cost.
	tokens int
	cost   map[tool.ID]int
	core   []tool.ID // tools that every selection has
	// vocabulary distinguishes messages that vectors do not.
	vocabulary *Vocabulary
	written    sync.Map // from writtenKey to writeResult
}

// writtenKey identifies one tool in one format.
type writtenKey struct {
	id     tool.ID
	format Format
}

// writeResult is the outcome of writing a tool, kept so that a tool that cannot be written fails once.
type writeResult struct {
	writtenTool
	err error
}

// costsOf returns the costs of a set, which are computed once for as long as it is the current one. Two calls may
// compute them at the same time, with the same result.
func (s *Selector) costsOf(set *tool.Set) *toolCosts {
	if now := s.costs.Load(); now != nil && now.set == set {
		return now
	}
	now := &toolCosts{set: set, cost: make(map[tool.ID]int, set.Len()), vocabulary: NewVocabulary(set)}
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
	s.costs.Store(now)
	return now
}

// writeTool returns a tool in a format. Each is written once, and a failure is kept, too.
func (h *toolCosts) writeTool(t *tool.Tool, f Format) (writtenTool, error) {
	key := writtenKey{t.ID(), f}
	if v, ok := h.written.Load(key); ok {
		w, _ := v.(writeResult)
		return w.writtenTool, w.err
	}
	w, err := writeTool(t, h.set.Exposed(t.ID()), f)
	h.written.Store(key, writeResult{w, err})
	return w, err
}

// builder collects one selection. It belongs to one goroutine.
type builder struct {
	set       *tool.Set
	costs     *toolCosts
	maxTools  int  // zero means any number
	maxTokens int  // zero means any number
	quiet     bool // do not list what is left out
	// needs is how many tools are there because they are needed, needTokens what they cost.
	needs, needTokens int
	full              bool // a need had no room beside better ones: lesser ones do not take its place
	// confirms reports whether calls of a tool have to be confirmed; nil for none.
	confirms func(*tool.Tool) bool

	selection *Selection
	picked    []Selected
	at        map[tool.ID]int // places in picked
}

// addTool adds a tool unless it is disabled or exceeds a bound, in which case it is listed as left out. One that is
// there already keeps its origin and the higher score.
func (b *builder) addTool(t *tool.Tool, origin Origin, score float64) {
	id := t.ID()
	if t.Disabled {
		return
	}
	if i, ok := b.at[id]; ok {
		b.picked[i].Score = max(b.picked[i].Score, score)
		return
	}
	cost := b.costs.cost[id]
	switch {
	case b.maxTools > 0 && len(b.picked) >= b.maxTools:
		b.leaveOut(id, fmt.Sprintf("there are %d tools already", b.maxTools))
	case b.maxTokens > 0 && b.selection.Tokens+cost > b.maxTokens:
		b.leaveOut(id, fmt.Sprintf("its %d tokens would make more than %d", cost, b.maxTokens))
	default:
		b.at[id] = len(b.picked)
		b.picked = append(b.picked, Selected{ID: id, Source: origin, Score: score, Tokens: cost})
		b.selection.Tokens += cost
	}
}

// addNeed adds a tool that the message calls for. Needs come the most needed first, so the token bound leaves out the
// least needed: after one that has no room, all others, unless there is none yet.
func (b *builder) addNeed(n need) {
	id := n.tool.ID()
	_, known := b.at[id]
	cost := b.costs.cost[id]
	if n.lesser && !known && float64(b.needTokens+cost) > max(lesserRoom, lesserShare*float64(b.costs.tokens)) {
		return
	}
	if b.full && !known {
		b.leaveOut(id, "a tool that is needed more has no room")
		return
	}
	before := len(b.picked)
	b.addTool(n.tool, n.origin, min(n.by, 1))
	if len(b.picked) > before {
		b.needs++
		b.needTokens += cost
	}
	b.full = b.full || !known && len(b.picked) == before && b.needs > 0
}

// addNamed adds a tool by its name or ID. One that does not exist or is disabled is listed as left out only if a client
// asked for it.
func (b *builder) addNamed(name string, origin Origin) {
	t, err := b.set.Resolve(name)
	switch {
	case err == nil && t.Disabled && origin == FromExplicit:
		b.selection.LeftOut = append(b.selection.LeftOut, LeftOut{Name: name, Why: "it is disabled"})
	case err == nil:
		b.addTool(t, origin, 0)
	case origin == FromExplicit:
		b.selection.LeftOut = append(b.selection.LeftOut, LeftOut{Name: name, Why: hintOf(err)})
	}
}

// leaveOut lists a tool as left out.
func (b *builder) leaveOut(id tool.ID, why string) {
	if !b.quiet {
		b.selection.LeftOut = append(b.selection.LeftOut, LeftOut{Name: string(id), Why: why})
	}
}

// orderTools puts the tools that a conversation had first, in their order, and then the others by origin, and those of
// one origin by score.
func (b *builder) orderTools(had []tool.ID) {
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
		return cmp.Or(cmp.Compare(place[x.ID], place[y.ID]), cmp.Compare(rank(x), rank(y)), cmp.Compare(y.Score, x.Score))
	})
	for i, s := range b.picked {
		b.at[s.ID] = i
	}
}

// pickedIDs returns the IDs of the picked tools, in their order.
func (b *builder) pickedIDs() []tool.ID {
	out := make([]tool.ID, len(b.picked))
	for i, s := range b.picked {
		out[i] = s.ID
	}
	return out
}

// writeTools writes the picked tools in the format of q and fills in the selection. A tool that cannot be written is
// listed as left out, and its tokens are taken off.
func (b *builder) writeTools(q Query) {
	b.selection.Selected = []Selected{}
	b.selection.Tools = []json.RawMessage{}
	for _, s := range b.picked {
		if q.SearchCall != nil && (s.Source == FromCore || s.Source == FromPreference) { // the first request has it
			b.selection.Tokens -= s.Tokens
			continue
		}
		t, _ := b.set.Get(s.ID)
		w, err := b.costs.writeTool(t, q.Format)
		if err != nil {
			// Its tokens are taken off, but tools that were left out earlier to save tokens are not reconsidered.
			b.selection.Tokens -= s.Tokens
			b.selection.LeftOut = append(b.selection.LeftOut, LeftOut{Name: string(s.ID), Why: hintOf(err)})
			continue
		}
		s.Name, s.Renamed, s.Confirm = w.Name, w.Renamed, b.confirms != nil && b.confirms(t)
		raw := w.JSON
		// Core tools are always loaded: they are neither deferred nor referred to.
		if later := s.Source != FromCore; later {
			if q.Defer {
				raw = markDeferred(raw)
			}
			if q.References {
				b.selection.References = append(b.selection.References, Reference{Type: "tool_reference", Name: s.Name})
			}
		}
		b.selection.Tools = append(b.selection.Tools, raw)
		b.selection.Selected = append(b.selection.Selected, s)
	}
	b.finishResponses(q)
	b.selection.Saved = b.selection.AllTokens - b.selection.Tokens
}

// finishResponses adds what only the Responses API knows: namespaces, the tool that searches, and the answer to a
// search.
func (b *builder) finishResponses(q Query) {
	if q.Namespaces {
		b.selection.Tools = groupTools(b.set, b.selection.Selected, b.selection.Tools)
	}
	switch q.ToolSearch {
	case ServerSearch:
		b.selection.Tools = append(b.selection.Tools, json.RawMessage(hostedSearchTool))
	case ClientSearch:
		b.selection.Tools = append(b.selection.Tools, json.RawMessage(clientSearchTool))
	}
	if q.SearchCall != nil {
		b.selection.Output = &ToolSearchOutput{
			Type: "tool_search_output", Execution: ClientSearch, CallID: q.SearchCall.CallID, Status: "completed",
			Tools: b.selection.Tools,
		}
		b.selection.Tools = []json.RawMessage{}
	}
}
