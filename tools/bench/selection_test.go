package main

import (
	"math"
	"slices"
	"testing"

	"tooldex/eval"
	"tooldex/selection"
	"tooldex/tool"
)

func TestRecallOfSelections(t *testing.T) {
	var tools []*tool.Tool
	for _, name := range []string{"a", "b", "c", "d"} {
		tools = append(tools, &tool.Tool{Server: "s", Name: name})
	}
	d := eval.NewDataset("x", tool.NewSet(tools, ""))
	res := &selection.Selection{Selected: []selection.Selected{{ID: "s/a"}, {ID: "s/b"}}}
	for name, c := range map[string]struct {
		c    eval.Case
		want float64
	}{
		"all":           {eval.Case{Relevant: []string{"s/a", "s/b"}}, 1},
		"half":          {eval.Case{Relevant: []string{"s/a", "s/c"}}, .5},
		"one is enough": {eval.Case{Relevant: []string{"s/a", "s/c"}, Any: true}, 1},
		"none":          {eval.Case{Relevant: []string{"s/c", "s/d"}, Any: true}, 0},
		"one of each": {eval.Case{
			Relevant: []string{"s/a", "s/c", "s/b"},
			AllOf:    [][]string{{"s/a", "s/c"}, {"s/b"}},
		}, 1},
		"none of a group": {eval.Case{
			Relevant: []string{"s/a", "s/c", "s/d"},
			AllOf:    [][]string{{"s/c", "s/d"}, {"s/a"}},
		}, .5},
	} {
		if got := recallOf(d, c.c, res); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if !selects(res, "s/a") || selects(res, "s/c") {
		t.Error("what is selected is not told")
	}
}

func TestStream(t *testing.T) {
	var cases []eval.Case
	for i := range 100 {
		cases = append(cases, eval.Case{ID: string(rune('a' + i)), Relevant: []string{"x"}})
	}
	got := stream(cases, 1000)
	times := map[string]int{}
	for _, c := range got {
		times[c.ID]++
	}
	most := 0
	for _, n := range times {
		most = max(most, n)
	}
	if len(got) != 1000 || most < 50 || len(times) < 30 || !slices.EqualFunc(got, stream(cases, 1000),
		func(a, b eval.Case) bool { return a.ID == b.ID }) {
		t.Errorf("%d requests, the most frequent %d times, %d different", len(got), most, len(times))
	}
	if cosine([]float32{3, 0}, []float32{0, 2}) != 0 || math.Abs(cosine([]float32{3, 3}, []float32{1, 1})-1) > 1e-6 ||
		cosine([]float32{0}, []float32{1}) != 0 {
		t.Error("the cosine is wrong")
	}
}

// TestSelectionsOfTheDemo runs the parts of the section over the demo alone.
func TestSelectionsOfTheDemo(t *testing.T) {
	l := testLab(t)
	set, err := l.part(t.Context(), demoSet, coding())
	if err != nil {
		t.Fatal(err)
	}
	if set.catalogue.Len() < 40 {
		t.Errorf("%d tools", set.catalogue.Len())
	}
	whole, err := l.set(t.Context(), demoSet)
	if err != nil {
		t.Fatal(err)
	}
	requests := append(slices.Clone(served(whole.Cases)[:15]), served(whole.Cases)[:15]...)
	with, without, err := l.replayStream(t.Context(), whole, requests)
	if err != nil {
		t.Fatal(err)
	}
	if with.hits < .5 || without.hits != 0 || with.recall != without.recall || with.requests != 30 || with.tools < 1 ||
		with.share > .2 {
		t.Errorf("with a cache %+v, without %+v", with, without)
	}
	pairs, above, differ, err := l.collisions(t.Context(), requests[:10], selection.NewVocabulary(whole.catalogue))
	if err != nil || pairs != 45 || len(above) != len(collisionLevels()) || len(differ) != len(above) {
		t.Errorf("%d pairs, %v %v %v", pairs, above, differ, err)
	}
}
