package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/eval"
	"tooldex/index"
	"tooldex/knowledge"
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

func TestCurveSizes(t *testing.T) {
	for total, want := range map[int][]int{
		500:    {500},
		800:    {750},
		6000:   {750, 1500, 3000, 6000},
		7000:   {750, 1500, 3000, 6000, 7000},
		12_500: {750, 1500, 3000, 6000, 12_000},
		14_000: {750, 1500, 3000, 6000, 12_000, 14_000},
	} {
		if diff := cmp.Diff(want, curveSizes(total)); diff != "" {
			t.Errorf("%d: %s", total, diff)
		}
	}
}

func TestSubsetsAreNested(t *testing.T) {
	src := &knowledge.Source{}
	for _, server := range []string{"a", "b", "c", "d", "e"} {
		for _, name := range []string{"one", "two", "three"} {
			src.Archetypes = append(src.Archetypes, knowledge.Archetype{Server: server, Name: name})
		}
	}
	names := func(s *knowledge.Source) (out []string) {
		for _, a := range s.Archetypes {
			out = append(out, a.Server+"/"+a.Name)
		}
		return out
	}
	var before []string
	for n := 1; n <= 15; n++ {
		got, servers := subset(src, n)
		if len(got.Archetypes) != n || servers != (n+2)/3 {
			t.Errorf("%d archetypes of %d servers, want %d of %d", len(got.Archetypes), servers, n, (n+2)/3)
		}
		now := names(got)
		for _, name := range before {
			if !slices.Contains(now, name) {
				t.Errorf("%d archetypes have lost %s", n, name)
			}
		}
		before = now
	}
	if all, _ := subset(src, 99); len(all.Archetypes) != 15 {
		t.Error("more than there are is not all")
	}
}

func TestVerdict(t *testing.T) {
	requests := func(found, of int) []bool {
		out := make([]bool, of)
		for i := range found {
			out[i] = true
		}
		return out
	}
	at := func(archetypes, paraphrases, goals int) point {
		return point{archetypes: archetypes, found: map[string][]bool{
			"paraphrase": requests(paraphrases, 100),
			"goal":       requests(goals, 100),
		}}
	}
	rising := verdict([]point{at(750, 20, 20), at(1500, 40, 50), at(3000, 60, 51)})
	for _, want := range []string{
		"From 1500 to 3000", "+0.200 ± 0.040 of paraphrase", "+0.010 ± 0.010 of goal",
		"for paraphrase requests",
	} {
		if !strings.Contains(rising, want) {
			t.Errorf("%q lacks %q", rising, want)
		}
	}
	if flat := verdict([]point{at(1500, 50, 50), at(3000, 51, 50)}); !strings.Contains(flat, "Neither") {
		t.Errorf("a flat curve is said to rise: %q", flat)
	}
	// A last point that is not a doubling counts by what it is.
	if part := verdict([]point{at(1000, 0, 0), at(3500, 0, 0), at(4000, 40, 40)}); !strings.Contains(part,
		"From 1000 to 4000 archetypes, a doubling brought +0.200") {
		t.Errorf("two doublings count as one: %q", part)
	}
	if one := verdict([]point{at(750, 1, 1)}); !strings.Contains(one, "no curve") {
		t.Errorf("one point: %q", one)
	}
}

func TestCause(t *testing.T) {
	known := clues{needs: 0, words: 6, like: .9, low: .6, linked: true}
	with := func(change func(*clues)) clues {
		c := known
		change(&c)
		return c
	}
	for want, c := range map[string]clues{
		causeOutweighed:  known,
		causeParts:       with(func(c *clues) { c.needs, c.foreign = 2, true }),
		causeNeed:        with(func(c *clues) { c.needs, c.parts = 2, 2 }),
		causeLanguage:    with(func(c *clues) { c.foreign, c.like = true, .1 }),
		causeLexicon:     with(func(c *clues) { c.foreign, c.translated = true, 2 }),
		causeUnknown:     with(func(c *clues) { c.unknown = 3 }),
		causeNoArchetype: with(func(c *clues) { c.like, c.shared = .5, 1 }),
		causeSibling:     with(func(c *clues) { c.shared, c.sameServer = .5, true }),
		causeDouble:      with(func(c *clues) { c.shared = .5 }),
		causeUnlinked:    with(func(c *clues) { c.linked, c.shared = false, .4 }),
	} {
		if got := c.cause(); got != want {
			t.Errorf("%+v is put down to %q, want %q", c, got, want)
		}
		if !slices.ContainsFunc(causes(), func(listed [2]string) bool { return listed[0] == want }) {
			t.Errorf("%q is not listed", want)
		}
	}
	if len(causes()) != 10 {
		t.Errorf("%d causes are listed, 10 are told", len(causes()))
	}
}

func TestPlaces(t *testing.T) {
	ranked := []eval.Ranked{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}, {Name: "f"}}
	for _, c := range []struct {
		name   string
		is     eval.Case
		place  int
		missed bool
	}{
		{"first of those that serve", eval.Case{Relevant: []string{"e", "b"}}, 2, false},
		{"behind five", eval.Case{Relevant: []string{"f"}}, 6, true},
		{"nowhere", eval.Case{Relevant: []string{"x"}}, notFound, true},
		{"last need", eval.Case{Relevant: []string{"a", "f"}, AllOf: [][]string{{"a"}, {"f", "x"}}}, 6, false},
		{"a need not met", eval.Case{Relevant: []string{"a", "x"}, AllOf: [][]string{{"x"}, {"a"}}}, notFound, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := placeOf(&c.is, ranked)
			if got != c.place || missed(&c.is, got) != c.missed {
				t.Errorf("place %d, missed %v; want %d, %v", got, missed(&c.is, got), c.place, c.missed)
			}
		})
	}
}

func TestSharedLenders(t *testing.T) {
	right := []index.Landmark{{Point: 1, Lent: 1}, {Point: 2, Lent: .5}, {Point: 3, Lent: .5}, {Point: 9}}
	first := []index.Landmark{{Point: 1, Lent: .1}, {Point: 3}, {Point: 9, Lent: 1}}
	if got := sharedLenders(right, first); math.Abs(got-.5) > 1e-6 {
		t.Errorf("shared is %v, want half: one lent to both, one only resembles the first", got)
	}
	if got := sharedLenders(nil, first); got != 0 {
		t.Errorf("of nothing %v is shared", got)
	}
}

func TestQuantile(t *testing.T) {
	if got := quantile([]float64{4, 1, 3, 2}, .25); got != 2 {
		t.Errorf("a quarter lies below %v, want 2", got)
	}
	if got := quantile([]float64{1}, 1); got != 1 {
		t.Errorf("all lie below %v", got)
	}
	if quantile(nil, .5) != 0 {
		t.Error("no values have a quantile")
	}
}

func TestMissesPageKeepsTextsOut(t *testing.T) {
	page := missesPage([]miss{{set: "s", id: "q1", kind: "goal", place: notFound, clues: clues{like: .2, low: .5}}}, 7)
	for _, want := range []string{
		"Of 7 requests", "1 are missed", "| s | q1 | goal | over 100 | " + causeNoArchetype,
		"below .500",
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
	// Bin 9: mean score .95, two thirds served: off by .2833, weight .75. Bin 1: score .12, none served, weight .25.
	if got, want := calibrationError(bins), .75*(.95-2./3)+.25*.12; math.Abs(got-want) > 1e-9 {
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
