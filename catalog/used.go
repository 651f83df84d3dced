package catalog

import (
	"slices"
	"strings"

	"tooldex/knowledge"
	"tooldex/store"
	"tooldex/tool"
)

// Used tells what of the stored material the tools of this moment need: vectors of this Catalog's model and of the models given, and
// analyses by the knowledge it has, lent from or not. It is what store.Compact takes.
func (c *Catalog) Used(models ...store.Model) store.Used {
	st := c.st.Load()
	v := c.o.indexer.view()
	const notLent = " not lent"
	u := store.Used{
		Generation: st.generation, Models: append(models, v.Model), Texts: make(map[store.TextHash]bool, len(st.entries)),
		Knowledge: []string{v.Knowledge}, Lent: make(map[tool.Hash]bool, len(st.entries)),
	}
	if before, after, ok := strings.Cut(v.Knowledge, notLent); ok {
		u.Knowledge = append(u.Knowledge, before+after)
	} else if before, after, ok := strings.Cut(v.Knowledge, " layout "); ok {
		u.Knowledge = append(u.Knowledge, before+notLent+" layout "+after)
	}
	for _, e := range st.entries {
		u.Lent[e.hash] = true
		h, ok := textOf(st.made.lent[e.hash])
		if !ok {
			texts := knowledge.Text(e.tool)
			h = hashText(&texts)
		}
		u.Texts[h] = true
	}
	return u
}

// Files returns the files that stored tools were read from, as far as that is known, each once and sorted.
func (c *Catalog) Files() []string {
	var out []string
	for _, s := range c.st.Load().sources {
		if s.Path != "" {
			out = append(out, s.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
