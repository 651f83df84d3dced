package catalog

import (
	"tooldex/knowledge"
	"tooldex/store"
)

// Texts returns the texts of the tools there are now, as vectors are stored for them.
func (c *Catalog) Texts() map[store.TextHash]bool {
	entries := c.st.Load().entries
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
