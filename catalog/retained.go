package catalog

import (
	"slices"
	"strings"

	"tooldex/embed"
	"tooldex/knowledge"
	"tooldex/store"
	"tooldex/tool"
)

// Used lists the stored vectors and analyses that the present tools need: vectors of this Catalog's model and of the
// models given, and analyses by its knowledge, both with and without borrowing. Its result is meant for store.Compact.
func (c *Catalog) Used(models ...embed.Model) store.Used {
	st := c.loaded()
	v := c.o.indexer.view()
	const notLent = " not lent"
	u := store.Used{Generation: st.generation, Models: append(models, v.Model), Knowledge: []string{v.Knowledge}}
	u.Texts, u.Analyses = st.neededDerived()
	if before, after, ok := strings.Cut(v.Knowledge, notLent); ok {
		u.Knowledge = append(u.Knowledge, before+after)
	} else if before, after, ok := strings.Cut(v.Knowledge, " layout "); ok {
		u.Knowledge = append(u.Knowledge, before+notLent+" layout "+after)
	}
	return u
}

// neededDerived returns the texts whose vectors the tools need, and the content hashes of their analyses. Held tools
// are included.
func (st *state) neededDerived() (texts map[store.TextHash]bool, lent map[tool.Hash]bool) {
	texts, lent = make(map[store.TextHash]bool, len(st.records)), make(map[tool.Hash]bool, len(st.records))
	for _, entries := range [][]entry{st.entries, st.held} {
		for _, e := range entries {
			lent[e.hash] = true
			h, ok := textOf(st.derived.lent[e.hash])
			if !ok {
				t := knowledge.ToolText(e.tool)
				h = hashText(&t)
			}
			texts[h] = true
		}
	}
	return texts, lent
}

// spareDerived is how many unneeded entries are kept in addition to a quarter of what tools need. Tools that come back
// are then searchable at once.
const spareDerived = 256

// mostDerived returns how many entries of one kind are kept for so many tools.
func mostDerived(tools int) int { return tools + tools/4 + spareDerived }

// takeUnneeded removes from the derived data what no tool needs and returns it, once there is more than mostDerived.
// Otherwise a server whose descriptions contain the time of day would fill the memory and the file.
func (st *state) takeUnneeded() (texts []store.TextHash, lent []tool.Hash) {
	if most := mostDerived(len(st.records)); len(st.derived.vectors) <= most && len(st.derived.lent) <= most {
		return nil, nil
	}
	needTexts, needLent := st.neededDerived()
	for h := range st.derived.vectors {
		if !needTexts[h] {
			texts = append(texts, h)
			delete(st.derived.vectors, h)
		}
	}
	for h := range st.derived.lent {
		if !needLent[h] {
			lent = append(lent, h)
			delete(st.derived.lent, h)
		}
	}
	return texts, lent
}

// Files returns the files that stored tools were read from, as far as they are known, sorted and without duplicates.
func (c *Catalog) Files() []string {
	var out []string
	for _, s := range c.loaded().sources {
		if s.Path != "" {
			out = append(out, s.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
