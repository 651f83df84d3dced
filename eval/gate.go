package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tooldex/tool"
)

// Gate is the least that a figure must reach.
type Gate struct {
	// Kind is the kind of requests that counts; "" for all. For "auroc" it is near_miss, foreign, or "" for both.
	Kind   string
	Metric Metric
	Min    float64 // 0 to 1
}

// ParseGate reads "recall@5=.9" or, for one kind of requests, "paraphrase:hit@5=.8". Case does not matter in the metric,
// ">=" may stand for "=". What is none of Metrics nor "auroc", or no number from 0 to 1, is Invalid.
func ParseGate(s string) (Gate, error) {
	left, right, ok := strings.Cut(s, "=")
	if !ok {
		return Gate{}, badGate(s, "it has no =")
	}
	left = strings.TrimSuffix(left, ">")
	var g Gate
	name := left
	if i := strings.LastIndexByte(left, ':'); i >= 0 {
		g.Kind, name = strings.TrimSpace(left[:i]), left[i+1:]
		if g.Kind == "" {
			return Gate{}, badGate(s, "it has no kind before the colon")
		}
	}
	g.Metric = Metric(strings.ToLower(strings.TrimSpace(name)))
	if g.Metric != metricAUROC && !slices.Contains(Metrics(), g.Metric) {
		return Gate{}, badGate(s, fmt.Sprintf("%q is no metric", name))
	}
	var err error
	g.Min, err = strconv.ParseFloat(strings.TrimSpace(right), 64)
	if err != nil || !(g.Min >= 0 && g.Min <= 1) {
		return Gate{}, badGate(s, fmt.Sprintf("%q is not a number from 0 to 1", right))
	}
	return g, nil
}

func badGate(s, why string) error {
	names := make([]string, 0, len(defined)+1)
	for _, m := range append(Metrics(), metricAUROC) {
		names = append(names, string(m))
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "parse gate", Msg: fmt.Sprintf("gate %q is not usable: %s", s, why),
		Hint: "write recall@5=.9 or kind:recall@5=.9, with one of " + strings.Join(names, ", "),
	}
}

// String gives the gate as ParseGate reads it.
func (g Gate) String() string {
	return g.name() + "=" + strconv.FormatFloat(g.Min, 'g', -1, 64)
}

func (g Gate) name() string {
	if g.Kind == "" {
		return string(g.Metric)
	}
	return g.Kind + ":" + string(g.Metric)
}

// Failure is a gate that was not met.
type Failure struct {
	Gate     Gate
	Measured bool // whether there was a figure at all; a gate on none is never met
	Got      float64
}

// String tells in one line what was wanted and what was there.
func (f Failure) String() string {
	if !f.Measured {
		return f.Gate.name() + " was not measured: no such requests, or the ranking was not deep enough"
	}
	return fmt.Sprintf("%s is %.4f, below %v", f.Gate.name(), f.Got, f.Gate.Min)
}

// rounding is how far a mean may lie below its gate for want of bits: nine tenths added up are not always .9.
const rounding = 1e-9

// Check returns the gates that r does not meet, in their order; none if all is well.
func (r *Report) Check(gates []Gate) []Failure {
	var failed []Failure
	for _, g := range gates {
		got, ok := r.figure(g)
		if !ok || !(got >= g.Min-rounding) {
			failed = append(failed, Failure{g, ok, got})
		}
	}
	return failed
}

func (r *Report) figure(g Gate) (float64, bool) {
	if g.Metric == metricAUROC {
		return r.auroc(g.Kind)
	}
	s := &r.All
	if g.Kind != "" {
		i, ok := slices.BinarySearchFunc(r.Kinds, g.Kind, func(s Summary, kind string) int { return cmp.Compare(s.Kind, kind) })
		if !ok {
			return 0, false
		}
		s = &r.Kinds[i]
	}
	v, ok := s.Scores[g.Metric]
	return v, ok
}

func (r *Report) auroc(kind string) (float64, bool) {
	if r.NoMatch == nil {
		return 0, false
	}
	refusal := map[string]*Refusal{"": r.NoMatch.All, kindNoMatch: r.NoMatch.All, "near_miss": r.NoMatch.NearMiss, "foreign": r.NoMatch.Foreign}[kind]
	if refusal == nil || refusal.AUROC == nil {
		return 0, false
	}
	return *refusal.AUROC, true
}
