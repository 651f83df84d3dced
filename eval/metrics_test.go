package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// near compares figures that the tests give to four digits.
var near = cmpopts.EquateApprox(0, 5e-5)

// ranking makes a list from names, best first, with falling scores.
func ranking(names string) []Ranked {
	var out []Ranked
	for i, name := range strings.Fields(names) {
		out = append(out, Ranked{Name: name, Score: 1 - float64(i)/100})
	}
	return out
}

// scoreRanking scores an answer that is only a ranking.
func scoreRanking(c *Case, ranked []Ranked, depth int) (Scores, []int) {
	s, at, _ := scoreCase(c, &Answer{Ranked: ranked}, depth)
	return s, at
}

func TestMeasure(t *testing.T) {
	tests := []struct {
		name   string
		c      Case
		ranked string
		depth  int
		want   Scores
		first  int
	}{
		{
			// a stands at 2, b at 4, c nowhere. recall: 0, 1/3, 2/3. rr: 1/2.
			// ndcg: (1/log2 3 + 1/log2 5) / (1/log2 2 + 1/log2 3 + 1/log2 4)
			//     = (.63093 + .43068) / (1 + .63093 + .5) = 1.06161 / 2.13093 = .4982
			name: "binary, all wanted", c: Case{Relevant: []string{"a", "b", "c"}}, ranked: "x a y b z", depth: 50,
			want: Scores{
				"recall@1": 0, "recall@3": 1. / 3, "recall@5": 2. / 3, "recall@10": 2. / 3, "recall@20": 2. / 3,
				"hit@1": 0, "hit@3": 1, "hit@5": 1, "hit@10": 1, "hit@20": 1,
				"mrr": .5, "ndcg@10": .4982, "complete@5": 0, "complete@10": 0, "complete@20": 0,
			},
			first: 2,
		},
		{
			// One is enough: b at 3 makes every recall from 3 on whole. ndcg still knows that there were two:
			// (1/log2 4) / (1 + 1/log2 3) = .5 / 1.63093 = .3066
			name: "mode any", c: Case{Relevant: []string{"a", "b"}, Any: true}, ranked: "x y b", depth: 50,
			want: Scores{
				"recall@1": 0, "recall@3": 1, "recall@5": 1, "recall@10": 1, "recall@20": 1,
				"hit@1": 0, "hit@3": 1, "hit@5": 1, "hit@10": 1, "hit@20": 1,
				"mrr": 1. / 3, "ndcg@10": .3066, "complete@5": 1, "complete@10": 1, "complete@20": 1,
			},
			first: 3,
		},
		{
			// Needs {a or b} and {c}: b at 1 and c at 11 is one place too late for complete@10. recall counts a, b and
			// c. ndcg: only b within ten: 1 / 2.13093 = .4693
			name: "needs, one too late", c: Case{
				Relevant: []string{"a", "b", "c"},
				AllOf:    [][]string{{"a", "b"}, {"c"}},
			},
			ranked: "b x1 x2 x3 x4 x5 x6 x7 x8 x9 c", depth: 50,
			want: Scores{
				"recall@1": 1. / 3, "recall@3": 1. / 3, "recall@5": 1. / 3, "recall@10": 1. / 3, "recall@20": 2. / 3,
				"hit@1": 1, "hit@3": 1, "hit@5": 1, "hit@10": 1, "hit@20": 1,
				"mrr": 1, "ndcg@10": .4693, "complete@5": 0, "complete@10": 0, "complete@20": 1,
			},
			first: 1,
		},
		{
			// The same needs met at 2 and 3, with a never found: complete, although recall is 2/3.
			// ndcg: (.63093 + .5) / 2.13093 = .5307
			name: "needs met", c: Case{Relevant: []string{"a", "b", "c"}, AllOf: [][]string{{"a", "b"}, {"c"}}},
			ranked: "x b c", depth: 50,
			want: Scores{
				"recall@1": 0, "recall@3": 2. / 3, "recall@5": 2. / 3, "recall@10": 2. / 3, "recall@20": 2. / 3,
				"hit@1": 0, "hit@3": 1, "hit@5": 1, "hit@10": 1, "hit@20": 1,
				"mrr": .5, "ndcg@10": .5307, "complete@5": 1, "complete@10": 1, "complete@20": 1,
			},
			first: 2,
		},
		{
			// Gains 1, 0, 3 at places 1, 2, 3: 1 + 3/log2 4 = 2.5. Best order 3, 1: 3 + .63093 = 3.63093. 2.5/3.63093 =
			// .6885
			name: "graded", c: Case{Relevant: []string{"best", "fair"}, Grades: map[string]float64{
				"best": 3, "fair": 1,
				"poor": 0,
			}},
			ranked: "fair poor best", depth: 50,
			want: Scores{
				"recall@1": .5, "recall@3": 1, "recall@5": 1, "recall@10": 1, "recall@20": 1,
				"hit@1": 1, "hit@3": 1, "hit@5": 1, "hit@10": 1, "hit@20": 1,
				"mrr": 1, "ndcg@10": .6885, "complete@5": 1, "complete@10": 1, "complete@20": 1,
			},
			first: 1,
		},
		{
			// A graded tool that is not relevant (half) gains; a relevant one without grade (whole) gains 1.
			// .5 at 1, 1 at 2: .5 + .63093 = 1.13093; best 1 + .5*.63093 = 1.31546; = .8597
			name: "grades and labels differ", c: Case{
				Relevant: []string{"whole"},
				Grades:   map[string]float64{"half": .5},
			},
			ranked: "half whole", depth: 50,
			want: Scores{
				"recall@1": 0, "recall@3": 1, "recall@5": 1, "recall@10": 1, "recall@20": 1,
				"hit@1": 0, "hit@3": 1, "hit@5": 1, "hit@10": 1, "hit@20": 1,
				"mrr": .5, "ndcg@10": .8597, "complete@5": 1, "complete@10": 1, "complete@20": 1,
			},
			first: 2,
		},
		{
			// A repeat holds its place and gains nothing: b stands at 4, not at 3, and a counts once.
			// ndcg: (1 + 1/log2 5) / (1 + 1/log2 3) = 1.43068 / 1.63093 = .8772
			name: "repeats in the ranking", c: Case{Relevant: []string{"a", "b"}}, ranked: "a a a b", depth: 50,
			want: Scores{
				"recall@1": .5, "recall@3": .5, "recall@5": 1, "recall@10": 1, "recall@20": 1,
				"hit@1": 1, "hit@3": 1, "hit@5": 1, "hit@10": 1, "hit@20": 1,
				"mrr": 1, "ndcg@10": .8772, "complete@5": 1, "complete@10": 1, "complete@20": 1,
			},
			first: 1,
		},
		{
			name: "nothing found", c: Case{Relevant: []string{"a"}}, ranked: "", depth: 50,
			want: Scores{
				"recall@1": 0, "recall@3": 0, "recall@5": 0, "recall@10": 0, "recall@20": 0,
				"hit@1": 0, "hit@3": 0, "hit@5": 0, "hit@10": 0, "hit@20": 0, "mrr": 0, "ndcg@10": 0,
				"complete@5": 0, "complete@10": 0, "complete@20": 0,
			},
		},
		{
			// Depth 3 says nothing about 5 and more, and a at 4 is not seen.
			name: "shallow", c: Case{Relevant: []string{"a"}}, ranked: "x y z a", depth: 3,
			want: Scores{"recall@1": 0, "recall@3": 0, "hit@1": 0, "hit@3": 0, "mrr": 0},
		},
		{
			name: "grades of nothing", c: Case{Relevant: []string{"a"}, Grades: map[string]float64{"a": 0}},
			ranked: "a", depth: 1,
			want: Scores{"recall@1": 1, "hit@1": 1, "mrr": 1}, first: 1,
		},
		{name: "no tool serves", c: Case{}, ranked: "a b", depth: 50},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, at := scoreRanking(&tt.c, ranking(tt.ranked), tt.depth)
			first := append(at, 0)[0]
			if diff := cmp.Diff(tt.want, got, near); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
			if first != tt.first {
				t.Errorf("first = %d, want %d", first, tt.first)
			}
		})
	}
}

// With more than ten relevant tools the best order holds ten of them: all places taken give 1, not less.
func TestNDCGOfManyRelevant(t *testing.T) {
	c := Case{}
	var names []string
	for i := range 14 {
		names = append(names, "t"+strconv.Itoa(i))
	}
	c.Relevant = names
	got, _ := scoreRanking(&c, ranking(strings.Join(names, " ")), 50)
	if diff := cmp.Diff(Scores{"ndcg@10": 1, "complete@10": 0, "recall@10": 10. / 14}, Scores{
		"ndcg@10": got[metricNDCG], "complete@10": got[completeAt(10)], "recall@10": got[recallAt(10)],
	}, near); diff != "" {
		t.Error(diff)
	}
}

// randomCase makes labels and a ranking over 40 names, with repeats in the ranking.
func randomCase(rng *rand.Rand) (Case, []Ranked) {
	name := func() string { return "t" + strconv.Itoa(rng.IntN(40)) }
	c := Case{Any: rng.IntN(2) == 0, Grades: map[string]float64{}}
	for range 1 + rng.IntN(6) {
		c.Relevant = append(c.Relevant, name())
	}
	c.Relevant = distinctNames(c.Relevant)
	for _, n := range c.Relevant {
		c.Grades[n] = float64(rng.IntN(3))
	}
	if rng.IntN(2) == 0 {
		c.AllOf = [][]string{c.Relevant[:1], c.Relevant[len(c.Relevant)-1:]}
	}
	ranked := make([]Ranked, rng.IntN(30))
	for i := range ranked {
		ranked[i] = Ranked{Name: name()}
	}
	return c, ranked
}

func TestMetricsProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	depths := []int{1, 3, 5, 10, 20}
	for range 3000 {
		c, ranked := randomCase(rng)
		s, at := scoreRanking(&c, ranked, 50)
		first := append(at, 0)[0]
		if !slices.IsSorted(at) || len(slices.Compact(slices.Clone(at))) != len(at) {
			t.Fatalf("places %v", at)
		}
		for m, v := range s {
			if !(v >= 0 && v <= 1+1e-12) {
				t.Fatalf("%s = %v of %+v in %v", m, v, c, ranked)
			}
		}
		for i, k := range depths[1:] {
			if s[recallAt(k)] < s[recallAt(depths[i])] || s[hitAt(k)] < s[hitAt(depths[i])] {
				t.Fatalf("recall or hit falls from %d to %d: %v", depths[i], k, s)
			}
		}
		if c.Any && s[recallAt(5)] != s[hitAt(5)] {
			t.Fatalf("mode any: recall@5 %v, hit@5 %v", s[recallAt(5)], s[hitAt(5)])
		}
		if got := s[metricMRR] > 0; got != (first > 0) || first > 0 && math.Abs(s[metricMRR]*float64(first)-1) > 1e-12 {
			t.Fatalf("mrr %v, first %d", s[metricMRR], first)
		}
		// The order of labels is not information.
		slices.Reverse(c.Relevant)
		if again, _ := scoreRanking(&c, ranked, 50); !cmp.Equal(s, again) {
			t.Fatalf("scores depend on the order of labels:\n%s", cmp.Diff(s, again))
		}
	}
}

// Putting a relevant tool one place up never lowers a metric.
func TestMetricsRewardPromotion(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 3000 {
		c, _ := randomCase(rng)
		order := rng.Perm(40)
		ranked := make([]Ranked, len(order))
		for i, n := range order {
			ranked[i].Name = "t" + strconv.Itoa(n)
		}
		at := slices.IndexFunc(ranked, func(r Ranked) bool { return r.Name == c.Relevant[0] })
		if at == 0 || slices.Contains(c.Relevant, ranked[at-1].Name) {
			continue
		}
		before, _ := scoreRanking(&c, ranked, 50)
		ranked[at-1], ranked[at] = ranked[at], ranked[at-1]
		after, _ := scoreRanking(&c, ranked, 50)
		for m := range before {
			if after[m] < before[m] {
				t.Fatalf("%s falls from %v to %v when %s goes up in %v", m, before[m], after[m], c.Relevant[0], ranked)
			}
		}
	}
}

// A tool that stands for the same one on another server holds its place for both.
func TestTwinsShareAPlace(t *testing.T) {
	ranked := []Ranked{{Name: "x"}, {Name: "a", Also: []string{"b", "x"}}, {Name: "b"}}
	for _, tt := range []struct {
		name     string
		relevant []string
		want     Scores
	}{
		{"the one that is behind", []string{"b"}, Scores{
			"recall@1": 0, "recall@3": 1, "mrr": .5,
			"ndcg@10": 1 / math.Log2(3),
		}},
		// Gains of 2 / log2 3 where the best order of places has 1 + 1 / log2 3.
		{"both", []string{"a", "b"}, Scores{"recall@3": 1, "mrr": .5, "ndcg@10": 2 / (math.Log2(3) + 1)}},
		{"one that stands before on its own", []string{"x"}, Scores{"recall@1": 1, "mrr": 1, "ndcg@10": 1}},
	} {
		got, _ := scoreRanking(&Case{Relevant: tt.relevant}, ranked, 50)
		for m, want := range tt.want {
			if math.Abs(got[m]-want) > 1e-12 {
				t.Errorf("%s: %s is %v, want %v", tt.name, m, got[m], want)
			}
		}
	}
	got, _ := scoreRanking(&Case{Relevant: []string{"a", "b"}}, []Ranked{{Name: "a", Also: []string{"b"}}}, 50)
	if got[metricNDCG] != 1 {
		t.Errorf("two tools at the first place: ndcg@10 %v", got[metricNDCG])
	}
}
