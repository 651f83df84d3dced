package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/eval"
	"tooldex/tool"
)

func TestBars(t *testing.T) {
	report := func(all, kind float64) *eval.Report {
		return &eval.Report{
			All:   eval.Summary{Queries: 4, Scores: eval.Scores{"recall@5": all}},
			Kinds: []eval.Summary{{Kind: "goal", Queries: 2, Scores: eval.Scores{"recall@5": kind}}},
		}
	}
	plain, whole := report(.5, .25), report(.75, .5)
	for _, c := range []struct {
		name string
		bar  bar
		want measured
		met  bool
	}{
		{"of all", bar{"s", "", "recall@5", .7, false}, measured{"s recall@5", 4, .5, .75, .7}, true},
		{
			"of a kind, missed",
			bar{"s", "goal", "recall@5", .7, false},
			measured{"s goal recall@5", 2, .25, .5, .7},
			false,
		},
		{"over plain", bar{"s", "", "recall@5", .25, true}, measured{"s recall@5", 4, .5, .75, .75}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.bar.measure(plain, whole)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(measured{})); diff != "" {
				t.Error(diff)
			}
			if got.met() != c.met {
				t.Errorf("met is %v", got.met())
			}
		})
	}
	if _, err := (bar{"s", "poem", "recall@5", .1, false}).measure(plain, whole); err == nil {
		t.Error("a kind without requests passes")
	}
	rows := []measured{{what: "other"}, {"a", 10, .5, .6, 0}, {"b", 20, .6, .6, 0}, {"c", 30, .7, .72, 0}}
	mean := meanOf(rows)
	if mean.requests != 60 || math.Abs(mean.plain-.6) > 1e-9 || math.Abs(mean.whole-.64) > 1e-9 ||
		math.Abs(mean.least-.63) > 1e-9 || !mean.met() {
		t.Errorf("the mean is %+v", mean)
	}
	page := barsPage([]measured{{"good", 1, 0, 1, 1}, {"bad", 1, 0, .5, 1}})
	for _, want := range []string{
		"| good | 1 | .000 | 1.000 | 1.000 | yes |",
		"| bad | 1 | .000 | .500 | 1.000 | **no** |", "1 of 2 bars are met.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestCalibrationError(t *testing.T) {
	answers := []answered{
		{score: .9, served: true, first: true, weight: .25},
		{score: .95, served: true, weight: .25},
		{score: .12, weight: .25},
		{score: 1, weight: .25},
	}
	bins := binned(answers)
	// Bin 9: mean score .95, the first tool right in a third: off by .6167, weight .75. Bin 1: score .12, none, weight .25.
	if got, want := calibrationError(bins), .75*(.95-1./3)+.25*.12; math.Abs(got-want) > 1e-9 {
		t.Errorf("error %v, want %v", got, want)
	}
	if bins[9].answers != 3 || bins[1].answers != 1 || math.Abs(bins[9].first-1./3) > 1e-9 {
		t.Errorf("bins %+v", bins)
	}
	if got := calibrationError(binned(nil)); got != 0 {
		t.Errorf("no answers have the error %v", got)
	}
}

func TestFewAndUnserved(t *testing.T) {
	cases := []eval.Case{
		{ID: "a", Relevant: []string{"x"}},
		{ID: "b"},
		{ID: "c", Relevant: []string{"x"}},
		{ID: "d", Relevant: []string{"x"}},
	}
	if got := few(cases, 2); len(got) != 2 || got[0].ID != "a" || got[1].ID != "c" {
		t.Errorf("few keeps %v", got)
	}
	if got := few(cases, 9); len(got) != 4 {
		t.Errorf("few of all keeps %d", len(got))
	}
	got := unserved(cases)
	if len(got) != 3 || !got[0].NoMatch() || got[0].ID == "a" {
		t.Errorf("unserved are %+v: without those that nothing serves at home, and under other IDs", got)
	}
}

func TestRefusalOfDemo(t *testing.T) {
	l := testLab(t)
	set, err := l.set(t.Context(), demoSet)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.data, "nonsense.jsonl"), []byte(`{"query":"blorp","kind":"noise"}
{"query":"thanks a lot","kind":"smalltalk"}
{"query":"what is the capital of France?","kind":"no_tool_request"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	// Requests of a set put to its own catalogue are as well served as before: the two cannot be told apart.
	row, scores, err := l.refuse(t.Context(), put{demoSet, demoSet})
	if err != nil {
		t.Fatal(err)
	}
	if row.served == 0 || row.near == nil || row.taken == nil || row.taken.Queries != row.served ||
		len(scores) < 2*row.served {
		t.Fatalf("row %+v with %d scores", row, len(scores))
	}
	if got := *row.foreign.AUROC; got < .45 || got > .6 {
		t.Errorf("the same requests are told apart with AUROC %v", got)
	}
	if *row.taken.AUROC <= .5 {
		t.Errorf("without their tools requests score as high as with them: %v", *row.taken.AUROC)
	}
	engine, _, err := l.open(t.Context(), l.whole(), set)
	if err != nil {
		t.Fatal(err)
	}
	const text = "send an email"
	first := func(s tool.Searcher) tool.ID {
		r, err := s.Search(t.Context(), tool.Query{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return r.Tools[0].ID
	}
	best := first(engine)
	if got := first(blindfold{engine, map[string]map[tool.ID]bool{text: {best: true}}}); got == best {
		t.Errorf("%s is found though it is hidden", got)
	}
}

func TestChooseSections(t *testing.T) {
	all := func() []section { return []section{{name: "bars"}, {name: "curve"}} }
	for _, c := range []struct {
		wanted []string
		left   int
		fails  bool
	}{{nil, 2, false}, {[]string{"curve"}, 1, false}, {[]string{"poems"}, 2, true}} {
		got := all()
		if err := choose(&got, c.wanted); (err != nil) != c.fails || len(got) != c.left {
			t.Errorf("%v leaves %d sections, error %v", c.wanted, len(got), err)
		}
	}
}
