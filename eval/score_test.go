package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func TestAUROC(t *testing.T) {
	inf := math.Inf(-1)
	tests := []struct {
		name      string
		high, low []float64
		want      float64
	}{
		{"apart", []float64{.9, .8}, []float64{.1, .2, .3}, 1},
		{"upside down", []float64{.1}, []float64{.2, .3}, 0},
		{"all the same", []float64{.5, .5}, []float64{.5, .5, .5}, .5},
		// .9 beats .5 and .7 (2), .7 beats .5 and ties .7 (1.5), .1 beats none: 3.5 of 6.
		{"mixed with a tie", []float64{.9, .7, .1}, []float64{.5, .7}, 3.5 / 6},
		// Finding nothing is below any score, and ties with finding nothing: (1 + .5 + 0 + .5) of 4... 3 beats -9 and
		// -inf (2), -inf ties -inf (.5): 2.5 of 4.
		{"nothing found, scores below zero", []float64{3, inf}, []float64{-9, inf}, 2.5 / 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := areaUnderROC(tt.high, tt.low); got != tt.want {
				t.Errorf("auroc = %v, want %v", got, tt.want)
			}
		})
	}
}

// The area counts pairs; counted one by one it must be the same.
func TestAUROCAgainstPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	draw := func() []float64 {
		out := make([]float64, 1+rng.IntN(30))
		for i := range out {
			out[i] = float64(rng.IntN(12)) / 11
		}
		return out
	}
	for range 500 {
		high, low := draw(), draw()
		pairs := 0.0
		for _, h := range high {
			for _, l := range low {
				switch {
				case h > l:
					pairs++
				case h == l:
					pairs += .5
				}
			}
		}
		if got, want := areaUnderROC(high, low), pairs/float64(len(high)*len(low)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("auroc(%v, %v) = %v, want %v", high, low, got, want)
		}
	}
}

func TestRefusedAt95(t *testing.T) {
	// Of twenty answerable requests one may be lost: the threshold is the second lowest, .2, and .2 itself is kept.
	high := make([]float64, 20)
	for i := range high {
		high[i] = float64(20-i) / 10
	}
	if got := refusedAt95(high, []float64{.05, .1, .2, .3}); got != .5 {
		t.Errorf("refused = %v, want .5", got)
	}
	// Of nineteen none may be lost: .2 is the lowest.
	if got := refusedAt95(high[:19], []float64{.19, .2}); got != .5 {
		t.Errorf("refused = %v, want .5", got)
	}
}

func sure(b bool) *bool { return &b }

func TestAbstention(t *testing.T) {
	d := &Dataset{Cases: []Case{
		{ID: "a", Relevant: []string{"x"}},
		{ID: "b", Relevant: []string{"x"}},
		{ID: "near", NearMiss: true},
		{ID: "far"},
		{ID: "farther"},
	}}
	answers := []Answer{
		{"a", []Ranked{{Name: "x", Score: .9}}, sure(true), nil},
		{"b", []Ranked{{Name: "y", Score: .4}}, sure(false), nil},
		{"near", []Ranked{{Name: "x", Score: .5}}, sure(true), nil},
		{"far", []Ranked{{Name: "x", Score: .1}}, sure(false), nil},
		{"farther", nil, nil, nil},
	}
	r, err := Score(d, answers, Options{})
	if err != nil {
		t.Fatal(err)
	}
	figure := func(v float64) *float64 { return &v }
	want := &Abstention{
		Answerable: 2, Confident: figure(.5),
		// near: .9 is above, .4 below: 1 of 2. far: 2 of 2, farther 2 of 2. All: 5 of 6. Threshold .4.
		All:      &Refusal{Queries: 3, Confident: figure(.5), AUROC: figure(5. / 6), Refused: figure(2. / 3)},
		NearMiss: &Refusal{Queries: 1, Confident: figure(1), AUROC: figure(.5), Refused: figure(0)},
		Foreign:  &Refusal{Queries: 2, Confident: figure(0), AUROC: figure(1), Refused: figure(1)},
	}
	if diff := cmp.Diff(want, r.NoMatch); diff != "" {
		t.Errorf("abstention (-want +got):\n%s", diff)
	}
	if r.All.Queries != 2 || r.All.Scores[recallAt(5)] != .5 {
		t.Errorf("requests that no tool serves count in the means: %+v", r.All)
	}
	// Without answerable requests there is nothing to tell the others from, and nothing to average.
	r, err = Score(&Dataset{Cases: d.Cases[2:]}, answers[2:], Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.NoMatch.All.AUROC != nil || r.NoMatch.Confident != nil || r.All.Scores != nil || r.All.Queries != 0 {
		t.Errorf("no match %+v, all %+v", r.NoMatch, r.All)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("report of no scores: %v", err)
	}
}

func TestRunFileRoundTrip(t *testing.T) {
	d := sixTools(t)
	r, _ := run(t, d, Options{})
	var file bytes.Buffer
	if err := WriteRun(&file, r.Answers()); err != nil {
		t.Fatal(err)
	}
	answers, err := ReadRun(&file, "run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Score(d, answers, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := untimed(r)
	want.Mode, want.Tokens, want.tokens = "", nil, nil
	if diff := cmp.Diff(want, again, inside); diff != "" {
		t.Errorf("live, from the file (-live +file):\n%s", diff)
	}
}

func TestWriteRun(t *testing.T) {
	long := make([]Ranked, DefaultDepth+1)
	var b strings.Builder
	if err := WriteRun(&b, []Answer{{ID: "a"}, {ID: "<b>", Ranked: long, Confident: sure(true)}}); err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(b.String(), "\n")
	if first != `{"id":"a","ranked":[]}` || !strings.HasPrefix(second,
		`{"id":"<b>","ranked":[{"name":"","score":0},`) || strings.Count(second, "name") != DefaultDepth {
		t.Errorf("run file:\n%s", b.String())
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		err := WriteRun(&strings.Builder{}, []Answer{{ID: "a", Ranked: []Ranked{{Name: "x", Score: bad}}}})
		if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), `score of "x" for request "a"`) {
			t.Errorf("score %v: error %v", bad, err)
		}
	}
	if err := WriteRun(fullDisk{}, []Answer{{ID: "a"}}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	if err := (&Report{}).WriteText(fullDisk{}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

var errFull = errors.New("disk is full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestReadRun(t *testing.T) {
	answers, err := ReadRun(strings.NewReader(`{"id":1,"ranked":[{"name":"b"},{"name":"a","score":9}],"took":3}`+"\n\n"+`{"id":"x"}`), "run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want := []Answer{{ID: "1", Ranked: []Ranked{{Name: "b", Score: 0}, {Name: "a", Score: 9}}}, {ID: "x"}}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	for in, want := range map[string]string{
		`{"id":"1"}` + "\n{":             "run.jsonl:2: answer cannot be read",
		`{"ranked":[]}`:                  "run.jsonl:1: answer has no id",
		`{"id":"1"}` + "\n" + `{"id":1}`: `run.jsonl:2: request "1" was answered on line 1`,
		`{"id":"1","ranked":["a"]}`:      "run.jsonl:1: answer cannot be read",
	} {
		if _, err := ReadRun(strings.NewReader(in), "run.jsonl"); tool.CodeOf(err) != tool.Invalid ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", in, err, want)
		}
	}
}

func TestScore(t *testing.T) {
	d := sixTools(t)
	r, err := Score(d, []Answer{{ID: "e1", Ranked: []Ranked{
		{Name: "nobody", Score: 2},
		{Name: "files__read_file", Score: 1},
	}}}, Options{Kinds: []string{"exact"}})
	if err != nil {
		t.Fatal(err)
	}
	// e2 has no answer; e1's stands at 2: rr (1/2 + 0) / 2.
	if r.Missing != 1 || r.Strangers != 1 || r.All.Scores[metricMRR] != .25 || r.Latency != nil ||
		r.All.Confident != nil {
		t.Errorf("report %+v", r)
	}
	// An answer outside the kinds asked for is left aside, one outside the set is another set's.
	if _, err := Score(d, []Answer{{ID: "p1"}}, Options{Kinds: []string{"exact"}}); err != nil {
		t.Error(err)
	}
	if _, err := Score(d, []Answer{{ID: "zz"}}, Options{}); tool.CodeOf(err) != tool.Invalid ||
		!strings.Contains(err.Error(), `"zz"`) {
		t.Errorf("error %v", err)
	}
	if _, err := Score(d, nil, Options{Split: "moon"}); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("error %v", err)
	}
}
