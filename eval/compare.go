package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Comparison sets two reports side by side, request by request. Changes are from A to B: positive means that B is
// better.
type Comparison struct {
	A        string       `json:"a"` // name of the first in the text; Compare sets its mode, and the caller may set a better one
	B        string       `json:"b"`
	Queries  int          `json:"queries"`            // in both, with a tool that serves
	Unpaired int          `json:"unpaired,omitempty"` // in one only, and left out
	All      []Difference `json:"all"`                // by metric, in the order of Metrics
	Kinds    []KindChange `json:"kinds,omitempty"`    // by name
	// requests whose first relevant tool moved; worst loss first, best win last
	Changes []Change `json:"changes,omitempty"`
	// the other requests, whose first relevant tool stands where it stood; by ID
	Same []string `json:"same,omitempty"`
	// Most is how many wins, losses and unmoved requests WriteText lists; 0 means ten. JSON has them all.
	Most int `json:"-"`
}

// KindChange compares the requests of one kind.
type KindChange struct {
	Kind    string       `json:"kind"`
	Queries int          `json:"queries"`
	Metrics []Difference `json:"metrics"`
}

// Difference compares one metric over paired requests.
type Difference struct {
	Metric Metric  `json:"metric"`
	A      float64 `json:"a"` // mean
	B      float64 `json:"b"`
	Change float64 `json:"change"` // B - A
	Low    float64 `json:"low"`    // ends of the 95 % interval of Change
	High   float64 `json:"high"`
	Wins   int     `json:"wins"` // requests where B is better
	Losses int     `json:"losses"`
	Ties   int     `json:"ties"` // requests where it is the same to the last bit
}

// Clear reports whether the interval of the change leaves out zero.
func (d *Difference) Clear() bool { return d.Low > 0 || d.High < 0 }

// Change is a request whose first relevant tool moved.
type Change struct {
	ID    string `json:"id"`
	Query string `json:"query,omitempty"`
	Kind  string `json:"kind,omitempty"`
	A     int    `json:"a"` // place of the first relevant tool; 0 if it was not found
	B     int    `json:"b"`
}

// rankGain is the change in reciprocal rank.
func (c *Change) rankGain() float64 {
	inverse := func(at int) float64 {
		if at == 0 {
			return 0
		}
		return 1 / float64(at)
	}
	return inverse(c.B) - inverse(c.A)
}

// Compare pairs the requests of two reports by ID. The intervals are those of a paired bootstrap: as many requests as
// there are, are drawn anew with replacement 10,000 times, and the middle 95 % of the mean changes are kept (Efron and
// Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13). The draw has a fixed seed: the same reports give the
// same comparison. Reports of different depth, without every request in Cases, or without a request in common, are
// Invalid.
func Compare(a, b *Report) (*Comparison, error) {
	if a.Depth != b.Depth {
		return nil, invalidOptions(fmt.Sprintf("one report ranks %d tools, the other %d", a.Depth, b.Depth),
			"measure both to the same depth")
	}
	for _, r := range []*Report{a, b} {
		if len(r.Cases) == 0 && r.All.Queries > 0 {
			return nil, invalidOptions("a report has only the means, and no requests to pair", "write it with --cases")
		}
	}
	pairs, unpaired := pairOutcomes(a, b)
	if len(pairs) == 0 {
		return nil, invalidOptions("the reports have no request in common", "compare two runs over one set")
	}
	c := &Comparison{
		A: cmp.Or(string(a.Mode), "a"), B: cmp.Or(string(b.Mode), "b"),
		Queries: len(pairs), Unpaired: unpaired, All: compareMetrics(pairs),
	}
	byKind := map[string][]paired{}
	for _, p := range pairs {
		if kind := p.b.Kind; kind != "" {
			byKind[kind] = append(byKind[kind], p)
		}
		if p.a.Rank != p.b.Rank {
			c.Changes = append(c.Changes, Change{p.b.ID, cmp.Or(p.b.Query, p.a.Query), p.b.Kind, p.a.Rank, p.b.Rank})
		} else {
			c.Same = append(c.Same, p.b.ID)
		}
	}
	for kind, of := range byKind {
		c.Kinds = append(c.Kinds, KindChange{kind, len(of), compareMetrics(of)})
	}
	slices.SortFunc(c.Kinds, func(x, y KindChange) int { return strings.Compare(x.Kind, y.Kind) })
	slices.SortFunc(c.Changes, func(x, y Change) int {
		return cmp.Or(cmp.Compare(x.rankGain(), y.rankGain()), cmp.Compare(x.ID, y.ID))
	})
	return c, nil
}

// paired is the outcome of one case in two reports.
type paired struct{ a, b *Outcome }

// pairOutcomes returns the requests that both reports scored, sorted by ID so that the draw does not depend on the
// order of the set, and the number that only one of them scored.
func pairOutcomes(a, b *Report) (pairs []paired, unpaired int) {
	inA := make(map[string]*Outcome, len(a.Cases))
	for i := range a.Cases {
		if o := &a.Cases[i]; !o.NoMatch {
			inA[o.ID] = o
		}
	}
	for i := range b.Cases {
		o := &b.Cases[i]
		if o.NoMatch {
			continue
		}
		if other, ok := inA[o.ID]; ok {
			pairs = append(pairs, paired{other, o})
			delete(inA, o.ID)
		} else {
			unpaired++
		}
	}
	slices.SortFunc(pairs, func(x, y paired) int { return strings.Compare(x.b.ID, y.b.ID) })
	return pairs, unpaired + len(inA)
}

// compareMetrics returns a Difference for each metric that both reports measured, in the order of metrics. Those of
// steps are over the tasks that have them. pairs is not empty.
func compareMetrics(pairs []paired) []Difference {
	var whole, steps []Metric
	for _, d := range defined {
		if d.ofSteps {
			steps = append(steps, d.metric)
		} else {
			whole = append(whole, d.metric)
		}
	}
	out := compareSome(pairs, whole)
	tasks := slices.DeleteFunc(slices.Clone(pairs), func(p paired) bool { return !p.measured(stepsAt(1)) })
	if len(tasks) > 0 {
		out = append(out, compareSome(tasks, steps)...)
	}
	return out
}

// measured reports whether both outcomes have a metric.
func (p paired) measured(m Metric) bool {
	_, inA := p.a.Scores[m]
	_, inB := p.b.Scores[m]
	return inA && inB
}

// compareSome returns a Difference for each of these metrics that was measured. pairs is not empty, and all have the
// same ones.
func compareSome(pairs []paired, metrics []Metric) []Difference {
	n := len(pairs)
	var out []Difference
	var deltas [][]float64 // by metric, then request
	for _, m := range metrics {
		if !pairs[0].measured(m) {
			continue // deeper than the ranking, or unknown to the version that wrote a report
		}
		d, of := Difference{Metric: m}, make([]float64, n)
		for i, p := range pairs {
			va, vb := p.a.Scores[m], p.b.Scores[m]
			d.A += va
			d.B += vb
			of[i] = vb - va
			d.Wins += int(boolScore(vb > va))
			d.Losses += int(boolScore(vb < va))
			d.Ties += int(boolScore(vb == va))
		}
		d.A, d.B = d.A/float64(n), d.B/float64(n)
		d.Change = d.B - d.A
		out, deltas = append(out, d), append(deltas, of)
	}
	for i, means := range bootstrapMeans(deltas, n) {
		slices.Sort(means)
		out[i].Low, out[i].High = confidenceInterval(means)
	}
	return out
}
