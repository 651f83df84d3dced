package catalog

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/index"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/trust"
)

// analyses returns the analysis of each served tool.
func analyses(c *Catalog) map[tool.ID][]byte {
	out := map[tool.ID][]byte{}
	st := c.loaded()
	for _, e := range st.entries {
		out[e.tool.ID()] = st.derived.lent[e.hash]
	}
	return out
}

// TestRivals: what a tool borrows depends on the tools of its server as they are now, and on nothing that was before.
func TestRivals(t *testing.T) {
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	three := threeTools()
	more := append(slices.Clone(three), aTool("s", "create_bug_report", "Create an issue about a defect."))
	other := aTool("other", "create_issue", "Create an issue in a repository.")
	all := func(tools []*tool.Tool) []sources.Source {
		return []sources.Source{&fake{name: "s", tools: tools}, &fake{name: "other", tools: []*tool.Tool{other}}}
	}
	dir := t.TempDir()
	c, _ := openSearchable(t, dir, m)
	mustSync(t, c, all(three)...)
	first := analyses(c)
	mustSync(t, c, all(more)...)
	second := analyses(c)
	if bytes.Equal(first["s/create_issue"], second["s/create_issue"]) {
		t.Error("a new rival changes nothing")
	}
	if !bytes.Equal(first["other/create_issue"], second["other/create_issue"]) {
		t.Error("a tool of another server is a rival")
	}
	fresh, _ := openSearchable(t, t.TempDir(), m)
	mustSync(t, fresh, all(more)...)
	if !maps.EqualFunc(second, analyses(fresh), bytes.Equal) {
		t.Error("tools that came one after the other are analysed otherwise than at once")
	}
	mustSync(t, c, all(three)...)
	if !maps.EqualFunc(first, analyses(c), bytes.Equal) {
		t.Error("the rival is gone, and still counts")
	}
	again, _ := openSearchable(t, dir, m)
	if !maps.EqualFunc(first, analyses(again), bytes.Equal) {
		t.Error("the next process has other analyses")
	}
}

// TestRivalsOfTwoPolicies: processes that hold different tools make the same analyses, so that none undoes what another
// has stored.
func TestRivalsOfTwoPolicies(t *testing.T) {
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	open := func(policy trust.Policy) *Catalog {
		s, err := store.Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Open(t.Context(), Options{Store: s, Model: m, Index: new(index.Index), Trust: trust.Options{Policy: policy}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	lax := open(trust.Off)
	mustSync(t, lax, &fake{name: "s", tools: threeTools()})
	strict := open(trust.Strict)
	if n := len(strict.loaded().entries); n != 0 {
		t.Fatalf("%d tools are served that nobody approved", n)
	}
	before := strict.loaded().generation
	for range 3 {
		for _, c := range []*Catalog{lax, strict} {
			if _, err := c.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if after := strict.loaded().generation; after != before || lax.loaded().generation != before {
		t.Errorf("the processes write by turns: from generation %d to %d", before, after)
	}
}

// TestRivalsAreBounded: in a server of very many tools, a change makes that tool alone be analysed again.
func TestRivalsAreBounded(t *testing.T) {
	x := new(searchable)
	var entries []entry
	have := newDerived()
	for _, server := range []string{"a", "b", "c"} {
		for i := range map[string]int{"a": 1, "b": maxRivals, "c": maxRivals + 1}[server] {
			one := aTool(server, fmt.Sprintf("t%04d", i), "Does.")
			entries = append(entries, entry{tool: one, hash: one.Hash()})
		}
	}
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	x.m = Model{Base: m.Base}
	all := x.countRivals(entries)
	if n := len(all.toAnalyse(entries, have)); n != len(entries) {
		t.Fatalf("%d of %d tools are analysed at first", n, len(entries))
	}
	parts := 0
	for part := range chunksOfServers(entries, 100) {
		parts += len(part)
		if whole := slices.ContainsFunc(part, func(e entry) bool { return e.tool.Server == "b" }); whole && len(part) < maxRivals {
			t.Errorf("a part of %d tools has only some of the rivals", len(part))
		}
	}
	if parts != len(entries) {
		t.Errorf("the parts have %d of %d tools", parts, len(entries))
	}
	for start := 0; start < len(entries); start++ { // as if each had been analysed beside what is there
		e := entries[start]
		p := prepared{text: store.HashText(e.tool.Name)}
		have.lent[e.hash] = p.encode()
	}
	sum := uint64(0)
	for _, e := range entries {
		if all.has(e) {
			sum += signText(store.HashText(e.tool.Name))
		}
	}
	for _, e := range entries {
		if all.has(e) {
			p := prepared{text: store.HashText(e.tool.Name), rivals: sum}
			have.lent[e.hash] = p.encode()
		}
	}
	if n := len(all.toAnalyse(entries, have)); n != 0 {
		t.Fatalf("%d tools are analysed again though nothing changed", n)
	}
	last := entries[len(entries)-1]
	delete(have.lent, last.hash)
	if got := all.toAnalyse(entries, have); len(got) != 1 || got[0].hash != last.hash {
		t.Errorf("a change in the largest server makes %d tools be analysed", len(got))
	}
	have.lent[last.hash] = have.lent[entries[0].hash]
	delete(have.lent, entries[1].hash)
	if got := all.toAnalyse(entries, have); len(got) != maxRivals {
		t.Errorf("a change among rivals makes %d tools be analysed, want %d", len(got), maxRivals)
	}
}
