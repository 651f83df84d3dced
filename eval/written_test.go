package eval

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// steady gives a report the costs that a page shows, the same in every run.
func steady(t *testing.T) (*Report, []Verdict) {
	t.Helper()
	r, _ := run(t, sixTools(t), Options{Mode: tool.Keyword})
	r.times = r.times[:0]
	for i := range 200 {
		r.times = append(r.times, time.Duration(100+i)*time.Microsecond)
	}
	r.Latency = &Latency{
		P50: 199 * time.Microsecond, P95: 289 * time.Microsecond, P99: 297 * time.Microsecond,
		Workers: 1, Answer: 5,
	}
	return r, r.Check([]Gate{
		{Metric: recallAt(5), Bound: .5},
		{Metric: recallAt(1), Bound: .9},
		{Metric: metricMRR, Drop: true},
	}, nil)
}

func TestJUnitGolden(t *testing.T) {
	r, verdicts := steady(t)
	var b bytes.Buffer
	if err := r.WriteJUnit(&b, verdicts); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.xml", b.Bytes())
	if err := r.WriteJUnit(fullDisk{}, nil); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

// A build fails by its gates alone, whatever was missed; and all numbers of a report add up.
func TestJUnitCounts(t *testing.T) {
	r := placed(t, oddEven, 1, 0, 3, 6, 50, 2)
	for _, tt := range []struct {
		name     string
		verdicts []Verdict
		failures int
	}{{"no gates", nil, 0}, {
		"a gate met, two not",
		[]Verdict{{Figure: "mrr", Met: true}, {Figure: "a"}, {Figure: "b"}},
		2,
	}} {
		var b bytes.Buffer
		if err := r.WriteJUnit(&b, tt.verdicts); err != nil {
			t.Fatal(err)
		}
		var got junitSuites
		if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		sum := junitCounts{}
		for _, s := range got.Suites {
			if s.Tests != len(s.Cases) {
				t.Errorf("%s: suite %s has %d cases and says %d", tt.name, s.Name, len(s.Cases), s.Tests)
			}
			sum.Tests, sum.Failures, sum.Skipped = sum.Tests+s.Tests, sum.Failures+s.Failures, sum.Skipped+s.Skipped
		}
		// Not found, at 6 and at 50 are missed.
		if want := (junitCounts{6 + len(tt.verdicts), tt.failures, 3}); got.junitCounts != want || sum != want {
			t.Errorf("%s: %+v, sum %+v, want %+v", tt.name, got.junitCounts, sum, want)
		}
	}
}

func TestHTMLGolden(t *testing.T) {
	r, verdicts := steady(t)
	c, err := Compare(r, r)
	if err != nil {
		t.Fatal(err)
	}
	c.A = "before"
	var b bytes.Buffer
	if err := r.WriteHTML(&b, verdicts, c); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.html", b.Bytes())
	if err := r.WriteHTML(fullDisk{}, nil, nil); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

// A page must be light enough to mail, ask for nothing, and show what comes from outside as text.
func TestHTMLOfManyRequests(t *testing.T) {
	const evil = `<script src="http://evil.example/x.js"></script>&"'` + "\x00\xff"
	d := &Dataset{Name: evil}
	var answers []Answer
	for i := range 600 {
		c := Case{
			ID: fmt.Sprint(evil, i), Query: strings.Repeat(evil, 30), Kind: evil + strings.Repeat("x", i%30),
			Relevant: []string{"a"},
		}
		d.Cases = append(d.Cases, c)
		answers = append(answers, Answer{ID: c.ID, Ranked: []Ranked{{Name: evil, Score: float64(i%100) / 100}}})
	}
	r, err := Score(d, answers, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(r, r)
	if err != nil {
		t.Fatal(err)
	}
	c.A, c.B = evil, evil
	var b bytes.Buffer
	if err := r.WriteHTML(&b, []Verdict{{Figure: evil, Need: evil}}, c); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if n := len(page); n > 300_000 {
		t.Errorf("the page has %d bytes", n)
	}
	if strings.Contains(page, "<script") || strings.ContainsRune(page, 0) || !strings.Contains(page, "\uFFFD") {
		t.Error("what comes from outside is not text")
	}
	if at := regexp.MustCompile(`(?i)(src|href|url\(|@import)\s*[=(]?\s*["']?(https?:)?//`).FindString(page); at != "" {
		t.Errorf("the page asks for something: %q", at)
	}
	if !regexp.MustCompile(`600 in all, 600 missed, the worst \d+ here`).MatchString(page) {
		t.Error("the page does not say that requests are left out")
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
			t.Errorf("a plot is not well formed: %v", err)
		}
	}
}

// Plots are left out where there is nothing to draw, and drawn of a single request.
func TestHTMLOfLittle(t *testing.T) {
	none := func(int) string { return "" }
	for name, tt := range map[string]struct {
		r     *Report
		plots int
	}{
		"nothing":     {&Report{}, 0},
		"one request": {placed(t, none, 1), 1},
		"read back":   {mustRead(t, placed(t, none, 1, 2)), 0},
		"one score":   {answered(t, Ranked{Name: "right", Score: .5}), 2},
	} {
		var b bytes.Buffer
		if err := tt.r.WriteHTML(&b, nil, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Count(b.String(), "<svg"); got != tt.plots {
			t.Errorf("%s: %d plots, want %d", name, got, tt.plots)
		}
	}
}

func mustRead(t *testing.T, r *Report) *Report {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ReadReport(bytes.NewReader(b), "report.json")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A report that was written and read back compares and gates like the one it was.
func TestReadReport(t *testing.T) {
	r, _ := run(t, sixTools(t), Options{})
	back := mustRead(t, r)
	want, got := *r, *back
	want.times, want.tokens, got.times, got.tokens = nil, nil, nil, nil
	ignore := gocmp.FilterPath(func(p gocmp.Path) bool {
		return p.String() == "Cases.Ranked" || p.String() == "Cases.nearMiss" || p.String() == "Cases.top" ||
			p.String() == "Cases.relevant" || strings.HasSuffix(p.String(), "curve")
	}, gocmp.Ignore())
	if diff := gocmp.Diff(want, got, inside, ignore); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	c, err := Compare(r, back)
	if err != nil || len(c.Changes) > 0 || len(c.Same) != 6 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, v := range back.Check([]Gate{{Metric: metricAUROC, Drop: true}, {
		Kind: "multi", Metric: recallAt(1),
		Drop: true,
	}}, r) {
		if !v.Met {
			t.Error(v)
		}
	}
	wrapped := fmt.Sprintf(`{"report": %s, "compare": null}`,
		`{"depth": 5, "all": {"queries": 1, "scores": {"mrr": 1}}}`)
	if got, err := ReadReport(strings.NewReader(wrapped), "x"); err != nil || got.All.Scores[metricMRR] != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadReportRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "is not JSON of a report",
		"[]":                              "is not JSON of a report",
		"{}":                              "has no figures",
		`{"tools": [1]}`:                  "is not JSON of a report",
		`{"all": {"scores": {"mrr": 1}}}`: "how deep",
		`{"depth": 5, "all": {"scores": {"mrr": 2}}}`:                                                                        "gives mrr as 2",
		`{"depth": 5, "all": {"scores": {"mrr": 1}}, "kinds": [{"scores": {"a": -1}}]}`:                                      "gives a as -1",
		`{"depth": 5, "all": {"scores": {"mrr": 1}}, "cases": [{"id": "a"}]}`:                                                `no scores for request "a"`,
		`{"depth": 5, "all": {"scores": {"mrr": 1}}, "cases": [{"id": "a", "noMatch": true}, {"id": "a", "noMatch": true}]}`: `request "a" twice`,
	} {
		_, err := ReadReport(strings.NewReader(in), "x.json")
		if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "x.json") {
			t.Errorf("%q: error %v, want %q", in, err, want)
		}
	}
	if _, err := ReadReport(iotestErr{}, "x.json"); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	summary := &Report{Depth: 50, All: Summary{Queries: 3, Scores: Scores{metricMRR: 1}}}
	if _, err := Compare(summary, summary); tool.CodeOf(err) != tool.Invalid ||
		!strings.Contains(err.Error(), "--cases") {
		t.Errorf("error %v", err)
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errFull }

// Whatever a report holds, one that can be read can be written as everything, and gives the same when read again.
func FuzzReadReport(f *testing.F) {
	f.Add([]byte(`{"depth": 5, "all": {"queries": 1, "scores": {"mrr": 1}}, "cases": [{"id": "a", "rank": 1, "places": [1], "scores": {"mrr": 1}}]}`))
	f.Add([]byte(`{"report": {"depth": 50, "noMatch": {"all": {"auroc": 0.5}}, "kinds": [{"kind": "b"}, {"kind": "a"}], "calibration": {"bins": [{"score": 1e300}]}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := ReadReport(bytes.NewReader(in), "report.json")
		if err != nil {
			checkError(t, err, "report.json")
			return
		}
		for _, write := range []func(io.Writer) error{
			r.WriteText, func(w io.Writer) error { return r.WriteJUnit(w, nil) },
		} {
			if err := write(io.Discard); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.WriteHTML(io.Discard, nil, nil); err != nil {
			t.Fatal(err)
		}
		first, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadReport(bytes.NewReader(first), "again")
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := json.Marshal(again); !bytes.Equal(first, second) {
			t.Fatalf("%s, then %s", first, second)
		}
	})
}
