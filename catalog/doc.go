// Package catalog keeps the set of known tools equal to what its sources offer.
//
// A [Source] offers the tools of one server: an upstream, a tools/list dump or a catalogue file. [ReadFile] recognises
// the files; their format is described in docs/reference/catalogue-file.md. [Catalog.Sync] compares what a source
// offers with what is stored and makes the difference: first durable, then visible. Readers take [Catalog.Set] and
// never wait.
//
//	c, err := catalog.Open(ctx, catalog.Options{Store: s})
//	content, err := sources.ReadFile("github.json")
//	reports, err := c.SyncAll(ctx, content.Sources)
//
// # What may be relied on
//
// Syncing what has not changed writes nothing. A source that fails, or answers without a single tool, removes nothing:
// its tools stay, and it is marked stale. One bad tool does not keep the others of its source out, and a tool whose new
// form must be refused stays as it was; the [Report] lists all of this. Several processes may sync at once: if another
// process has changed the store since a decision was taken, the decision is taken again.
//
// # How a change is made
//
// Every change goes through Catalog.applyChange: it derives a new state from the current one, lets the indexer make
// what the tools need to be searchable, writes all of it in one [store.Batch], and publishes the new set and index. A
// state never changes once it is published, so that readers need no lock. Changes of one Catalog take turns.
//
// # Files
//
// catalog.go opens and publishes, state.go derives one state from another, view.go shows it. import.go, sync.go and
// about.go read sources and compare them; edit.go changes overlays, and review.go decides what a person reviews.
// indexer.go, searchable.go, analyse.go, prepared.go and rivals.go prepare tools for search, in pieces that the store
// keeps; annotate.go adds derived categories; duplicates.go and copies.go find equal and copied tools. build.go makes
// the index, and image.go with image_tools.go its file, from which a process starts without preparing anything.
// switch_model.go embeds for another model, retained.go says which stored data is still needed, and trial.go measures a
// change in memory.
package catalog
