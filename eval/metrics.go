package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Metric names one figure of a Report, such as "recall@5".
type Metric string

// MRR, NDCG and Complete are the metrics that exist at one depth; AUROC tells requests that a tool serves from those that
// none does. Recall and Hit make the others.
const (
	MRR      Metric = "mrr"
	NDCG     Metric = "ndcg@10"
	Complete Metric = "complete@10"
	AUROC    Metric = "auroc"
)

// Recall returns the metric recall@k.
func Recall(k int) Metric { return Metric(fmt.Sprintf("recall@%d", k)) }

// Hit returns the metric hit@k.
func Hit(k int) Metric { return Metric(fmt.Sprintf("hit@%d", k)) }

// Metrics lists, in the order of a report, what is measured of each request that a tool serves: recall and hit at 1, 3,
// 5, 10 and 20, MRR, NDCG and Complete. AUROC is not of one request and not among them.
func Metrics() []Metric {
	out := make([]Metric, 0, len(defined))
	for _, d := range defined {
		out = append(out, d.metric)
	}
	return out
}

// Scores are values by metric, 0 to 1. A metric that looks deeper than the ranking was asked for is not there.
type Scores map[Metric]float64

// Ranked is one place of a ranking: a tool by the set's own name, and its score.
type Ranked struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
}

// definition says how a metric is taken at depth k of the places of one case. A zero k means the whole ranking.
type definition struct {
	metric Metric
	k      int
	value  func(p *places, k int) float64
}

var defined = [...]definition{
	{Recall(1), 1, (*places).recall},
	{Recall(3), 3, (*places).recall},
	{Recall(5), 5, (*places).recall},
	{Recall(10), 10, (*places).recall},
	{Recall(20), 20, (*places).recall},
	{Hit(1), 1, (*places).hit},
	{Hit(3), 3, (*places).hit},
	{Hit(5), 5, (*places).hit},
	{Hit(10), 10, (*places).hit},
	{Hit(20), 20, (*places).hit},
	{MRR, 0, (*places).reciprocal},
	{NDCG, 10, (*places).ndcg},
	{Complete, 10, (*places).complete},
}

// measure scores one ranking, which was asked for to the given depth. It gives nil for a case that no tool serves.
func measure(c *Case, ranked []Ranked, depth int) (s Scores, first int) {
	if c.NoMatch() {
		return nil, 0
	}
	p := placesOf(c, ranked[:min(len(ranked), depth)])
	s = make(Scores, len(defined))
	for _, d := range defined {
		if d.k <= depth {
			s[d.metric] = d.value(p, d.k)
		}
	}
	return s, p.first()
}

// places knows where each tool stands, from 1, at its first mention.
type places struct {
	c  *Case
	at map[string]int
}

func placesOf(c *Case, ranked []Ranked) *places {
	p := &places{c: c, at: make(map[string]int, len(ranked))}
	for i, r := range ranked {
		if _, repeat := p.at[r.Name]; !repeat {
			p.at[r.Name] = i + 1
		}
	}
	return p
}

// within reports whether a tool stands among the first k.
func (p *places) within(name string, k int) bool {
	at := p.at[name]
	return at > 0 && at <= k
}

// first returns the place of the first relevant tool, or 0.
func (p *places) first() int {
	best := 0
	for _, name := range p.c.Relevant {
		if at := p.at[name]; at > 0 && (best == 0 || at < best) {
			best = at
		}
	}
	return best
}

func (p *places) recall(k int) float64 {
	if p.c.Any {
		return p.hit(k)
	}
	found := 0
	for _, name := range p.c.Relevant {
		if p.within(name, k) {
			found++
		}
	}
	return float64(found) / float64(len(p.c.Relevant))
}

func (p *places) hit(k int) float64 {
	return truth(slices.ContainsFunc(p.c.Relevant, func(name string) bool { return p.within(name, k) }))
}

func (p *places) reciprocal(int) float64 {
	if first := p.first(); first > 0 {
		return 1 / float64(first)
	}
	return 0
}

func (p *places) ndcg(k int) float64 {
	type gained struct {
		at   int
		gain float64
	}
	var found []gained
	var gains []float64
	for _, name := range graded(p.c) {
		gain, ok := p.c.Grades[name]
		if !ok {
			gain = 1
		}
		gains = append(gains, gain)
		if p.within(name, k) {
			found = append(found, gained{p.at[name], gain})
		}
	}
	// Sums run by place, so that the order of labels cannot change the last bit.
	slices.SortFunc(found, func(a, b gained) int { return cmp.Compare(a.at, b.at) })
	slices.SortFunc(gains, func(a, b float64) int { return cmp.Compare(b, a) })
	var got, best float64
	for _, f := range found {
		got += f.gain / math.Log2(float64(1+f.at))
	}
	for i, gain := range gains[:min(k, len(gains))] {
		best += gain / math.Log2(float64(2+i))
	}
	if best == 0 {
		return 0
	}
	return got / best
}

// graded lists the tools that may have a gain: the relevant ones, and others with a grade.
func graded(c *Case) []string {
	names := slices.Clone(c.Relevant)
	for name := range c.Grades {
		if !slices.Contains(c.Relevant, name) {
			names = append(names, name)
		}
	}
	return names
}

func (p *places) complete(k int) float64 {
	switch {
	case len(p.c.AllOf) > 0:
		for _, group := range p.c.AllOf {
			if !slices.ContainsFunc(group, func(name string) bool { return p.within(name, k) }) {
				return 0
			}
		}
		return 1
	case p.c.Any:
		return p.hit(k)
	}
	for _, name := range p.c.Relevant {
		if !p.within(name, k) {
			return 0
		}
	}
	return 1
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
