package enrich

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// The overlays that hold proposals. Overlays of files cannot have such names, since names of sources have no slash.
const (
	approvedOverlay = "enrichment/approved"
	pendingOverlay  = "enrichment/pending"
)

// Enricher keeps proposals in the overlays of a catalogue. It is safe for concurrent use; its errors are those of the
// catalogue's store.
type Enricher struct{ catalog *catalog.Catalog }

// New returns an Enricher for a catalogue.
func New(c *catalog.Catalog) *Enricher { return &Enricher{c} }

// Unfamiliar returns the enabled tools that resemble no known kind of tool and have few utterances, waiting ones
// included. The least familiar come first; n limits their number unless it is 0. Without knowledge it returns none.
func (e *Enricher) Unfamiliar(n int) []tool.Stranger {
	pending := e.present(pendingOverlay)
	var out []tool.Stranger
	e.catalog.EachFamiliarity(func(t *tool.Tool, like float32) {
		if t.Disabled || like >= catalog.Familiar {
			return
		}
		id, said := t.ID(), len(t.Utterances)
		if p := pending.Tools[id]; p != nil {
			said += len(p.Utterances)
		}
		if said < catalog.EnoughUtterances {
			out = append(out, tool.Stranger{ID: id, Like: float64(like)})
		}
	})
	slices.SortFunc(out, func(a, b tool.Stranger) int {
		return cmp.Or(cmp.Compare(a.Like, b.Like), cmp.Compare(a.ID, b.ID))
	})
	if n > 0 {
		out = out[:min(n, len(out))]
	}
	return out
}

// overlayOf returns a copy of one of the two overlays, which is empty if none is stored. The patches are shared and
// must not be changed.
func overlayOf(view catalog.View, name string) *sources.Overlay {
	return cloneOrEmpty(view.Overlay(name), name)
}

// present is overlayOf for what is stored now.
func (e *Enricher) present(name string) *sources.Overlay {
	return cloneOrEmpty(e.catalog.Overlay(context.Background(), name), name)
}

// cloneOrEmpty returns a copy of an overlay, which is an empty one of this name for nil.
func cloneOrEmpty(o *sources.Overlay, name string) *sources.Overlay {
	if o != nil {
		return o.Clone()
	}
	return &sources.Overlay{Name: name, Pending: name == pendingOverlay, Tools: map[tool.ID]*sources.Patch{}}
}

// List returns all stored proposals, sorted by tool; of one tool, the approved one comes before the waiting one.
func (e *Enricher) List() []Enrichment {
	var out []Enrichment
	for _, name := range []string{approvedOverlay, pendingOverlay} {
		o := e.present(name)
		for _, id := range o.IDs() {
			out = append(out, Enrichment{Proposal: proposalOf(id, o.Tools[id]), Pending: o.Pending})
		}
	}
	slices.SortStableFunc(out, func(a, b Enrichment) int { return cmp.Compare(a.Tool, b.Tool) })
	return out
}

// Pending returns the proposals that wait for approval, of the given tools, or of all if none is given, sorted by tool.
func (e *Enricher) Pending(tools ...tool.ID) []tool.Proposal {
	var out []tool.Proposal
	for _, one := range e.List() {
		if one.Pending && (len(tools) == 0 || slices.Contains(tools, one.Tool)) {
			out = append(out, one.Proposal)
		}
	}
	return out
}

// proposalOf and patchOf convert between the form of proposals and that of overlays.
func proposalOf(id tool.ID, p *sources.Patch) tool.Proposal {
	out := tool.Proposal{Tool: id, Synonyms: p.Synonyms, By: strings.Join(p.By, "; ")}
	for _, u := range p.Utterances {
		out.Utterances = append(out.Utterances, u.Text)
	}
	return out
}

// patchOf returns a proposal as the overlay that stores it. Its utterances are marked as generated.
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

// Propose checks proposals and stores what passes until a person approves it; until then it changes no search. A
// proposal replaces one that waits for the same tool. Propose returns how many utterances and synonyms it stored, and
// what was wrong with the others. Texts are compared only with tools for which visible returns true; a nil func means
// all.
func (e *Enricher) Propose(ctx context.Context, proposals []tool.Proposal, visible func(tool.ID) bool) (kept int,
	findings []sanitize.Finding, err error,
) {
	err = e.catalog.EditOverlays(ctx, func(view catalog.View) []*sources.Overlay {
		var good []tool.Proposal
		good, findings = newChecker(view, proposals, visible).checkProposals(proposals)
		kept = 0
		pending := overlayOf(view, pendingOverlay)
		for _, p := range good {
			kept += len(p.Utterances) + len(p.Synonyms)
			pending.Tools[p.Tool] = patchOf(p)
		}
		return []*sources.Overlay{pending}
	})
	if err != nil {
		return 0, nil, err
	}
	return kept, findings, nil
}

// Enrich is Propose for what a person has reviewed: what passes takes effect at once, in addition to what was approved
// before. Waiting proposals for the same tools are dropped.
func (e *Enricher) Enrich(ctx context.Context, proposals []tool.Proposal) (kept int, findings []sanitize.Finding,
	err error,
) {
	err = e.catalog.EditOverlays(ctx, func(view catalog.View) []*sources.Overlay {
		var good []tool.Proposal
		good, findings = newChecker(view, proposals, nil).checkProposals(proposals)
		kept = 0
		approved, pending := overlayOf(view, approvedOverlay), overlayOf(view, pendingOverlay)
		for _, p := range good {
			kept += len(p.Utterances) + len(p.Synonyms)
			delete(pending.Tools, p.Tool)
			approved.Tools[p.Tool] = approved.Tools[p.Tool].Union(patchOf(p))
		}
		return []*sources.Overlay{approved, pending}
	})
	if err != nil {
		return 0, nil, err
	}
	return kept, findings, nil
}

// Approve puts into effect what waits for the given tools, or for all if none is given. It returns the tools that had
// something waiting.
func (e *Enricher) Approve(ctx context.Context, tools ...tool.ID) ([]tool.ID, error) {
	return e.editOverlays(ctx, tools, func(id tool.ID, approved, pending *sources.Overlay) bool {
		p, ok := pending.Tools[id]
		if ok {
			approved.Tools[id] = approved.Tools[id].Union(p)
			delete(pending.Tools, id)
		}
		return ok
	})
}

// Forget removes the proposals for the given tools, or for all if none is given, whether approved or waiting. It
// returns the tools that had some.
func (e *Enricher) Forget(ctx context.Context, tools ...tool.ID) ([]tool.ID, error) {
	return e.editOverlays(ctx, tools, func(id tool.ID, approved, pending *sources.Overlay) bool {
		_, a := approved.Tools[id]
		_, p := pending.Tools[id]
		delete(approved.Tools, id)
		delete(pending.Tools, id)
		return a || p
	})
}

// editOverlays calls one for each tool, or for all tools of both overlays if none is given, and returns those for which
// it reports a change. One may be called again when another process has changed the store.
func (e *Enricher) editOverlays(ctx context.Context, tools []tool.ID,
	one func(id tool.ID, approved, pending *sources.Overlay) bool,
) (changed []tool.ID, err error) {
	err = e.catalog.EditOverlays(ctx, func(view catalog.View) []*sources.Overlay {
		approved, pending := overlayOf(view, approvedOverlay), overlayOf(view, pendingOverlay)
		ids := tools
		if len(ids) == 0 {
			all := maps.Clone(approved.Tools)
			maps.Copy(all, pending.Tools)
			ids = slices.Sorted(maps.Keys(all))
		}
		changed = nil
		for _, id := range ids {
			if one(id, approved, pending) {
				changed = append(changed, id)
			}
		}
		return []*sources.Overlay{approved, pending}
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}
