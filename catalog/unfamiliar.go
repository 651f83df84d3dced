package catalog

import "tooldex/tool"

// EnoughUtterances is the number of utterances from which a tool is found well, whatever it is like.
const EnoughUtterances = 4

// NewUnfamiliar returns how many of the tools that this Catalog has analysed are like no archetype and have few
// utterances, so that searches in other words than theirs may miss them. Tools that were analysed before do not count.
// Only a Catalog with Options.Slim, which imports, counts them.
func (c *Catalog) NewUnfamiliar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.unfamiliar)
}

// noteUnfamiliar notes which of the entries are unfamiliar, as far as they were analysed just now. The caller holds mu.
func (c *Catalog) noteUnfamiliar(entries []entry, made *derived) {
	if c.o.Model.Base == nil || !c.o.Slim || len(made.lent) == 0 {
		return
	}
	for _, e := range entries {
		encoded, ok := made.lent[e.hash]
		if !ok {
			continue
		}
		near := landmarksOf(encoded)
		if e.tool.Disabled || len(e.tool.Utterances) >= EnoughUtterances || len(near) > 0 && near[0].Like >= Familiar {
			delete(c.unfamiliar, e.tool.ID())
			continue
		}
		if c.unfamiliar == nil {
			c.unfamiliar = map[tool.ID]bool{}
		}
		c.unfamiliar[e.tool.ID()] = true
	}
}
