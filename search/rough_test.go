package search

import (
	"fmt"
	"slices"
	"testing"

	"tooldex/tool"
)

// TestRough compares searches of a catalogue that is large enough for rough cosines with searches that compare every
// vector exactly, which a filter that lets everything through has.
func TestRough(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long")
	}
	snap := syntheticSnapshot(t, 20_000)
	if !snap.HasCoarse() {
		t.Fatal("the catalogue has no coarse vectors")
	}
	e := New(options(t, snap))
	requests := []string{"file a bug about the broken login. tell the team", "Datei löschen", "zzz qqq"}
	for i := 0; i < snap.Len(); i += 200 {
		requests = append(requests, snap.Set().All()[i].Description)
	}
	same, all := 0, 0
	for _, text := range requests {
		for _, mode := range []tool.Mode{tool.Hybrid, tool.Semantic} {
			rough := mustSearch(t, e, tool.Query{Text: text, Limit: 10, Mode: mode})
			exact := mustSearch(t, e, tool.Query{Text: text, Limit: 10, Mode: mode, Filter: tool.Filter{Disabled: true}})
			if rough.Confident != exact.Confident {
				t.Errorf("%q: confident %v, exactly %v", text, rough.Confident, exact.Confident)
			}
			for _, h := range exact.Tools {
				all++
				if slices.ContainsFunc(rough.Tools, func(o tool.Hit) bool { return o.ID == h.ID }) {
					same++
				}
			}
		}
	}
	if share := float64(same) / float64(all); share < .99 {
		t.Errorf("%.4f of %d tools are found in both, want .99", share, all)
	}
}

// TestHighest compares the choice of the best by steps with sorting.
func TestHighest(t *testing.T) {
	s := &scratch{}
	scores := make([]float32, 5000)
	s.allowed = make([]bool, len(scores))
	for i := range scores {
		scores[i], s.allowed[i] = float32((i*7919)%4999)-100, i%3 > 0
	}
	for _, n := range []int{1, 10, 500, 4000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			got := s.highest(scores, n, nil)
			best := topDocuments(scores, s.allowed, n, nil)
			if len(got) < len(best) || len(got) > 2*n {
				t.Errorf("%d tools", len(got))
			}
			for _, i := range best {
				if !slices.Contains(got, i) {
					t.Fatalf("tool %d with %v is left out", i, scores[i])
				}
			}
		})
	}
	if got := s.highest(make([]float32, len(scores)), 10, nil); len(got) > 0 {
		t.Errorf("of scores that are all 0: %v", got)
	}
}
