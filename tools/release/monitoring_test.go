package main

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
	"go.yaml.in/yaml/v3"

	"tooldex/metrics"
	"tooldex/tool"
)

// promQL is the parser of Prometheus with its default options.
func promQL() parser.Parser { return parser.NewParser(parser.Options{}) }

// exportedTool is a Searcher and a Caller of one tool.
type exportedTool struct{ set *tool.Set }

func (e exportedTool) Set() *tool.Set { return e.set }

func (exportedTool) Search(context.Context, tool.Query) (*tool.Result, error) {
	return &tool.Result{}, nil
}

func (exportedTool) Call(context.Context, tool.Call) (*tool.CallResult, error) {
	return &tool.CallResult{}, nil
}

// exportedMetrics returns the metrics that the program exports, histograms as their parts, with the labels of each.
func exportedMetrics(t *testing.T) map[string][]string {
	t.Helper()
	one := exportedTool{tool.NewSet([]*tool.Tool{{Server: "s", Name: "a"}}, "")}
	m := metrics.New(metrics.Options{
		Catalog: one, Version: "v1", Sessions: func() int { return 1 },
		Servers: func() map[string]metrics.ServerState { return map[string]metrics.ServerState{"s": {}} },
	})
	_, _ = m.Searcher(one, one, "p").Search(t.Context(), tool.Query{})
	_, _ = m.Caller(one, "p").Call(t.Context(), tool.Call{ID: "s/a"})
	rec := httptest.NewRecorder()
	m.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	text := expfmt.NewTextParser(model.LegacyValidation)
	families, err := text.TextToMetricFamilies(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for name, f := range families {
		var names []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			names = append(names, l.GetName())
		}
		if f.GetMetric()[0].Histogram == nil {
			out[name] = names
			continue
		}
		out[name+"_bucket"], out[name+"_sum"], out[name+"_count"] = append(names, "le"), names, names
	}
	return out
}

// requireExported requires that an expression is one of PromQL, and that it names only metrics and labels that exist.
func requireExported(t *testing.T, exported map[string][]string, expr string) {
	t.Helper()
	e, err := promQL().ParseExpr(expr)
	if err != nil {
		t.Errorf("%s: %v", expr, err)
		return
	}
	known := []string{model.MetricNameLabel, "job", "instance"}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && s.Name != "up" {
			has, ok := exported[s.Name]
			if !ok {
				t.Errorf("%s: the program does not export %s", expr, s.Name)
			}
			known = append(known, has...)
		}
		return nil
	})
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		var used []string
		switch n := n.(type) {
		case *parser.VectorSelector:
			for _, m := range n.LabelMatchers {
				used = append(used, m.Name)
			}
		case *parser.AggregateExpr:
			used = n.Grouping
		}
		for _, name := range used {
			if !slices.Contains(known, name) {
				t.Errorf("%s: no metric in it has the label %s", expr, name)
			}
		}
		return nil
	})
}

// loadRules reads the alerts as promtool checks them.
func loadRules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile("../../deploy/prometheus/tooldex.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(text, false, model.UTF8Validation, promQL(), nil)
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil {
		t.FailNow()
	}
	var out []rulefmt.Rule
	for _, g := range groups.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

// TestMonitoringNamesMetrics requires that the dashboard and the alerts use metrics and labels that the program exports,
// and that the reference lists all of these.
func TestMonitoringNamesMetrics(t *testing.T) {
	exported := exportedMetrics(t)
	for _, rule := range loadRules(t) {
		requireExported(t, exported, rule.Expr)
		if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.Labels["severity"] == "" {
			t.Errorf("%s has no summary, description or severity", rule.Alert)
		}
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	text, err := os.ReadFile("../../deploy/grafana/tooldex.json")
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer("$__rate_interval", "5m", "$__range", "1d", "$instance", ".*")
	for _, p := range board.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("the panel %q shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			requireExported(t, exported, filled.Replace(target.Expr))
		}
	}
	reference, err := os.ReadFile("../../docs/reference/http.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range exported {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if !strings.Contains(string(reference), "`"+base+"`") {
			t.Errorf("docs/reference/http.md does not list %s", base)
		}
	}
}

// ruleTests is what we use of the form in which promtool takes tests.
type ruleTests struct {
	Interval model.Duration `yaml:"evaluation_interval"`
	Tests    []ruleTest
}

type ruleTest struct {
	Interval model.Duration
	Series   []struct{ Series, Values string } `yaml:"input_series"`
	Alerts   []struct {
		Name string         `yaml:"alertname"`
		At   model.Duration `yaml:"eval_time"`
		Want []struct {
			Labels map[string]string `yaml:"exp_labels"`
		} `yaml:"exp_alerts"`
	} `yaml:"alert_rule_test"`
}

// TestAlerts runs the tests of the alerts with the query engine of Prometheus, and requires one that fires for each.
func TestAlerts(t *testing.T) {
	text, err := os.Open("testdata/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = text.Close() }()
	var file ruleTests
	dec := yaml.NewDecoder(text)
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	rules, fires := map[string]rulefmt.Rule{}, map[string]bool{}
	for _, r := range loadRules(t) {
		rules[r.Alert] = r
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, Parser: promQL()})
	t.Cleanup(func() { _ = engine.Close() })
	for i, test := range file.Tests {
		stored := readSeries(t, test)
		for _, a := range test.Alerts {
			rule, ok := rules[a.Name]
			if !ok {
				t.Errorf("there is no alert %s", a.Name)
				continue
			}
			want := []map[string]string{}
			for _, w := range a.Want {
				want = append(want, w.Labels)
				fires[a.Name] = true
			}
			at, step := time.Duration(a.At), time.Duration(file.Interval)
			if d := cmp.Diff(want, firing(t, engine, stored, rule, at, step)); d != "" {
				t.Errorf("test %d: %s after %v (-want +got)\n%s", i, a.Name, at, d)
			}
		}
	}
	for name := range rules {
		if !fires[name] {
			t.Errorf("no test has %s fire", name)
		}
	}
}

// firing evaluates a rule at each step, and returns the labels of its alerts that fire at a time.
func firing(t *testing.T, engine *promql.Engine, stored series, rule rulefmt.Rule, at, step time.Duration,
) []map[string]string {
	t.Helper()
	since := map[string]time.Duration{} // when an alert became pending, by its labels
	out := []map[string]string{}
	for now := time.Duration(0); now <= at; now += step {
		q, err := engine.NewInstantQuery(t.Context(), stored, nil, rule.Expr, time.UnixMilli(now.Milliseconds()))
		if err != nil {
			t.Fatal(err)
		}
		found, err := q.Exec(t.Context()).Vector()
		if err != nil {
			t.Fatal(err)
		}
		pending := map[string]time.Duration{}
		out = out[:0]
		for _, s := range found {
			key := s.Metric.String()
			if _, ok := since[key]; !ok {
				since[key] = now
			}
			if pending[key] = since[key]; now-since[key] < time.Duration(rule.For) {
				continue
			}
			has := s.Metric.Map()
			delete(has, model.MetricNameLabel)
			maps.Copy(has, rule.Labels)
			out = append(out, has)
		}
		since = pending
		q.Close()
	}
	return out
}

// series are time series in memory.
type series []promql.Series

// readSeries reads the series of a test, in the notation of promtool.
func readSeries(t *testing.T, test ruleTest) (out series) {
	t.Helper()
	for _, one := range test.Series {
		has, values, err := promQL().ParseSeriesDesc(one.Series + " " + one.Values)
		if err != nil {
			t.Fatal(err)
		}
		s := promql.Series{Metric: has}
		for i, v := range values {
			if at := int64(i) * time.Duration(test.Interval).Milliseconds(); !v.Omitted {
				s.Floats = append(s.Floats, promql.FPoint{T: at, F: v.Value})
			}
		}
		out = append(out, s)
	}
	return out
}

// Querier implements storage.Queryable.
func (s series) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, by ...*labels.Matcher,
	) storage.SeriesSet {
		found := &seriesSet{}
		for _, one := range s {
			if !slices.ContainsFunc(by, func(m *labels.Matcher) bool { return !m.Matches(one.Metric.Get(m.Name)) }) {
				found.left = append(found.left, one)
			}
		}
		return found
	}}, nil
}

// seriesSet is an answer of a Querier.
type seriesSet struct {
	left []promql.Series
	at   promql.Series
}

func (s *seriesSet) Next() bool {
	if len(s.left) == 0 {
		return false
	}
	s.at, s.left = s.left[0], s.left[1:]
	return true
}

func (s *seriesSet) At() storage.Series                { return promql.NewStorageSeries(s.at) }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }
