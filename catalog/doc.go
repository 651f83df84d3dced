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
// form must be refused stays as it was; all of this is told in the [Report]. Several processes may sync at once: a
// decision taken on what another process has changed since is taken again.
package catalog
