package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tooldex/tool"
)

// Gate is a condition on one figure: that it reaches a bound, or that it falls by no more than a bound.
type Gate struct {
	// Kind is the kind of requests that counts; "" for all. For "auroc" it is near_miss, foreign, or "" for both.
	Kind   string
	Metric Metric
	Bound  float64 // 0 to 1
	// Drop makes Bound the most by which the figure may lie below that of another report. Without it, Bound is the
	// least that the figure must reach.
	Drop bool
}

// ParseGate reads "recall@5=.9" or, for one kind of requests, "paraphrase:hit@5=.8". Case does not matter in the
// metric, ">=" may stand for "=". What is none of Metrics nor "auroc", or no number from 0 to 1, is Invalid.
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
	if g.Metric != metricAUROC && !slices.Contains(metricList(), g.Metric) {
		return Gate{}, badGate(s, fmt.Sprintf("%q is no metric", name))
	}
	var err error
	g.Bound, err = strconv.ParseFloat(strings.TrimSpace(right), 64)
	if err != nil || !(g.Bound >= 0 && g.Bound <= 1) {
		return Gate{}, badGate(s, fmt.Sprintf("%q is not a number from 0 to 1", right))
	}
	return g, nil
}

// ParseDrop reads a gate on how much a figure may fall, in the form of ParseGate.
func ParseDrop(s string) (Gate, error) {
	g, err := ParseGate(s)
	g.Drop = err == nil
	return g, err
}

// badGate returns the Invalid error of a gate that cannot be read, with the form that gates have.
func badGate(s, why string) error {
	names := make([]string, 0, len(defined)+1)
	for _, m := range append(metricList(), metricAUROC) {
		names = append(names, string(m))
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "parse gate", Msg: fmt.Sprintf("gate %q is not usable: %s", s, why),
		Hint: "write recall@5=.9 or kind:recall@5=.9, with one of " + strings.Join(names, ", "),
	}
}

// String returns the gate as ParseGate or ParseDrop reads it.
func (g Gate) String() string {
	return g.figureName() + "=" + strconv.FormatFloat(g.Bound, 'g', -1, 64)
}

// figureName returns the name of the figure, "recall@5" or "paraphrase:recall@5".
func (g Gate) figureName() string {
	if g.Kind == "" {
		return string(g.Metric)
	}
	return g.Kind + ":" + string(g.Metric)
}

// Verdict is the result of one gate.
type Verdict struct {
	Figure string   `json:"figure"`
	Need   string   `json:"need"` // "at least 0.9", "at most 0.01 below"
	Got    *float64 `json:"got"`  // nil if it was not measured; a gate on nothing is never met
	// of the other report, for a gate on a drop; nil if it was not measured there
	Was *float64 `json:"was,omitempty"`
	Met bool     `json:"met"`
}

// String returns one line with the value that was required and the one that was measured.
func (v Verdict) String() string {
	switch {
	case v.Got == nil:
		return v.Figure + " was not measured: no such requests, or the ranking was not deep enough"
	case v.Was != nil:
		return fmt.Sprintf("%s is %.4f and was %.4f, %s wanted", v.Figure, *v.Got, *v.Was, v.Need)
	case strings.HasSuffix(v.Need, "below"):
		return v.Figure + " was not measured in the report to compare with"
	}
	return fmt.Sprintf("%s is %.4f, %s wanted", v.Figure, *v.Got, v.Need)
}

// rounding is how far a mean may miss its gate by rounding of floats: the mean of ten times .9 is not always .9.
const rounding = 1e-9

// Check returns the verdict of each gate, in their order. base is the report that drops are measured from; it is used
// only for those, and without it none of them is met.
func (r *Report) Check(gates []Gate, base *Report) []Verdict {
	out := make([]Verdict, 0, len(gates))
	for _, g := range gates {
		v := Verdict{Figure: g.figureName(), Need: fmt.Sprintf("at least %v", g.Bound), Got: r.gateFigure(g)}
		if g.Drop {
			v.Need = fmt.Sprintf("at most %v below", g.Bound)
			if base != nil {
				v.Was = base.gateFigure(g)
			}
			v.Met = v.Got != nil && v.Was != nil && *v.Got >= *v.Was-g.Bound-rounding
		} else {
			v.Met = v.Got != nil && *v.Got >= g.Bound-rounding
		}
		out = append(out, v)
	}
	return out
}

// gateFigure returns the value that g is about, or nil if r does not have it.
func (r *Report) gateFigure(g Gate) *float64 {
	if g.Metric == metricAUROC {
		return r.unservedAUROC(g.Kind)
	}
	s := &r.All
	if g.Kind != "" {
		i, ok := slices.BinarySearchFunc(r.Kinds, g.Kind, func(s Summary, kind string) int {
			return cmp.Compare(s.Kind, kind)
		})
		if !ok {
			return nil
		}
		s = &r.Kinds[i]
	}
	v, ok := s.Scores[g.Metric]
	if !ok {
		return nil
	}
	return &v
}

// unservedAUROC returns the figure of a kind of unserved requests, or nil if it was not measured.
func (r *Report) unservedAUROC(kind string) *float64 {
	if r.NoMatch == nil {
		return nil
	}
	refusal := map[string]*Refusal{
		"": r.NoMatch.All, kindNoMatch: r.NoMatch.All, "near_miss": r.NoMatch.NearMiss,
		"foreign": r.NoMatch.Foreign,
	}[kind]
	if refusal == nil {
		return nil
	}
	return refusal.AUROC
}
