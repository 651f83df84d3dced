package main

import (
	"strings"
	"testing"

	"tooldex/eval"
)

func TestBranchesPage(t *testing.T) {
	s := func(recall, gain float64) eval.Scores { return eval.Scores{"recall@5": recall, "ndcg@10": gain} }
	got := branchesPage([]branch{
		{"near", 10, s(.5, .5), s(.7, .6), s(.8, .7), s(.795, .71)},
		{"far", 20, s(.5, .5), s(.7, .9), s(.8, .7), s(.85, .85)},
	})
	for _, want := range []string{
		"| near | 10 | .500 / .500 | .700 / .600 | .800 / .700 | .795 / .710 | no |\n",
		"| far | 20 | .500 / .500 | .700 / .900 | .800 / .700 | .850 / .850 | **by .000 / .050** |\n",
		"\n1 of 2 sets meet the first target. Mean recall@5: plain BM25F .500, hybrid .823.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
