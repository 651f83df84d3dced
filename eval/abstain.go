package eval

import (
	"cmp"
	"math"
	"slices"
)

// Abstention measures how well requests that a tool serves are distinguished from those that none serves.
type Abstention struct {
	Answerable int      `json:"answerable"` // requests that a tool serves
	Confident  *float64 `json:"confident"`  // share of those answered with confidence; nil if the answers did not say
	All        *Refusal `json:"all"`        // requests that no tool serves; nil if there are none, as below
	NearMiss   *Refusal `json:"nearMiss,omitempty"`
	Foreign    *Refusal `json:"foreign,omitempty"`
}

// Refusal holds the figures of requests that no tool serves.
type Refusal struct {
	Queries int `json:"queries"`
	// share of those answered with confidence, wrongly; nil if the answers did not say
	Confident *float64 `json:"confident"`
	AUROC     *float64 `json:"auroc"` // nil without answerable requests to compare with
	// Refused is the share with a first score below the highest threshold that keeps 95 % of the answerable ones.
	Refused *float64 `json:"refusedAt95"`
}

// measureAbstention returns nil if some tool serves every request. Near misses and foreign requests are measured apart
// and together.
func measureAbstention(outcomes []Outcome) *Abstention {
	var served, all, near, foreign []*Outcome
	for i := range outcomes {
		o := &outcomes[i]
		switch {
		case !o.NoMatch:
			served = append(served, o)
			continue
		case o.nearMiss:
			near = append(near, o)
		default:
			foreign = append(foreign, o)
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		return nil
	}
	return &Abstention{
		Answerable: len(served), Confident: confidentRate(served),
		All:      measureRefusal(served, all),
		NearMiss: measureRefusal(served, near), Foreign: measureRefusal(served, foreign),
	}
}

// measureRefusal compares the scores of requests that a tool serves with those of requests that none does. It returns
// nil without any of the latter.
func measureRefusal(served, none []*Outcome) *Refusal {
	if len(none) == 0 {
		return nil
	}
	r := &Refusal{Queries: len(none), Confident: confidentRate(none)}
	if len(served) > 0 {
		high, low := topScores(served), topScores(none)
		area, refused := areaUnderROC(high, low), refusedAt95(high, low)
		r.AUROC, r.Refused = &area, &refused
	}
	return r
}

// confidentRate returns the share of confident answers among those that say whether they are; nil if none says so.
func confidentRate(outcomes []*Outcome) *float64 {
	said, sure := 0, 0
	for _, o := range outcomes {
		if o.Confident != nil {
			said++
			sure += int(boolScore(*o.Confident))
		}
	}
	if said == 0 {
		return nil
	}
	rate := float64(sure) / float64(said)
	return &rate
}

// topScores returns the score of the first tool of each outcome, in their order.
func topScores(outcomes []*Outcome) []float64 {
	out := make([]float64, len(outcomes))
	for i, o := range outcomes {
		out[i] = o.top
	}
	return out
}

// topScore returns the score of the first tool, and minus infinity for an empty ranking.
func topScore(ranked []Ranked) float64 {
	if len(ranked) == 0 {
		return math.Inf(-1)
	}
	return ranked[0].Score
}

// areaUnderROC returns the share of pairs in which the one of high is above the one of low, ties counting half (the
// Mann-Whitney statistic). Both are non-empty; it counts in integers, so the order of the values does not matter.
func areaUnderROC(high, low []float64) float64 {
	sorted := slices.Sorted(slices.Values(low))
	halves := 0
	for _, h := range high {
		below, _ := slices.BinarySearch(sorted, h)
		// The comparison never returns 0, so that the search finds the end of the equal values.
		upTo, _ := slices.BinarySearchFunc(sorted, h, func(v, target float64) int {
			return cmp.Or(cmp.Compare(v, target), -1)
		})
		halves += below + upTo // twice those below, and once those equal
	}
	return float64(halves) / float64(2*len(high)*len(low))
}

// refusedAt95 returns the share of low that lies below the threshold which keeps 95 % of high: the value with a
// twentieth of them below it.
func refusedAt95(high, low []float64) float64 {
	sorted := slices.Sorted(slices.Values(high))
	threshold := sorted[len(sorted)/20]
	refused := 0
	for _, l := range low {
		if l < threshold {
			refused++
		}
	}
	return float64(refused) / float64(len(low))
}
