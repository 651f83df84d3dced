package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/cmd/tooldex/demo"
	"tooldex/tool"
)

func TestFuse(t *testing.T) {
	for name, c := range map[string]struct {
		r                  scored
		words, own, cosine float32
		want               float32
	}{
		// The best by both: 4/4 + w*(.9-.1)/(.9-.1) = 1 + w.
		"best by both": {
			scored{maxWords: 4, maxCosine: .9, least: .1, vector: []float32{1}},
			4, 0, .9,
			1 + semanticWeight,
		},
		// Half of the words, and half of the way from the least to the most alike: 2/4 + w*(.5-.1)/(.9-.1) = .5 + .5w.
		"half by both": {
			scored{maxWords: 4, maxCosine: .9, least: .1, vector: []float32{1}},
			2, 0, .5,
			.5 + .5*semanticWeight,
		},
		// The least alike, without a word: 0/4 + w*(.1-.1)/.8 = 0.
		"worst by both": {scored{maxWords: 4, maxCosine: .9, least: .1, vector: []float32{1}}, 0, 0, .1, 0},
		// Negative cosines count from the least as well: w*(-.2 - -.4)/(.4 - -.4) = .25w.
		"below zero": {scored{maxCosine: .4, least: -.4, vector: []float32{1}}, 0, 0, -.2, .25 * semanticWeight},
		// Without a vector only words count: 3/4.
		"words only": {scored{maxWords: 4, least: 1, maxCosine: -1}, 3, 0, 0, .75},
		// No tool has a word of the request: meaning decides alone, w*(.5-0)/(1-0).
		"meaning only": {scored{maxCosine: 1, vector: []float32{1}}, 0, 0, .5, .5 * semanticWeight},
		// Seven different words are few: what is lent counts as much as before, 2/4.
		"short request": {scored{maxWords: 4, maxOwn: 2, known: 7}, 2, 0, 0, .5},
		// Eleven are half-way to fifteen: 2/4 + .5*(1/2 - 2/4) with the own words at half, .5; without own words 2/4 +
		// .5*(0 - 2/4).
		"longer request, own words": {scored{maxWords: 4, maxOwn: 2, known: 11}, 2, 1, 0, .5},
		"longer request, only lent": {scored{maxWords: 4, maxOwn: 2, known: 11}, 2, 0, 0, .25},
		// From fifteen on only a tool's own words count: 1/2.
		"long request": {scored{maxWords: 4, maxOwn: 2, known: 20}, 4, 1, 0, .5},
		// All are equally alike, which says nothing: 1/4.
		"all alike": {scored{maxWords: 4, maxCosine: .3, least: .3, vector: []float32{1}}, 1, 0, .3, .25},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.r.fuseScore(c.words, c.own, c.cosine); math.Abs(float64(got-c.want)) > 1e-6 {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestTop(t *testing.T) {
	all := []bool{true, true, true, true, true}
	for name, c := range map[string]struct {
		scores  []float32
		allowed []bool
		n       int
		want    []int32
	}{
		"best first":              {[]float32{1, 5, 3, 2, 4}, all, 3, []int32{1, 4, 2}},
		"ties by document":        {[]float32{2, 1, 2, 1, 2}, all, 5, []int32{0, 2, 4, 1, 3}},
		"ties at the cut":         {[]float32{1, 1, 1, 1, 2}, all, 3, []int32{4, 0, 1}},
		"nothing without a score": {[]float32{0, -1, 0, 3, 0}, all, 5, []int32{3}},
		"what is hidden has none": {
			[]float32{5, 4, 3, 2, 1},
			[]bool{false, true, false, true, true},
			2,
			[]int32{1, 3},
		},
		"more wanted than allowed": {[]float32{5, 4, 3, 2, 1}, []bool{false, false, false, false, true}, 3, []int32{4}},
		"none allowed":             {[]float32{5, 4, 3, 2, 1}, make([]bool, 5), 3, []int32{}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, topDocuments(c.scores, c.allowed, c.n, make([]int32, 0, 5))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestTopEqualsSort holds the bounded insertion against a full sort, with many ties.
func TestTopEqualsSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n := 1 + r.IntN(60)
		scores, allowed := make([]float32, n), make([]bool, n)
		var want []int32
		for i := range scores {
			scores[i], allowed[i] = float32(r.IntN(6)), r.IntN(4) > 0
			if allowed[i] && scores[i] > 0 {
				want = append(want, int32(i))
			}
		}
		slices.SortStableFunc(want, func(a, b int32) int { return int(scores[b] - scores[a]) })
		k := 1 + r.IntN(10)
		if got := topDocuments(scores, allowed, k, nil); !slices.Equal(got, want[:min(k, len(want))]) {
			t.Fatalf("best %d of %v with %v: got %v, want %v", k, scores, allowed, got, want)
		}
	}
}

// TestRankingGolden shows every change of the ranking as a diff.
func TestRankingGolden(t *testing.T) {
	e := engineOf(t, catalogue(t))
	var b strings.Builder
	for _, q := range queries(t) {
		r := mustSearch(t, e, tool.Query{Text: q.text})
		fmt.Fprintf(&b, "%s\n", q.text)
		if !r.Confident {
			fmt.Fprintln(&b, "  not confident")
		}
		for _, h := range r.Tools {
			mark := " "
			if h.ID == q.want {
				mark = "*"
			}
			fmt.Fprintf(&b, "  %s %.3f %s\n", mark, h.Score, h.ID)
		}
	}
	const path = "testdata/ranking.golden"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("the ranking changed; if for the better, run with -update (-golden +now):\n%s", d)
	}
}

// TestRankingFinds is coarser than the golden file: most requests must find their tool in the first place, nearly all
// among the first three.
func TestRankingFinds(t *testing.T) {
	e := engineOf(t, catalogue(t))
	first, third, all := 0, 0, 0
	for _, q := range queries(t) {
		if q.want == "" {
			continue
		}
		all++
		ids := hitIDs(mustSearch(t, e, tool.Query{Text: q.text, Limit: 3}).Tools)
		switch slices.Index(ids, q.want) {
		case 0:
			first++
			third++
		case 1, 2:
			third++
			t.Logf("%q: %v", q.text, ids)
		default:
			t.Logf("%q misses %s: %v", q.text, q.want, ids)
		}
	}
	t.Logf("%d first, %d among three, of %d", first, third, all)
	if first*100 < all*80 || third*100 < all*93 {
		t.Errorf("only %d of %d requests find their tool first, %d among three", first, all, third)
	}
}

func TestNoToolFits(t *testing.T) {
	e := engineOf(t, catalogue(t))
	for _, q := range queries(t) {
		r := mustSearch(t, e, tool.Query{Text: q.text})
		if q.want == "" && (r.Confident || r.Advice == nil || r.Advice.Message == "") {
			t.Errorf("%q: confident %v, advice %+v", q.text, r.Confident, r.Advice)
		}
		if r.Confident != (r.Advice == nil) {
			t.Errorf("%q: confident %v and advice %+v", q.text, r.Confident, r.Advice)
		}
	}
}

// variants are searches that together use everything.
func variants(t testing.TB) []tool.Query {
	var out []tool.Query
	for _, q := range queries(t) {
		out = append(out, tool.Query{Text: q.text, Limit: 20, Detail: tool.DetailSchema, Explain: true})
	}
	return append(out,
		tool.Query{
			Text: "read the file and send it by email, then post a message to the channel", Limit: 10,
			Explain: true,
		},
		tool.Query{Texts: []string{"send an email", "check the weather", "draw me a horoscope"}, Limit: 10},
		tool.Query{Text: "issue", Mode: tool.Keyword, Explain: true}, tool.Query{
			Text: "issue", Mode: tool.Semantic,
			Explain: true,
		},
		tool.Query{Text: "list", Filter: tool.Filter{ReadOnly: true, Disabled: true}, Detail: tool.DetailSignature},
	)
}

func encoded(t testing.TB, e *Engine, q tool.Query) string {
	t.Helper()
	b, err := json.Marshal(mustSearch(t, e, q))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSameBytes asks again, and asks engines made anew of tools in other orders.
func TestSameBytes(t *testing.T) {
	asksOften(t)
	tools := catalogue(t)
	first := engineOf(t, tools)
	r := rand.New(rand.NewPCG(2, 2))
	for round := range 3 {
		r.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		e := engineOf(t, tools)
		for _, q := range variants(t) {
			want := encoded(t, first, q)
			if got := encoded(t, e, q); got != want {
				t.Errorf("round %d, %q%q: another answer for another insert order\n%s", round, q.Text, q.Texts,
					cmp.Diff(want, got))
			}
		}
	}
}

func TestConcurrentSearch(t *testing.T) {
	e := engineOf(t, catalogue(t))
	all := variants(t)
	want := make([]string, len(all))
	for i, q := range all {
		want[i] = encoded(t, e, q)
	}
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range all {
				k := (i*7 + g*5) % len(all)
				r, err := e.Search(t.Context(), all[k])
				if err != nil {
					t.Error(err)
					return
				}
				b, err := json.Marshal(r)
				if err != nil || !bytes.Equal(b, []byte(want[k])) {
					t.Errorf("%q is answered otherwise beside others, %v", all[k].Text, err)
				}
			}
		})
	}
	group.Wait()
}

// TestLimitIsAPrefix asks for fewer: the answer must be the beginning of the longer one.
func TestLimitIsAPrefix(t *testing.T) {
	e := engineOf(t, catalogue(t))
	for _, q := range variants(t) {
		q.Explain, q.Limit = false, 20
		long := mustSearch(t, e, q)
		for _, limit := range []int{1, 2, 3, 5, 8, 12} {
			q.Limit = limit
			got := mustSearch(t, e, q)
			n := max(limit, len(q.Texts)) // each of the needs that are listed has at least one
			if want := long.Tools[:min(n, len(long.Tools))]; !slices.EqualFunc(want, got.Tools,
				func(a, b tool.Hit) bool { return a.ID == b.ID && a.Score == b.Score }) {
				t.Errorf("%q%q, limit %d: %v, of 20: %v", q.Text, q.Texts, limit, hitIDs(got.Tools), hitIDs(want))
			}
			if got.Confident != long.Confident {
				t.Errorf("%q%q: confident at limit %d is %v, at 20 %v", q.Text, q.Texts, limit, got.Confident,
					long.Confident)
			}
		}
	}
}

func TestScoresFall(t *testing.T) {
	e := engineOf(t, catalogue(t))
	for _, q := range queries(t) {
		r := mustSearch(t, e, tool.Query{Text: q.text, Limit: 100})
		if len(r.Groups) > 0 {
			continue // the best of each part comes first
		}
		for i, h := range r.Tools {
			if h.Score < 0 || h.Score > 1 || i > 0 && h.Score > r.Tools[i-1].Score {
				t.Errorf("%q: %s scores %v, after %v", q.text, h.ID, h.Score, r.Tools[max(0, i-1)].Score)
			}
		}
	}
}

// TestExplainAddsUp makes the sum of the words and the fusion again from what is told.
func TestExplainAddsUp(t *testing.T) {
	e := engineOf(t, catalogue(t))
	for _, q := range queries(t) {
		r := mustSearch(t, e, tool.Query{Text: q.text, Limit: 100, Explain: true})
		if len(r.Groups) > 0 || len(r.Tools) == 0 {
			continue
		}
		var most, sum, mostCosine float64 = 0, 0, -1
		for _, h := range r.Tools {
			most, mostCosine, sum = max(most, h.Explain.Keyword), max(mostCosine, h.Explain.Semantic),
				sum+h.Explain.Semantic
		}
		mean, squares := sum/float64(len(r.Tools)), 0.0
		for _, h := range r.Tools {
			squares += (h.Explain.Semantic - mean) * (h.Explain.Semantic - mean)
		}
		least := mean - belowMean*math.Sqrt(squares/float64(len(r.Tools)))
		for i, h := range r.Tools {
			x := h.Explain
			var sum float64
			for _, v := range x.Terms {
				sum += v
			}
			if math.Abs(sum-x.Keyword) > 1e-3*max(1, sum) {
				t.Errorf("%q, %s: terms add up to %v, keyword is %v", q.text, h.ID, sum, x.Keyword)
			}
			if i > 0 && x.Fused > r.Tools[i-1].Explain.Fused {
				t.Errorf("%q, %s: fused %v stands behind %v", q.text, h.ID, x.Fused, r.Tools[i-1].Explain.Fused)
			}
			if x.Weight <= 0 {
				t.Errorf("%q: the semantic part has no weight", q.text)
			}
		}
		// Mean and deviation are only known if all tools were found.
		if first := r.Tools[0].Explain; !first.Exact && len(r.Tools) == 43 {
			want := first.Keyword/most + first.Weight*(first.Semantic-least)/(mostCosine-least)
			if first.OppositeAction {
				want *= oppositeAction
			}
			if math.Abs(want-first.Fused) > 1e-3 {
				t.Errorf("%q: fused %v, its parts give %v", q.text, first.Fused, want)
			}
		}
	}
}

func demoQueries(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, name := range []string{"queries-a.jsonl", "queries-b.jsonl"} {
		data, err := demo.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var q struct{ Query string }
			if err := json.Unmarshal(line, &q); err != nil {
				t.Fatal(err)
			}
			out = append(out, q.Query)
		}
	}
	return out
}
