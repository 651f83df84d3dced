package eval

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// placed makes a report in which the one relevant tool of request i stands at at[i]; 0 means it was not found.
func placed(t testing.TB, kind func(i int) string, at ...int) *Report {
	t.Helper()
	d := &Dataset{known: map[string]bool{"right": true, "wrong": true}}
	answers := make([]Answer, len(at))
	for i, place := range at {
		id := fmt.Sprintf("r%03d", i)
		d.Cases = append(d.Cases, Case{ID: id, Kind: kind(i), Relevant: []string{"right"}})
		answers[i].ID = id
		for range max(place-1, 0) {
			answers[i].Ranked = append(answers[i].Ranked, Ranked{Name: "wrong"})
		}
		if place > 0 {
			answers[i].Ranked = append(answers[i].Ranked, Ranked{Name: "right"})
		}
	}
	r, err := Score(d, answers, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func oddEven(i int) string { return [...]string{"even", "odd"}[i%2] }

func difference(t *testing.T, of []Difference, m Metric) Difference {
	t.Helper()
	for _, d := range of {
		if d.Metric == m {
			return d
		}
	}
	t.Fatalf("no %s", m)
	return Difference{}
}

func TestCompare(t *testing.T) {
	a := placed(t, oddEven, 1, 2, 3, 4, 0, 1, 6, 1)
	b := placed(t, oddEven, 1, 1, 1, 0, 2, 1, 4, 2)
	c, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	hit := difference(t, c.All, hitAt(1))
	// a: requests 0, 5, 7; b: 0, 1, 2, 5. Won 1 and 2, lost 7.
	if hit.A != 3./8 || hit.B != 4./8 || hit.Change != 1./8 || hit.Wins != 2 || hit.Losses != 1 {
		t.Errorf("hit@1: %+v", hit)
	}
	if hit.Clear() || hit.Low >= 0 || hit.High <= 0 {
		t.Errorf("three requests of eight decide nothing, but the interval is %v to %v", hit.Low, hit.High)
	}
	even := difference(t, c.Kinds[0].Metrics, hitAt(1)) // 0, 2, 4, 6
	if c.Kinds[0].Kind != "even" || c.Kinds[0].Queries != 4 || even.A != .25 || even.B != .5 || even.Wins != 1 {
		t.Errorf("even: %+v, hit@1 %+v", c.Kinds[0], even)
	}
	// Changes in reciprocal rank: r007 1 to 1/2, r003 1/4 to 0, r006 1/6 to 1/4, r001 and r004 +1/2, r002 1/3 to 1.
	want := []Change{
		{ID: "r007", Kind: "odd", A: 1, B: 2},
		{ID: "r003", Kind: "odd", A: 4, B: 0},
		{ID: "r006", Kind: "even", A: 6, B: 4},
		{ID: "r001", Kind: "odd", A: 2, B: 1},
		{ID: "r004", Kind: "even", A: 0, B: 2},
		{ID: "r002", Kind: "even", A: 3, B: 1},
	}
	if diff := cmp.Diff(want, c.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	c.A, c.B = "old", "new"
	var text bytes.Buffer
	if err := c.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", text.Bytes())
}

func TestCompareWithItself(t *testing.T) {
	a := placed(t, oddEven, 1, 2, 0, 7)
	c, err := Compare(a, a)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.All {
		if d.Change != 0 || d.Low != 0 || d.High != 0 || d.Wins+d.Losses != 0 || d.Clear() {
			t.Errorf("%+v", d)
		}
	}
	if len(c.Changes) > 0 {
		t.Errorf("changes %v", c.Changes)
	}
}

// The interval of a mean of n changes that are 1 with chance p is p ± 1.96 sqrt(p(1-p)/n), for n this large.
func TestCompareInterval(t *testing.T) {
	const n, won = 400, 120
	before, after := make([]int, n), make([]int, n)
	for i := range after {
		after[i] = int(boolScore(i < won))
	}
	none := func(int) string { return "" }
	c, err := Compare(placed(t, none, before...), placed(t, none, after...))
	if err != nil {
		t.Fatal(err)
	}
	d, p := difference(t, c.All, hitAt(1)), float64(won)/n
	half := 1.96 * math.Sqrt(p*(1-p)/n)
	if math.Abs(d.Low-(p-half)) > .004 || math.Abs(d.High-(p+half)) > .004 || !d.Clear() {
		t.Errorf("interval %v to %v, want about %v to %v", d.Low, d.High, p-half, p+half)
	}
}

func TestCompareIsDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	at := make([][]int, 2)
	for i := range at {
		for range 60 {
			at[i] = append(at[i], rng.IntN(12))
		}
	}
	a, b := placed(t, oddEven, at[0]...), placed(t, oddEven, at[1]...)
	first, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	rng.Shuffle(len(a.Cases), func(i, j int) { a.Cases[i], a.Cases[j] = a.Cases[j], a.Cases[i] })
	again, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("after a shuffle (-first +again):\n%s", diff)
	}
	back, err := Compare(b, a)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range back.All {
		if f := first.All[i]; d.Change != -f.Change || d.Wins != f.Losses || math.Abs(d.Low+f.High) > .02 {
			t.Errorf("the other way round: %+v and %+v", f, d)
		}
	}
}

func TestCompareUnpaired(t *testing.T) {
	none := func(int) string { return "" }
	a, b := placed(t, none, 1, 1, 1), placed(t, none, 0, 0)
	a.Cases[2].ID, b.Cases[1].ID = "only a", "only b"
	c, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	// r000 is in both; r001 and "only a" are in one, "only b" in the other.
	if c.Queries != 1 || c.Unpaired != 3 || difference(t, c.All, metricMRR).Change != -1 {
		t.Errorf("%+v", c)
	}
	b.Cases = b.Cases[1:]
	if _, err := Compare(a, b); tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(),
		"no request in common") {
		t.Errorf("error %v", err)
	}
	b.Depth = 10
	if _, err := Compare(a, b); tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(),
		"50 tools, the other 10") {
		t.Errorf("error %v", err)
	}
}

// The page of a comparison names the requests that moved, as text.
func TestComparisonHTML(t *testing.T) {
	c := &Comparison{
		A: "old", B: "new", Queries: 2, All: []Difference{{Metric: recallAt(1), B: 1, Change: 1}, {Metric: hitAt(1), B: 1, Change: 1}},
		Changes: []Change{{ID: "r1", Query: "open <b>the</b> door", Kind: "goal", A: 3, B: 0}, {ID: "r2", Query: "close it", A: 2, B: 1}},
	}
	var b bytes.Buffer
	if err := c.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"<h1>new against old</h1>", "open &lt;b&gt;the&lt;/b&gt; door", "close it", "<td>recall@1</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if strings.Contains(page, "hit@1") {
		t.Error("the page repeats recall@1 as hit@1")
	}
	if err := c.WriteHTML(fullDisk{}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

func TestConclusion(t *testing.T) {
	r := placed(t, func(i int) string { return []string{"goal", "paraphrase"}[i%2] }, 1, 1, 7, 9, 9)
	got := r.Conclusion([]Verdict{{Met: true}, {}})
	for _, want := range []string{"Failed: 1 of 2 gates are not met.", "first for 40 % of 5 requests", "3 requests are missed, 2 of them of kind goal."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if got := r.Conclusion([]Verdict{{Met: true}}); !strings.HasPrefix(got, "Passed: 1 of 1 gates are met.") {
		t.Errorf("%q", got)
	}
	if got := (&Report{}).Conclusion(nil); got != "" {
		t.Errorf("a report without requests concludes %q", got)
	}
	if percentText(.9999) != "99 %" || percentText(.0001) != "1 %" || percentText(1) != "100 %" {
		t.Error("a percentage is rounded to all or nothing")
	}
}
