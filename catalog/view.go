package catalog

import (
	"slices"
	"strings"

	"tooldex/catalog/sources"
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
	if len(p.landmarks) > 0 {
		like = p.landmarks[0].Like
	}
	return like, true
}
