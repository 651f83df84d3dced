package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func TestParseGate(t *testing.T) {
	tests := []struct {
		in   string
		want Gate
	}{
		{"recall@5=.9", Gate{Kind: "", Metric: "recall@5", Bound: .9}},
		{"paraphrase:hit@5=.8", Gate{Kind: "paraphrase", Metric: "hit@5", Bound: .8}},
		{" MRR >= 0.5 ", Gate{Kind: "", Metric: metricMRR, Bound: .5}},
		{"a:b: nDCG@10=1", Gate{Kind: "a:b", Metric: metricNDCG, Bound: 1}},
		{"server-hinted:complete@10=0", Gate{Kind: "server-hinted", Metric: completeAt(10), Bound: 0}},
		{"near_miss:auroc=.75", Gate{Kind: "near_miss", Metric: metricAUROC, Bound: .75}},
	}
	for _, tt := range tests {
		got, err := ParseGate(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("ParseGate(%q) = %+v, %v, want %+v", tt.in, got, err, tt.want)
		}
	}
	for in, want := range map[string]string{
		"":              "no =",
		"recall@5":      "no =",
		"recall@7=.9":   `"recall@7" is no metric`,
		"=.9":           `"" is no metric`,
		":mrr=.9":       "no kind before the colon",
		"mrr=90%":       `"90%" is not a number from 0 to 1`,
		"mrr=1.01":      "not a number from 0 to 1",
		"mrr=-.1":       "not a number from 0 to 1",
		"mrr=nan":       "not a number from 0 to 1",
		"mrr=.9=.8":     "not a number from 0 to 1",
		"recall@5<=0.1": `"recall@5<" is no metric`,
	} {
		_, err := ParseGate(in)
		if tool.CodeOf(err) != tool.Invalid || err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "recall@20") {
			t.Errorf("ParseGate(%q): error %v, want %q and the metrics", in, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	r, _ := run(t, sixTools(t), Options{})
	// A mean that should be .9 may lack the last bits.
	r.Kinds = append(r.Kinds, Summary{Kind: "tenths", Scores: Scores{recallAt(5): .9 - 1e-15}})
	// Each of six requests has its tool first, but one of them needs four: (5 + 1/4) / 6 = .875.
	tests := []struct{ gate, want string }{
		{"recall@5=1", ""},
		{"recall@1=.7", ""},
		{"recall@1=.9", "recall@1 is 0.8750, at least 0.9 wanted"},
		{"multi:recall@1=.3", "multi:recall@1 is 0.2500, at least 0.3 wanted"},
		{"exact:hit@1=1", ""},
		{"tenths:recall@5=.9", ""},
		{"tenths:mrr=0", "tenths:mrr was not measured: no such requests, or the ranking was not deep enough"},
		{"exotic:hit@1=0", "exotic:hit@1 was not measured: no such requests, or the ranking was not deep enough"},
		{"auroc=.5", ""},
		{"no_match:auroc=.5", ""},
		{"foreign:auroc=1", ""},
		{"near_miss:auroc=1", "near_miss:auroc is 0.6667, at least 1 wanted"},
		{"exact:auroc=0", "exact:auroc was not measured: no such requests, or the ranking was not deep enough"},
	}
	var gates []Gate
	var want []string
	for _, tt := range tests {
		g, err := ParseGate(tt.gate)
		if err != nil {
			t.Fatal(err)
		}
		gates = append(gates, g)
		if tt.want != "" {
			want = append(want, tt.want)
		}
	}
	var got []string
	for _, v := range r.Check(gates, nil) {
		if !v.Met {
			got = append(got, v.String())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	for _, v := range (&Report{}).Check([]Gate{
		{Metric: metricAUROC},
		{Metric: metricMRR},
		{Metric: metricMRR, Drop: true},
	}, &Report{}) {
		if v.Met {
			t.Errorf("a report of nothing meets a gate: %v", v)
		}
	}
}

func TestCheckDrops(t *testing.T) {
	none := func(int) string { return "" }
	was, is := placed(t, none, 1, 1, 1, 2), placed(t, none, 1, 1, 2, 2) // hit@1 .75, then .5
	tests := []struct {
		gate string
		base *Report
		want string
	}{
		{"hit@1=.25", was, ""},
		{"hit@1=.2", was, "hit@1 is 0.5000 and was 0.7500, at most 0.2 below wanted"},
		{"hit@3=0", was, ""},
		{"hit@1=1", nil, "hit@1 was not measured in the report to compare with"},
		{"exotic:hit@1=1", was, "exotic:hit@1 was not measured: no such requests, or the ranking was not deep enough"},
		{"hit@1=0", placed(t, none, 2, 2, 2, 2), ""}, // better than it was
	}
	for _, tt := range tests {
		g, err := ParseDrop(tt.gate)
		if err != nil || !g.Drop {
			t.Fatalf("%+v, %v", g, err)
		}
		v := is.Check([]Gate{g}, tt.base)[0]
		if got := v.String(); v.Met != (tt.want == "") || !v.Met && got != tt.want {
			t.Errorf("%s: met %v, %q, want %q", tt.gate, v.Met, got, tt.want)
		}
	}
	if _, err := ParseDrop("hit@1=2"); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("error %v", err)
	}
}
