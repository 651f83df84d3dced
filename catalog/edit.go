package catalog

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/store"
	"tooldex/tool"
)

// Patch returns a copy of the patch of one tool in the stored overlay of this name. The patch is empty if the overlay
// has none for the tool, or does not exist.
func (c *Catalog) Patch(overlay string, id tool.ID) (*sources.Patch, error) {
	for _, o := range c.loaded().overlays {
		if o.Name == overlay && o.Tools[id] != nil {
			return o.Tools[id].Clone()
		}
	}
	return &sources.Patch{}, nil
}

// EditOverlay replaces the patch of one tool in an overlay by p, and leaves those of other tools. An overlay that does
// not exist is made; an empty patch removes the tool from it. Concurrent edits, also by several processes, are all kept
// unless they are of the same tool, of which the last one remains. The report is that of ApplyOverlay. The error is
// Invalid for a patch that the tool cannot take.
func (c *Catalog) EditOverlay(ctx context.Context, overlay string, id tool.ID, p *sources.Patch) (Report, error) {
	if p.Summary != nil {
		if err := sanitize.CheckSummary(id, *p.Summary); err != nil {
			return Report{}, err
		}
	}
	p, err := p.Clone()
	if err != nil {
		return Report{}, err
	}
	return c.changeOverlay(ctx, overlay, func(have *sources.Overlay) *sources.Overlay {
		next := &sources.Overlay{Name: overlay, Tools: map[tool.ID]*sources.Patch{}}
		if have != nil {
			next.Tools = maps.Clone(have.Tools)
		}
		if reflect.ValueOf(*p).IsZero() {
			delete(next.Tools, id)
		} else {
			next.Tools[id] = p
		}
		return next
	})
}

// overlayNamed returns the stored overlay of this name, nil if there is none.
func (st *state) overlayNamed(name string) *sources.Overlay {
	if i := slices.IndexFunc(st.overlays, func(o *sources.Overlay) bool { return o.Name == name }); i >= 0 {
		return st.overlays[i]
	}
	return nil
}

// EditOverlays stores the overlays that edit returns, replacing those of the same names; one without tools is removed.
// Edit is called again when another process has changed the store in between. It must not change what the view returns.
func (c *Catalog) EditOverlays(ctx context.Context, edit func(View) []*sources.Overlay) error {
	return c.applyChange(ctx, func(st *state) (*state, *store.Batch, error) {
		return st.withOverlays(edit(View{st, c.searchIndexer()})...)
	})
}

// withOverlays returns the state with some overlays replaced, those without tools removed, and the batch that stores
// the difference, which is empty if there is none.
func (st *state) withOverlays(changed ...*sources.Overlay) (*state, *store.Batch, error) {
	batch := &store.Batch{Overlays: map[string][]byte{}}
	overlays := slices.Clone(st.overlays)
	for _, o := range changed {
		stored := st.overlayNamed(o.Name)
		overlays = slices.DeleteFunc(overlays, func(have *sources.Overlay) bool { return have.Name == o.Name })
		if len(o.Tools) == 0 {
			if stored != nil {
				batch.RemoveOverlays = append(batch.RemoveOverlays, o.Name)
			}
			continue
		}
		encoded, err := o.Encode()
		if err != nil {
			return nil, nil, &tool.Error{
				Code: tool.Internal, Op: "edit overlays", Msg: "overlay " + o.Name + " cannot be stored", Err: err,
			}
		}
		if stored == nil || !sameEncoding(stored, encoded) {
			batch.Overlays[o.Name] = encoded
		}
		overlays = append(overlays, o)
	}
	slices.SortFunc(overlays, func(a, b *sources.Overlay) int { return cmp.Compare(a.Name, b.Name) })
	return st.withBatch(batch, overlays), batch, nil
}

// sameEncoding reports whether storing o would write encoded again.
func sameEncoding(o *sources.Overlay, encoded []byte) bool {
	b, err := o.Encode()
	return err == nil && bytes.Equal(b, encoded)
}
