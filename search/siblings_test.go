package search

import (
	"slices"
	"testing"

	"tooldex/tool"
)

// TestBringSiblings orders later places by hand-made scores: what is on the server of a first tool comes forward, by no
// more than the bonus, and neither from beyond the depth nor past the place where reordering begins.
func TestBringSiblings(t *testing.T) {
	names := []tool.ID{"a/1", "a/2", "a/3", "b/1", "b/2", "c/1"}
	var tools []*tool.Tool
	for _, id := range names {
		tools = append(tools, &tool.Tool{Server: id.Server(), Name: id.Name(), Description: "does " + id.Name()})
	}
	snap := snapshotOf(t, tools)
	at := map[tool.ID]int32{}
	for i, one := range snap.Set().All() {
		at[one.ID()] = int32(i)
	}
	list := func(ids []tool.ID, scores []float64) *ranking {
		r := new(ranking)
		for i, id := range ids {
			r.places = append(r.places, place{doc: at[id], best: at[id], key: at[id], fused: scores[i]})
		}
		return r
	}
	of := func(ids ...tool.ID) *ranking { return list(ids, make([]float64, len(ids))) }
	for _, tt := range []struct {
		name  string
		from  int
		ids   []tool.ID
		fused []float64
		seeds []*ranking
		want  []tool.ID
	}{
		{
			"a sibling passes what is a little better", 1,
			[]tool.ID{"a/1", "b/1", "c/1", "a/2"},
			[]float64{2, 1, .9, .7},
			[]*ranking{of("a/1")},
			[]tool.ID{"a/1", "a/2", "b/1", "c/1"},
		},
		{
			"not what is much better", 1,
			[]tool.ID{"a/1", "b/1", "a/2"},
			[]float64{2, 1.5, 1},
			[]*ranking{of("a/1")},
			[]tool.ID{"a/1", "b/1", "a/2"},
		},
		{
			"siblings of every seed, but only of its first tool", 1,
			[]tool.ID{"a/1", "c/1", "a/2", "b/2"},
			[]float64{2, 1, .8, .9},
			[]*ranking{of("a/1", "c/1"), of("b/1"), of()},
			[]tool.ID{"a/1", "b/2", "a/2", "c/1"},
		},
		{
			"places before stay", 2,
			[]tool.ID{"b/1", "c/1", "b/2", "a/1"},
			[]float64{1, .9, .8, .7},
			[]*ranking{of("a/2")},
			[]tool.ID{"b/1", "c/1", "a/1", "b/2"},
		},
		{
			"equal ones keep their order", 0,
			[]tool.ID{"a/2", "a/1", "b/1"},
			[]float64{1, 1, 1 + siblingBonus},
			[]*ranking{of("a/3")},
			[]tool.ID{"a/2", "a/1", "b/1"},
		},
		{"nothing to order", 4, []tool.ID{"a/1", "b/1"}, []float64{1, .9}, []*ranking{of("b/1")}, []tool.ID{"a/1", "b/1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := list(tt.ids, tt.fused)
			r.bringSiblings(snap, tt.from, tt.seeds...)
			var got []tool.ID
			for _, p := range r.places {
				got = append(got, snap.Set().All()[p.doc].ID())
				if p.fused != tt.fused[slices.Index(tt.ids, got[len(got)-1])] {
					t.Errorf("the score of %s changed", got[len(got)-1])
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
	t.Run("depth", func(t *testing.T) {
		r := new(ranking)
		for range siblingDepth {
			r.places = append(r.places, place{best: at["b/1"], fused: 1})
		}
		r.places = append(r.places, place{best: at["a/2"], fused: 1})
		r.bringSiblings(snap, 1, of("a/1"))
		if r.places[siblingDepth].best != at["a/2"] {
			t.Error("a place beyond the depth moved")
		}
	})
}

// TestSiblingsOfSeveralNeeds asks for several things, in parts and in clauses. Later tools on the servers of the first
// ones come before others that are a little better, and the first seven are the same as if fewer were asked for.
func TestSiblingsOfSeveralNeeds(t *testing.T) {
	e := engineOf(t, catalogue(t))
	for _, tt := range []struct {
		text           string
		sibling, other tool.ID
	}{
		{
			"create an issue about the crash and post a message to the channel",
			"forge/create_branch", "notes/create_note",
		},
		{
			"list the orders of the customer, refund the last payment and send an email to the customer",
			"shop/create_coupon", "browser/fill_form",
		},
		{
			"the broken login should be on the list of bugs, and somebody in the chat should hear of it",
			"forge/create_pull_request", "notes/create_note",
		},
	} {
		long := hitIDs(mustSearch(t, e, tool.Query{Text: tt.text, Limit: 20}).Tools)
		sibling, other := slices.Index(long, tt.sibling), slices.Index(long, tt.other)
		if sibling < 0 || other < 0 || sibling > other {
			t.Errorf("%q: %s at %d, %s at %d", tt.text, tt.sibling, sibling, tt.other, other)
		}
		short := hitIDs(mustSearch(t, e, tool.Query{Text: tt.text, Limit: clauseFrom}).Tools)
		if !slices.Equal(short, long[:clauseFrom]) {
			t.Errorf("%q: of seven %v, of twenty %v", tt.text, short, long)
		}
	}
}
