package catalog

import (
	"tooldex/knowledge"
	"tooldex/store"
)

// Texts returns the hashes of the texts of all served tools, by which their vectors are stored. It computes them, on
// all processors.
func (c *Catalog) Texts() map[store.TextHash]bool {
	entries := c.loaded().entries
	hashes := make([]store.TextHash, len(entries))
	inParallel(len(entries), func() func(i int) {
		return func(i int) {
			text := knowledge.ToolText(entries[i].tool)
			hashes[i] = hashText(&text)
		}
	})
	out := make(map[store.TextHash]bool, len(hashes))
	for _, h := range hashes {
		out[h] = true
	}
	return out
}
