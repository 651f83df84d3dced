package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/eval"
)

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
