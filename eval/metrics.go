package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Metric names one figure of a Report, such as "recall@5". [Metrics] lists them; the package comment defines them.
type Metric string

const (
	metricMRR      Metric = "mrr"
	metricNDCG     Metric = "ndcg@10"
	metricComplete Metric = "complete@10"
	metricAUROC    Metric = "auroc" // of a whole report, so it is not among Metrics
)

// recallAt returns the metric of the share of relevant tools among the first k.
func recallAt(k int) Metric { return Metric(fmt.Sprintf("recall@%d", k)) }

// hitAt returns the metric of whether any relevant tool is among the first k.
func hitAt(k int) Metric { return Metric(fmt.Sprintf("hit@%d", k)) }

// metricList lists what is measured of each request that a tool serves, in the order of a report: recall@k and hit@k
// for k of 1, 3, 5, 10 and 20, "mrr", "ndcg@10" and "complete@10".
func metricList() []Metric {
	out := make([]Metric, 0, len(defined))
	for _, d := range defined {
		out = append(out, d.metric)
	}
	return out
}

// Scores are values by metric, 0 to 1. A metric that needs a deeper ranking than was asked for is absent.
type Scores map[Metric]float64

// Ranked is one place of a ranking: a tool by the set's own name, and its score.
type Ranked struct {
	Name  string   `json:"name"`
	Score float64  `json:"score"`
	Also  []string `json:"also,omitempty"` // the same tool on other servers, which the answer lists at this place
}

// definition says how a metric is computed at depth k for one case. A zero k means the whole ranking.
type definition struct {
	metric Metric
	k      int
	value  func(p *foundPlaces, k int) float64
}

// defined lists the metrics in the order of reports. It is read-only.
var defined = [...]definition{
	{recallAt(1), 1, (*foundPlaces).recallAt},
	{recallAt(3), 3, (*foundPlaces).recallAt},
	{recallAt(5), 5, (*foundPlaces).recallAt},
	{recallAt(10), 10, (*foundPlaces).recallAt},
	{recallAt(20), 20, (*foundPlaces).recallAt},
	{hitAt(1), 1, (*foundPlaces).hitAt},
	{hitAt(3), 3, (*foundPlaces).hitAt},
	{hitAt(5), 5, (*foundPlaces).hitAt},
	{hitAt(10), 10, (*foundPlaces).hitAt},
	{hitAt(20), 20, (*foundPlaces).hitAt},
	{metricMRR, 0, (*foundPlaces).reciprocalRank},
	{metricNDCG, 10, (*foundPlaces).ndcgAt},
	{metricComplete, 10, (*foundPlaces).completeAt},
}

// scoreCase scores one ranking, which was asked for to the given depth, and returns the places of the relevant tools,
// ascending. Both results are nil for a case that no tool serves.
func scoreCase(c *Case, ranked []Ranked, depth int) (s Scores, at []int) {
	if c.NoMatch() {
		return nil, nil
	}
	p := placesOf(c, ranked[:min(len(ranked), depth)])
	s = make(Scores, len(defined))
	for _, d := range defined {
		if d.k <= depth {
			s[d.metric] = d.value(p, d.k)
		}
	}
	return s, p.relevantPlaces()
}

// foundPlaces holds the place of each tool of a ranking, from 1, at its first mention.
type foundPlaces struct {
	c  *Case
	at map[string]int
}

// placesOf indexes a ranking by tool; the tools of Also are at the place of the one that lists them.
func placesOf(c *Case, ranked []Ranked) *foundPlaces {
	p := &foundPlaces{c: c, at: make(map[string]int, len(ranked))}
	for i, r := range ranked {
		p.addPlace(r.Name, i+1)
		for _, name := range r.Also {
			p.addPlace(name, i+1)
		}
	}
	return p
}

// addPlace notes the place of a tool; of several places the first counts.
func (p *foundPlaces) addPlace(name string, place int) {
	if _, repeat := p.at[name]; !repeat {
		p.at[name] = place
	}
}

// isWithin reports whether a tool stands among the first k.
func (p *foundPlaces) isWithin(name string, k int) bool {
	at := p.at[name]
	return at > 0 && at <= k
}

// relevantPlaces returns the places of the relevant tools that were found, ascending.
func (p *foundPlaces) relevantPlaces() []int {
	var at []int
	for _, name := range p.c.Relevant {
		if place := p.at[name]; place > 0 {
			at = append(at, place)
		}
	}
	slices.Sort(at)
	return at
}

// recallAt returns the share of the relevant tools that are among the first k; where any of them will do, it is hit.
func (p *foundPlaces) recallAt(k int) float64 {
	if p.c.Any {
		return p.hitAt(k)
	}
	found := 0
	for _, name := range p.c.Relevant {
		if p.isWithin(name, k) {
			found++
		}
	}
	return float64(found) / float64(len(p.c.Relevant))
}

// hitAt returns 1 if any relevant tool is among the first k, else 0.
func (p *foundPlaces) hitAt(k int) float64 {
	return boolScore(slices.ContainsFunc(p.c.Relevant, func(name string) bool { return p.isWithin(name, k) }))
}

// reciprocalRank returns 1 / the place of the first relevant tool, 0 if none was found.
func (p *foundPlaces) reciprocalRank(int) float64 {
	if at := p.relevantPlaces(); len(at) > 0 {
		return 1 / float64(at[0])
	}
	return 0
}

// ndcgAt returns the normalised discounted cumulative gain of the first k places, with the grades of the case as gains
// and 1 for tools without a grade.
func (p *foundPlaces) ndcgAt(k int) float64 {
	type gained struct {
		at   int
		gain float64
	}
	var found []gained
	var gains []float64
	for _, name := range gradedNames(p.c) {
		gain, ok := p.c.Grades[name]
		if !ok {
			gain = 1
		}
		gains = append(gains, gain)
		if p.isWithin(name, k) {
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
	return min(1, got/best) // several tools at one place can have more than the best order of places
}

// gradedNames lists the tools that may have a gain: the relevant ones, and others with a grade.
func gradedNames(c *Case) []string {
	names := slices.Clone(c.Relevant)
	for name := range c.Grades {
		if !slices.Contains(c.Relevant, name) {
			names = append(names, name)
		}
	}
	return names
}

// completeAt returns 1 if the first k places suffice for the whole case: one tool of every group, any tool where one
// will do, else all relevant tools.
func (p *foundPlaces) completeAt(k int) float64 {
	switch {
	case len(p.c.AllOf) > 0:
		for _, group := range p.c.AllOf {
			if !slices.ContainsFunc(group, func(name string) bool { return p.isWithin(name, k) }) {
				return 0
			}
		}
		return 1
	case p.c.Any:
		return p.hitAt(k)
	}
	for _, name := range p.c.Relevant {
		if !p.isWithin(name, k) {
			return 0
		}
	}
	return 1
}

// boolScore returns 1 for true and 0 for false.
func boolScore(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
