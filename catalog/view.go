package catalog

import (
	"context"
	"slices"
	"strings"

	"tooldex/catalog/sources"
	"tooldex/index"
	"tooldex/tool"
)

// Familiar is the likeness to the nearest archetype from which a tool counts as one of a known kind. Tools below it
// borrow less.
const Familiar = .65

// View is the catalogue at one moment. It does not change, and what it returns must not be changed.
type View struct {
	st      *state
	indexer *searchable // nil for a catalogue that is only listed
}

// View returns the catalogue as it is now. It waits for a change in progress.
func (c *Catalog) View() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return View{c.loadedLocked(), c.searchIndexer()}
}

// EachFamiliarity calls fn with each served tool, by ID, and its likeness to the nearest archetype, from 0 to 1. Where
// the index was opened from an image, nothing is read from the store for it. Without knowledge it calls nothing.
func (c *Catalog) EachFamiliarity(fn func(t *tool.Tool, like float32)) {
	c.mu.Lock()
	x, set := c.searchIndexer(), c.set.Load()
	c.mu.Unlock()
	if x == nil || x.m.Base == nil {
		return
	}
	if x.to != nil {
		if snap := x.to.Current(); snap != nil && snap.Set() == set {
			for i, t := range set.All() {
				fn(t, nearest(snap.Landmarks(i)))
			}
			return
		}
	}
	v := c.View()
	for _, t := range v.Tools() {
		if like, ok := v.Familiarity(t.ID()); ok {
			fn(t, like)
		}
	}
}

// Overlay returns the stored overlay of this name, nil if there is none. Where an image was opened, it reads no tools.
func (c *Catalog) Overlay(ctx context.Context, name string) *sources.Overlay {
	st := c.st.Load()
	if st.partial {
		snap, err := c.o.Store.LoadServers(ctx, []string{})
		if err == nil && snap.Generation == st.generation && len(snap.Damaged) == 0 {
			b, ok := snap.Overlays[name]
			if !ok {
				return nil
			}
			if o, err := sources.DecodeOverlay(name, b); err == nil {
				return o
			}
		}
	}
	return c.View().Overlay(name)
}

// nearest returns the likeness to the nearest of some landmarks, which are sorted by it.
func nearest(marks []index.Landmark) float32 {
	if len(marks) == 0 {
		return 0
	}
	return marks[0].Like
}

// searchIndexer returns the indexer, or nil if the catalogue makes nothing searchable. The caller holds mu.
func (c *Catalog) searchIndexer() *searchable {
	x, _ := c.o.indexer.(*searchable)
	return x
}

// Tools returns the tools that are served, by ID, with the overlays applied.
func (v View) Tools() []*tool.Tool { return v.st.servedTools() }

// Has reports whether a tool is stored, served or held.
func (v View) Has(id tool.ID) bool { _, ok := v.st.records[id]; return ok }

// Overlay returns the stored overlay of this name, nil if there is none.
func (v View) Overlay(name string) *sources.Overlay { return v.st.overlayNamed(name) }

// Familiarity returns the likeness of a served tool to the nearest archetype, from 0 to 1; false if it is unknown.
func (v View) Familiarity(id tool.ID) (like float32, ok bool) {
	i, found := slices.BinarySearchFunc(v.st.entries, id, func(e entry, id tool.ID) int {
		return strings.Compare(string(e.tool.ID()), string(id))
	})
	if !found || v.indexer == nil || v.indexer.m.Base == nil {
		return 0, false
	}
	p, err := decodePrepared(v.st.derived.lent[v.st.entries[i].hash])
	if err != nil {
		return 0, false
	}
	return nearest(p.landmarks), true
}
