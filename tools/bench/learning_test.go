package main

import (
	"context"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/eval"
)

// TestReplay learns from half of the demo's requests, twice: the other half is none of them, the same comes out, and
// the clicks were learned from.
func TestReplay(t *testing.T) {
	l, ctx := testLab(t), context.Background()
	var reports [2]string
	for i := range reports {
		r, err := l.newReplay(ctx, demoSet, func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		clicked := map[string]bool{}
		for _, c := range r.clicks {
			clicked[c.request] = true
		}
		for _, c := range r.test.Cases {
			if clicked[c.Query] || c.NoMatch() {
				t.Errorf("request %s is in the test", c.ID)
			}
		}
		if err := r.learnUntil(ctx, len(r.clicks)); err != nil {
			t.Fatal(err)
		}
		if r.put != len(r.clicks) || r.put < 50 || len(r.learner.Report().Tools) < 10 {
			t.Errorf("%d of %d clicks were put, about %d tools", r.put, len(r.clicks), len(r.learner.Report().Tools))
		}
		var b strings.Builder
		if err := r.learner.Export(&b); err != nil {
			t.Fatal(err)
		}
		reports[i] = b.String()
	}
	if diff := gocmp.Diff(reports[0], reports[1]); diff != "" {
		t.Errorf("two runs differ (-first +second)\n%s", diff)
	}
}

func TestHalves(t *testing.T) {
	d := &eval.Dataset{Cases: []eval.Case{
		{ID: "a", Query: "a", Relevant: []string{"x"}, Split: "train"}, {
			ID: "b", Query: "b", Relevant: []string{"x"},
			Split: "test",
		}, {ID: "c", Query: "c", Split: "train"},
	}}
	train, test := halves(d)
	if len(train) != 1 || train[0].ID != "a" || len(test.Cases) != 1 || test.Cases[0].ID != "b" {
		t.Errorf("train %+v, test %+v", train, test.Cases)
	}
}
