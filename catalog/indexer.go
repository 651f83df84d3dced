package catalog

import (
	"bytes"
	"context"
	"maps"
	"time"

	"tooldex/store"
	"tooldex/tool"
)

// indexer makes tools searchable. The catalogue calls one method at a time.
type indexer interface {
	// view returns which vectors and analyses are to be loaded: those of this model and this version of the knowledge.
	view() store.View
	// prepare returns what the tools of entries need and have lacks. It is called with all tools at each change, so it
	// must be quick about those that need nothing. Held tools are analysed, since they are rivals of the others, but
	// not embedded: the model may be somebody else's service. It never returns nil: after an error, what was made so
	// far is kept.
	prepare(ctx context.Context, entries []entry, have *derived, progress func(done, total int)) (*derived, error)
	// release drops what prepare keeps from one call to the next of one import.
	release()
	// publish builds the index of these tools and replaces the old one. The entries are in the order of the set.
	// Changed are the servers whose tools may differ from those that were published last; nil stands for all.
	publish(ctx context.Context, set *tool.Set, entries []entry, have *derived, changed map[string]bool) error
}

// entry is a tool as it is served or held, overlays applied, with its content hash.
type entry struct {
	tool *tool.Tool
	hash tool.Hash
	held bool
	// first is when the tool was first seen; zero for one that is not stored
	first time.Time
}

// derived is what is computed from tools once and stored: vectors by the text they stand for, and encoded analyses (see
// prepared) by the tool's content hash.
type derived struct {
	model   string // the fingerprint of the model that made the vectors
	vectors map[store.TextHash]store.Vector
	lent    map[tool.Hash][]byte
}

func newDerived() *derived {
	return &derived{vectors: map[store.TextHash]store.Vector{}, lent: map[tool.Hash][]byte{}}
}

// addContent adds the content of more. Vectors of two models are never mixed: vectors of another model replace those of
// m.
func (m *derived) addContent(more *derived) {
	if m.model != more.model && len(more.vectors) > 0 {
		m.model = more.model
		clear(m.vectors)
	}
	maps.Copy(m.vectors, more.vectors)
	maps.Copy(m.lent, more.lent)
}

// slim replaces what was written to the store by as much of it as shows that it is there.
func (m *derived) slim(written *derived) {
	for h := range written.vectors {
		m.vectors[h] = store.Vector{}
	}
	for h, b := range written.lent {
		m.lent[h] = bytes.Clone(b[:min(len(b), store.AnalysisHead)])
	}
}

// lister is the indexer of a catalogue that is only listed, and that says what is known about the kinds of its tools.
// It loads the analyses that fits has made, and makes none.
type lister struct {
	noIndex
	fits *searchable
}

func (l lister) view() store.View { return store.View{Knowledge: l.fits.view().Knowledge} }

// noIndex is the indexer of a catalogue that can only be listed.
type noIndex struct{}

func (noIndex) view() store.View { return store.View{} }

func (noIndex) prepare(context.Context, []entry, *derived, func(int, int)) (*derived, error) {
	return newDerived(), nil
}

func (noIndex) release() {}

func (noIndex) publish(context.Context, *tool.Set, []entry, *derived, map[string]bool) error {
	return nil
}
