package search

import (
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

// TestHighest compares the choice of the best in one pass with sorting, in several orders and with equal scores.
func TestHighest(t *testing.T) {
	s := &scratch{}
	scores := make([]float32, 5000)
	s.allowed = make([]bool, len(scores))
	orders := map[string]func(i int) float32{
		"mixed":   func(i int) float32 { return float32((i*7919)%4999) - 100 },
		"rising":  func(i int) float32 { return float32(i) },
		"falling": func(i int) float32 { return float32(len(scores) - i) },
		"equal":   func(i int) float32 { return float32(i % 3) },
	}
	for name, score := range orders {
		for i := range scores {
			scores[i], s.allowed[i] = score(i), i%3 > 0
		}
		for _, n := range []int{1, 10, 500, 4000} {
			got := s.highest(scores, n, nil)
			best := topDocuments(scores, s.allowed, n, nil)
			slices.Sort(got)
			slices.Sort(best)
			if !slices.Equal(got, best) {
				t.Errorf("%s: the %d highest of %d are others than by sorting", name, n, len(scores))
			}
		}
	}
	if got := s.highest(make([]float32, len(scores)), 10, nil); len(got) > 0 {
		t.Errorf("of scores that are all 0: %v", got)
	}
}
