package catalog

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"tooldex/catalog/sources"
	"tooldex/store"
	"tooldex/tool"
)

// The overlays that hold what was generated. No file's overlay can have such a name.
const (
	approvedOverlay = "enrichment/approved"
	pendingOverlay  = "enrichment/pending"
)

const (
	// unfamiliar is the likeness to the nearest archetype below which a tool is of no known kind: what is lent to it
	// shrinks from there.
	unfamiliar = .65
	// enoughSaid is the number of utterances from which a tool needs no more.
	enoughSaid = 4
)

// Strangers returns the enabled tools that are like no kind of tool that the knowledge has, and that few utterances
// tell of, proposed ones included: the least known first, at most n, or all where n is 0. Without knowledge there are
// none.
func (c *Catalog) Strangers(n int) []tool.Stranger {
	c.mu.Lock()
	x, ok := c.o.indexer.(*searchable)
	c.mu.Unlock()
	if !ok || x.m.Base == nil {
		return nil
	}
	st := c.st.Load()
	pending := st.enrichment(pendingOverlay)
	var out []tool.Stranger
	for _, e := range st.entries {
		id := e.tool.ID()
		said := len(e.tool.Utterances)
		if p := pending.Tools[id]; p != nil {
			said += len(p.Utterances)
		}
		if e.tool.Disabled || said >= enoughSaid {
			continue
		}
		p, err := decodePrepared(st.made.lent[e.hash])
		if err != nil {
			continue
		}
		like := float32(0)
		if len(p.landmarks) > 0 {
			like = p.landmarks[0].Like
		}
		if like < unfamiliar {
			out = append(out, tool.Stranger{ID: id, Like: float64(like)})
		}
	}
	slices.SortFunc(out, func(a, b tool.Stranger) int {
		return cmp.Or(cmp.Compare(a.Like, b.Like),
			cmp.Compare(a.ID, b.ID))
	})
	if n > 0 {
		out = out[:min(n, len(out))]
	}
	return out
}

// enrichment returns one of the two overlays, empty where there is none.
func (st *state) enrichment(name string) *sources.Overlay {
	for _, o := range st.overlays {
		if o.Name == name {
			return o
		}
	}
	return &sources.Overlay{Name: name, Pending: name == pendingOverlay, Tools: map[tool.ID]*sources.Patch{}}
}

// Enrichments returns what is kept of proposals, by tool, what is approved before what waits.
func (c *Catalog) Enrichments() []tool.Enrichment {
	st := c.st.Load()
	var out []tool.Enrichment
	for _, name := range []string{approvedOverlay, pendingOverlay} {
		o := st.enrichment(name)
		for _, id := range o.IDs() {
			out = append(out, tool.Enrichment{Proposal: proposalOf(id, o.Tools[id]), Pending: o.Pending})
		}
	}
	slices.SortStableFunc(out, func(a, b tool.Enrichment) int { return cmp.Compare(a.Tool, b.Tool) })
	return out
}

func proposalOf(id tool.ID, p *sources.Patch) tool.Proposal {
	out := tool.Proposal{Tool: id, Synonyms: p.Synonyms, By: strings.Join(p.By, "; ")}
	for _, u := range p.Utterances {
		out.Utterances = append(out.Utterances, u.Text)
	}
	return out
}

func patchOf(p tool.Proposal) *sources.Patch {
	out := &sources.Patch{Synonyms: p.Synonyms}
	if p.By != "" {
		out.By = []string{p.By}
	}
	for _, u := range p.Utterances {
		out.Utterances = append(out.Utterances, tool.Utterance{Text: u, From: tool.Generated})
	}
	return out
}

// Propose checks what was written about tools and keeps what passes, to be approved: until then it finds nothing. A
// proposal for a tool takes the place of one that waits. It returns how many utterances and synonyms were kept, and
// what was wrong with the others, in which only tools that are visible are named; nil means that all are. The errors
// are those of the store.
func (c *Catalog) Propose(ctx context.Context, proposals []tool.Proposal, visible func(tool.ID) bool) (kept int,
	findings []tool.Finding, err error,
) {
	return c.enrich(ctx, proposals, visible, pendingOverlay)
}

// Enrich is Propose for what a person has reviewed: what passes is in force at once, beside what was approved before.
func (c *Catalog) Enrich(ctx context.Context, proposals []tool.Proposal) (kept int, findings []tool.Finding,
	err error,
) {
	return c.enrich(ctx, proposals, nil, approvedOverlay)
}

func (c *Catalog) enrich(ctx context.Context, proposals []tool.Proposal, visible func(tool.ID) bool,
	into string,
) (kept int, findings []tool.Finding, err error) {
	err = c.change(ctx, func(st *state) (*state, *store.Batch, error) {
		var good []tool.Proposal
		good, findings = newProposalCheck(st, proposals, visible).all(proposals)
		kept = 0
		o := st.enrichment(into).Clone()
		waiting := st.enrichment(pendingOverlay).Clone()
		for _, p := range good {
			kept += len(p.Utterances) + len(p.Synonyms)
			patch := patchOf(p)
			if into == approvedOverlay {
				delete(waiting.Tools, p.Tool)
				patch = o.Tools[p.Tool].Union(patch)
			}
			o.Tools[p.Tool] = patch
		}
		if len(good) == 0 {
			return nil, &store.Batch{}, nil
		}
		if into == pendingOverlay {
			return st.withOverlays(o)
		}
		return st.withOverlays(o, waiting)
	})
	if err != nil {
		return 0, nil, err
	}
	return kept, findings, nil
}

// Approve puts into force what waits for the tools named, or for all where none is, and returns which tools those were.
func (c *Catalog) Approve(ctx context.Context, tools ...tool.ID) ([]tool.ID, error) {
	return c.move(ctx, tools, func(st *state, id tool.ID, approved, pending *sources.Overlay) bool {
		p, ok := pending.Tools[id]
		if ok {
			approved.Tools[id] = approved.Tools[id].Union(p)
			delete(pending.Tools, id)
		}
		return ok
	})
}

// Forget takes back what was written about the tools named, or about all where none is, whether approved or waiting,
// and returns which tools those were.
func (c *Catalog) Forget(ctx context.Context, tools ...tool.ID) ([]tool.ID, error) {
	return c.move(ctx, tools, func(_ *state, id tool.ID, approved, pending *sources.Overlay) bool {
		_, a := approved.Tools[id]
		_, p := pending.Tools[id]
		delete(approved.Tools, id)
		delete(pending.Tools, id)
		return a || p
	})
}

// move changes the two overlays of generated words, one tool after the other.
func (c *Catalog) move(ctx context.Context, tools []tool.ID, one func(st *state, id tool.ID, approved,
	pending *sources.Overlay) bool,
) ([]tool.ID, error) {
	var moved []tool.ID
	err := c.change(ctx, func(st *state) (*state, *store.Batch, error) {
		approved, pending := st.enrichment(approvedOverlay).Clone(), st.enrichment(pendingOverlay).Clone()
		ids := tools
		if len(ids) == 0 {
			all := maps.Clone(approved.Tools)
			maps.Copy(all, pending.Tools)
			ids = slices.Sorted(maps.Keys(all))
		}
		moved = nil
		for _, id := range ids {
			if one(st, id, approved, pending) {
				moved = append(moved, id)
			}
		}
		if len(moved) == 0 {
			return nil, &store.Batch{}, nil
		}
		return st.withOverlays(approved, pending)
	})
	if err != nil {
		return nil, err
	}
	return moved, nil
}

// withOverlays returns the state with some overlays replaced, those without tools left out, and what must be written.
func (st *state) withOverlays(changed ...*sources.Overlay) (*state, *store.Batch, error) {
	batch := &store.Batch{Overlays: map[string][]byte{}}
	overlays := slices.Clone(st.overlays)
	for _, o := range changed {
		overlays = slices.DeleteFunc(overlays, func(have *sources.Overlay) bool { return have.Name == o.Name })
		if len(o.Tools) == 0 {
			batch.RemoveOverlays = append(batch.RemoveOverlays, o.Name)
			continue
		}
		encoded, err := o.Encode()
		if err != nil {
			return nil, nil, &tool.Error{
				Code: tool.Internal, Op: "enrich", Msg: "what was written cannot be stored",
				Err: err,
			}
		}
		batch.Overlays[o.Name] = encoded
		overlays = append(overlays, o)
	}
	slices.SortFunc(overlays, func(a, b *sources.Overlay) int { return cmp.Compare(a.Name, b.Name) })
	return st.next(batch, overlays), batch, nil
}
