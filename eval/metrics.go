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
	metricMRR   Metric = "mrr"
	metricNDCG  Metric = "ndcg@10"
	metricAUROC Metric = "auroc" // of a whole report, so it is not among Metrics
)

// recallAt returns the metric of the share of relevant tools among the first k.
func recallAt(k int) Metric { return Metric(fmt.Sprintf("recall@%d", k)) }

// hitAt returns the metric of whether any relevant tool is among the first k.
func hitAt(k int) Metric { return Metric(fmt.Sprintf("hit@%d", k)) }

// completeAt returns the metric of whether the first k tools meet all needs of a request.
func completeAt(k int) Metric { return Metric(fmt.Sprintf("complete@%d", k)) }

// stepsAt returns the metric of whether every step of a task finds its tool among the first k for its own request.
func stepsAt(k int) Metric { return Metric(fmt.Sprintf("steps@%d", k)) }

// metricList lists what is measured, in the order of a report: recall@k and hit@k for k of 1, 3, 5, 10 and 20, "mrr",
// "ndcg@10", complete@k for k of 5, 10 and 20, and of tasks whose steps have requests steps@k for k of 1, 5 and 10.
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

// definition says how a metric is computed at depth k for one case. A zero k means the whole ranking. Metrics of steps
// are only measured where a case has requests for its steps.
type definition struct {
	metric  Metric
	k       int
	value   func(p *foundPlaces, k int) float64
	ofSteps bool
}

// defined lists the metrics in the order of reports. It is read-only.
var defined = [...]definition{
	{metric: recallAt(1), k: 1, value: (*foundPlaces).recallAt},
	{metric: recallAt(3), k: 3, value: (*foundPlaces).recallAt},
	{metric: recallAt(5), k: 5, value: (*foundPlaces).recallAt},
	{metric: recallAt(10), k: 10, value: (*foundPlaces).recallAt},
	{metric: recallAt(20), k: 20, value: (*foundPlaces).recallAt},
	{metric: hitAt(1), k: 1, value: (*foundPlaces).hitAt},
	{metric: hitAt(3), k: 3, value: (*foundPlaces).hitAt},
	{metric: hitAt(5), k: 5, value: (*foundPlaces).hitAt},
	{metric: hitAt(10), k: 10, value: (*foundPlaces).hitAt},
	{metric: hitAt(20), k: 20, value: (*foundPlaces).hitAt},
	{metric: metricMRR, value: (*foundPlaces).reciprocalRank},
	{metric: metricNDCG, k: 10, value: (*foundPlaces).ndcgAt},
	{metric: completeAt(5), k: 5, value: (*foundPlaces).completeAt},
	{metric: completeAt(10), k: 10, value: (*foundPlaces).completeAt},
	{metric: completeAt(20), k: 20, value: (*foundPlaces).completeAt},
	{metric: stepsAt(1), k: 1, value: (*foundPlaces).stepsAt, ofSteps: true},
	{metric: stepsAt(5), k: 5, value: (*foundPlaces).stepsAt, ofSteps: true},
	{metric: stepsAt(10), k: 10, value: (*foundPlaces).stepsAt, ofSteps: true},
}

// scoreCase scores one answer, which was asked for to the given depth, and returns the places of the relevant tools,
// ascending, and of the needs of a request for several things. All are nil for a case that no tool serves.
func scoreCase(c *Case, a *Answer, depth int) (s Scores, at []int, needs []Need) {
	if c.NoMatch() {
		return nil, nil, nil
	}
	p := placesOf(c, a, depth)
	s = make(Scores, len(defined))
	for _, d := range defined {
		if d.k <= depth && (!d.ofSteps || c.Steps != nil) {
			s[d.metric] = d.value(p, d.k)
		}
	}
	return s, p.relevantPlaces(), p.needs(a)
}

// foundPlaces holds the place of each tool of a ranking, from 1, at its first mention.
type foundPlaces struct {
	c     *Case
	at    map[string]int
	steps []*foundPlaces // of the answers to the requests of the steps; empty where nothing was answered
}

// placesOf indexes the rankings of an answer by tool, each to the given depth.
func placesOf(c *Case, a *Answer, depth int) *foundPlaces {
	p := rankingPlaces(c, a.Ranked, depth)
	for _, ranked := range a.Steps {
		p.steps = append(p.steps, rankingPlaces(c, ranked, depth))
	}
	return p
}

// rankingPlaces indexes one ranking by tool; the tools of Also are at the place of the one that lists them.
func rankingPlaces(c *Case, ranked []Ranked, depth int) *foundPlaces {
	ranked = ranked[:min(len(ranked), depth)]
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
	return boolScore(p.hasOneOf(p.c.Relevant, k))
}

// hasOneOf reports whether one of these tools is among the first k.
func (p *foundPlaces) hasOneOf(names []string, k int) bool {
	return slices.ContainsFunc(names, func(name string) bool { return p.isWithin(name, k) })
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
			if !p.hasOneOf(group, k) {
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

// stepsAt returns 1 if every step finds one of its tools among the first k for its own request.
func (p *foundPlaces) stepsAt(k int) float64 {
	for i, group := range p.c.AllOf {
		if i >= len(p.steps) || !p.steps[i].hasOneOf(group, k) {
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
