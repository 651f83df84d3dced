package search

import (
	"sync"

	"tooldex/tool"
)

// setFacts is what searches need to know of all tools of a set. Reading it off the tools takes longer than a search.
type setFacts struct {
	set     *tool.Set
	enabled []bool // by tool; not to be changed
	count   int    // how many are
	// deprecations are the enabled deprecated tools, with the tools that replace them.
	deprecations func() []deprecation
	servers      func() map[string]bool // that have tools
}

// factsOf returns the facts of a set. The engine remembers those of the last one.
func (e *Engine) factsOf(set *tool.Set) *setFacts {
	if f := e.facts.Load(); f != nil && f.set == set {
		return f
	}
	f := &setFacts{set: set, enabled: make([]bool, set.Len())}
	for i, t := range set.All() {
		if f.enabled[i] = !t.Disabled; f.enabled[i] {
			f.count++
		}
	}
	f.deprecations = sync.OnceValue(func() []deprecation { return findDeprecations(set) })
	f.servers = sync.OnceValue(func() map[string]bool {
		servers := map[string]bool{}
		for i, t := range set.All() {
			// tools of one server follow each other
			if i == 0 || set.All()[i-1].Server != t.Server {
				servers[t.Server] = true
			}
		}
		return servers
	})
	e.facts.Store(f)
	return f
}
