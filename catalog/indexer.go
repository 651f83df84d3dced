package catalog

import (
	"context"
	"maps"

	"tooldex/store"
	"tooldex/tool"
)

// indexer makes tools searchable. The catalogue calls one method at a time.
type indexer interface {
	// view says which vectors and lent bytes are to be loaded: those of this model and this version of the knowledge.
	view() store.View
	// prepare returns what the tools of entries need and have does not hold. It is called with all tools at each
	// change, so it must be quick about those that need nothing. It never returns nil: on an error, what was made so
	// far counts.
	prepare(ctx context.Context, entries []entry, have *derived, progress func(done, total int)) (*derived, error)
	// publish makes the index of these tools and puts it in the place of the old one. The entries are in the set's
	// order.
	publish(ctx context.Context, set *tool.Set, entries []entry, have *derived) error
}

// entry is a tool as it is served, overlays applied, with its content hash.
type entry struct {
	tool *tool.Tool
	hash tool.Hash
}

// derived is what is made of tools once and stored: vectors by the text they stand for, and opaque bytes by content
// hash.
type derived struct {
	model   string // the fingerprint of what made the vectors
	vectors map[store.TextHash]store.Vector
	lent    map[tool.Hash][]byte
}

func newDerived() *derived {
	return &derived{vectors: map[store.TextHash]store.Vector{}, lent: map[tool.Hash][]byte{}}
}

// add adds what more holds. Vectors of two models are never mixed: those of the newer one take the place of others.
func (m *derived) add(more *derived) {
	if m.model != more.model && len(more.vectors) > 0 {
		m.model = more.model
		clear(m.vectors)
	}
	maps.Copy(m.vectors, more.vectors)
	maps.Copy(m.lent, more.lent)
}

// noIndex serves a catalogue that is only listed.
type noIndex struct{}

func (noIndex) view() store.View { return store.View{} }

func (noIndex) prepare(context.Context, []entry, *derived, func(int, int)) (*derived, error) {
	return newDerived(), nil
}

func (noIndex) publish(context.Context, *tool.Set, []entry, *derived) error { return nil }
