package main

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/eval"
	"tooldex/tool"
)

// lists answers each mode with a fixed list.
type lists map[tool.Mode][]tool.ID

func (l lists) Search(_ context.Context, q tool.Query) (*tool.Result, error) {
	r := &tool.Result{}
	for _, id := range l[q.Mode] {
		r.Tools = append(r.Tools, tool.Hit{ID: id})
	}
	return r, nil
}

func TestByRank(t *testing.T) {
	s := byRank{
		lists{tool.Keyword: {"s/a", "s/b", "s/c"}, tool.Semantic: {"s/c", "s/b", "s/d"}},
		[]tool.Mode{tool.Keyword, tool.Semantic},
	}
	r, err := s.Search(t.Context(), tool.Query{Text: "x", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []tool.ID
	for _, h := range r.Tools {
		got = append(got, h.ID)
	}
	// c: 1/63 + 1/61, b: twice 1/62, a: 1/61, d: 1/63.
	if diff := cmp.Diff([]tool.ID{"s/c", "s/b", "s/a"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want := 1./63 + 1./61; math.Abs(r.Tools[0].Score-want) > 1e-12 {
		t.Errorf("the first has %v, want %v", r.Tools[0].Score, want)
	}
}

func TestRelabelled(t *testing.T) {
	c := eval.Case{
		ID: "7", Relevant: []string{"find", "read"}, AllOf: [][]string{{"find"}, {"read"}},
		Grades: map[string]float64{"find": 2},
	}
	got := relabelled(c, "mine", map[string][]string{"find": {"b/find", "a/find"}, "read": {"a/read"}})
	want := eval.Case{
		ID: "mine 7", Relevant: []string{"a/find", "a/read", "b/find"},
		AllOf: [][]string{{"a/find", "b/find"}, {"a/read"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"find"}, {"read"}}, c.AllOf); diff != "" {
		t.Errorf("the request of the set was changed: %s", diff)
	}
}
