package main

import (
	"testing"

	"tooldex/tool"
)

// TestPlantedTools holds what the page says of the planted tools, and what the bar says on the catalogue that everybody
// has.
func TestPlantedTools(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the knowledge anew")
	}
	l, err := newLab(config{knowledge: "../../knowledge/data"})
	if err != nil {
		t.Fatal(err)
	}
	set, err := l.pooled(t.Context(), []string{demoSet})
	if err != nil {
		t.Fatal(err)
	}
	hostile := planted(l.source, set.catalogue.All())
	seen, longest := map[tool.ID]bool{}, 0
	for _, h := range hostile {
		seen[h.ID()] = true
		longest = max(longest, len(h.Description))
	}
	if len(seen) != 20 || longest < plantedLength-10 || longest > plantedLength {
		t.Fatalf("%d tools, the longest description has %d bytes, want 20 and %d", len(seen), longest, plantedLength)
	}
	clear, err := l.plantIn(t.Context(), set, "nothing", nil)
	if err != nil {
		t.Fatal(err)
	}
	attacked, err := l.plantIn(t.Context(), set, "all twenty", hostile)
	if err != nil {
		t.Fatal(err)
	}
	if lost := clear.recall - attacked.recall; lost > mostLost {
		t.Errorf("recall@5 fell by %.3f, from %.3f", lost, clear.recall)
	}
	if most := clear.requests / 100; attacked.first > most {
		t.Errorf("a planted tool is first for %d requests, want at most %d", attacked.first, most)
	}
	if attacked.firstTen == 0 {
		t.Error("no planted tool is found at all: they were not planted")
	}
}
