package eval

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// words is a Searcher that counts the words a request shares with a tool's name and description.
type words struct {
	tools        []*tool.Tool
	fail         string // a request that is refused
	mu           sync.Mutex
	asked        []tool.Query
	atOnce, most atomic.Int32
}

func (w *words) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	w.most.Store(max(w.most.Load(), w.atOnce.Add(1)))
	defer w.atOnce.Add(-1)
	w.mu.Lock()
	w.asked = append(w.asked, q)
	w.mu.Unlock()
	if q.Text == w.fail || ctx.Err() != nil {
		return nil, &tool.Error{Code: tool.Unavailable, Op: "search", Msg: "index is away", Err: ctx.Err()}
	}
	res := &tool.Result{Query: q.Text, Tools: []tool.Hit{}}
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == '_' })
	}
	wanted := split(q.Text)
	for _, t := range w.tools {
		has := split(t.Name + " " + t.Description)
		shared := 0
		for _, word := range wanted {
			if slices.Contains(has, word) {
				shared++
			}
		}
		if shared > 0 {
			res.Tools = append(res.Tools, tool.Hit{ID: t.ID(), Score: float64(shared) / float64(len(wanted))})
		}
	}
	slices.SortFunc(res.Tools, func(a, b tool.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	limit := cmp.Or(q.Limit, tool.DefaultLimit)
	res.Tools = res.Tools[:min(limit, len(res.Tools))]
	res.Confident = len(res.Tools) > 0 && res.Tools[0].Score > .5
	res.Tokens = 10 * len(res.Tools)
	return res, nil
}

// sixTools is a set with requests of several kinds; see testdata/set.
func sixTools(t testing.TB) *Dataset {
	t.Helper()
	d, err := Load(filepath.Join("testdata", "set"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func run(t testing.TB, d *Dataset, o Options) (*Report, *words) {
	t.Helper()
	w := &words{tools: d.Tools}
	r, err := Run(t.Context(), w, d, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// untimed takes out of a report what differs from run to run.
func untimed(r *Report) *Report {
	c := *r
	c.Latency, c.times = nil, nil
	return &c
}

var inside = gocmp.AllowUnexported(Outcome{}, Summary{}, Report{})

func TestRunGolden(t *testing.T) {
	r, _ := run(t, sixTools(t), Options{Mode: tool.Keyword})
	if r.Latency == nil || r.Latency.P50 <= 0 || r.Latency.P99 < r.Latency.P95 || r.Latency.P95 < r.Latency.P50 {
		t.Errorf("latency %+v", r.Latency)
	}
	r.Latency = &Latency{P50: 123_456, P95: 1_234_567, P99: 12_345_678, Workers: 1, Answer: 5}
	r.Missing, r.Degraded = 1, 2
	var text, run bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteRun(&run, r.Answers()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", text.Bytes())
	golden(t, "report.json", append(encoded, '\n'))
	golden(t, "run.jsonl", run.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestRunAsksAsAnAgentWould(t *testing.T) {
	d := sixTools(t)
	tests := []struct {
		name string
		o    Options
		want []tool.Query // of the first request
	}{
		{"defaults", Options{}, []tool.Query{
			{Mode: tool.Hybrid, Limit: 5, Detail: tool.DetailSignature},
			{Mode: tool.Hybrid, Limit: 50, Detail: tool.DetailName},
		}},
		{
			"all given",
			Options{Mode: tool.Semantic, Limit: 7, Answer: 2, Detail: tool.DetailSchema},
			[]tool.Query{
				{Mode: tool.Semantic, Limit: 2, Detail: tool.DetailSchema},
				{Mode: tool.Semantic, Limit: 7, Detail: tool.DetailName},
			},
		},
		{"rankings alone", Options{Answer: -1}, []tool.Query{{Mode: tool.Hybrid, Limit: 50, Detail: tool.DetailName}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, w := run(t, d, tt.o)
			for i := range tt.want {
				tt.want[i].Text = d.Cases[0].Query
			}
			if diff := gocmp.Diff(tt.want, w.asked[:len(tt.want)]); diff != "" {
				t.Errorf("queries (-want +got):\n%s", diff)
			}
			if len(w.asked) != len(tt.want)*len(d.Cases) {
				t.Errorf("%d searches for %d requests", len(w.asked), len(d.Cases))
			}
			if (r.Tokens == nil) != (tt.o.Answer < 0) || r.Latency == nil {
				t.Errorf("tokens %v, latency %v", r.Tokens, r.Latency)
			}
		})
	}
}

func TestRunPicks(t *testing.T) {
	d := sixTools(t)
	ids := func(o Options) string {
		r, _ := run(t, d, o)
		var ids []string
		for _, c := range r.Cases {
			ids = append(ids, c.ID)
		}
		return strings.Join(ids, " ")
	}
	if got, want := ids(Options{Split: "dev"}), "p1 p2 n1"; got != want {
		t.Errorf("split dev: %s, want %s", got, want)
	}
	if got, want := ids(Options{Kinds: []string{"multi", "exact"}}), "e1 e2 m1"; got != want {
		t.Errorf("two kinds: %s, want %s", got, want)
	}
	// A smaller sample is part of a larger, whatever the order of the set.
	all := strings.Fields(ids(Options{}))
	before := map[string]bool{}
	for n := 1; n <= len(all); n++ {
		now := strings.Fields(ids(Options{Sample: n}))
		if len(now) != n || !slices.IsSortedFunc(now, func(a, b string) int {
			return cmp.Compare(slices.Index(all, a), slices.Index(all, b))
		}) {
			t.Fatalf("sample of %d is %v", n, now)
		}
		for id := range before {
			if !slices.Contains(now, id) {
				t.Fatalf("%s was in the sample of %d, but is not in that of %d", id, n-1, n)
			}
		}
		for _, id := range now {
			before[id] = true
		}
	}
}

func TestRunRefuses(t *testing.T) {
	d := sixTools(t)
	for name, o := range map[string]Options{
		"mode":          {Mode: "psychic"},
		"too deep":      {Limit: tool.MaxLimit + 1},
		"negative":      {Limit: -1},
		"answer":        {Answer: -2},
		"workers":       {Workers: -1},
		"unknown kind":  {Kinds: []string{"exact", "exotic"}},
		"unknown split": {Split: "test"},
		"none of these": {Split: "dev", Kinds: []string{"exact"}},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := Run(t.Context(), &words{tools: d.Tools}, d, o); tool.CodeOf(err) != tool.Invalid ||
				err == nil || r != nil {
				t.Errorf("report %v, error %v", r, err)
			}
		})
	}
}

func TestRunReturnsTheFirstError(t *testing.T) {
	d := sixTools(t)
	for _, workers := range []int{1, 4} {
		w := &words{tools: d.Tools, fail: d.Cases[2].Query}
		_, err := Run(t.Context(), w, d, Options{Workers: workers})
		if tool.CodeOf(err) != tool.Unavailable || !strings.Contains(err.Error(),
			"evaluate request "+d.Cases[2].ID+": ") {
			t.Errorf("%d workers: error %v", workers, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, &words{tools: d.Tools}, d, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

func TestRunDoesNotDependOnWorkers(t *testing.T) {
	d := sixTools(t)
	one, _ := run(t, d, Options{})
	many, w := run(t, d, Options{Workers: 4})
	if diff := gocmp.Diff(untimed(one), untimed(many), inside); diff != "" {
		t.Errorf("one worker, four (-one +four):\n%s", diff)
	}
	if most := w.most.Load(); most > 4 {
		t.Errorf("%d searches at a time", most)
	}
}

// Shuffling the requests changes nothing in the summary, not even in the last bit.
func TestOrderOfRequestsDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	d := &Dataset{known: map[string]bool{}}
	var answers []Answer
	for i := range 97 {
		c, ranked := randomCase(rng)
		c.ID, c.Kind = fmt.Sprintf("c%d", i), fmt.Sprintf("k%d", i%5)
		if i%9 == 0 {
			c = Case{ID: c.ID, Kind: "no_match", NearMiss: i%2 == 0}
		}
		for j := range ranked {
			ranked[j].Score = rng.Float64()
		}
		sure := rng.IntN(2) == 0
		d.Cases, answers = append(d.Cases, c), append(answers, Answer{c.ID, ranked, &sure, nil})
	}
	first, err := Score(d, answers, Options{})
	if err != nil {
		t.Fatal(err)
	}
	first.Cases = nil
	for range 20 {
		rng.Shuffle(len(d.Cases), func(i, j int) { d.Cases[i], d.Cases[j] = d.Cases[j], d.Cases[i] })
		again, err := Score(d, answers, Options{})
		if err != nil {
			t.Fatal(err)
		}
		again.Cases = nil
		if diff := gocmp.Diff(first, again, inside); diff != "" {
			t.Fatalf("after a shuffle (-first +again):\n%s", diff)
		}
	}
}

func TestStrangersHoldTheirPlace(t *testing.T) {
	d := sixTools(t)
	w := &words{tools: append([]*tool.Tool{{Server: "a", Name: "read_file"}}, d.Tools...)}
	r, err := Run(t.Context(), w, d, Options{Kinds: []string{"exact"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Strangers != 1 || r.Cases[0].Rank != 2 || r.Cases[0].Ranked[0].Name != "a/read_file" {
		t.Errorf("%d strangers, first case %+v", r.Strangers, r.Cases[0])
	}
}

func TestPercentile(t *testing.T) {
	// Nearest rank: of 1..10, half do not exceed 5, and 95 and 99 percent need the tenth.
	sorted := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	times := make([]time.Duration, len(sorted))
	for i, v := range sorted {
		times[i] = time.Duration(v)
	}
	for p, want := range map[int]time.Duration{50: 5, 90: 9, 91: 10, 95: 10, 99: 10, 100: 10} {
		if got := percentile(times, p); got != want {
			t.Errorf("p%d = %d, want %d", p, got, want)
		}
	}
	if got := percentile(times[:1], 50); got != 1 {
		t.Errorf("p50 of one = %d", got)
	}
}

func TestTokens(t *testing.T) {
	r := &Report{}
	r.addCosts([]cost{{tokens: 40}, {tokens: 10}, {tokens: 100}, {tokens: 20, degraded: true}},
		Options{Answer: 5, Detail: tool.DetailName})
	// 10 20 40 100: between 20 and 40 lies 30; 170 / 4 = 42.5
	want := &Tokens{Median: 30, Mean: 42.5, Answer: 5, Detail: tool.DetailName}
	if diff := gocmp.Diff(want, r.Tokens); diff != "" || r.Degraded != 1 {
		t.Errorf("degraded %d, tokens (-want +got):\n%s", r.Degraded, diff)
	}
}
