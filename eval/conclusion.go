package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Conclusion says in a few sentences what r shows, for the head of a report: the gates first, then how often search is
// right, which kind of request it misses most, and how often it is confident where no tool serves.
func (r *Report) Conclusion(verdicts []Verdict) string {
	var parts []string
	if len(verdicts) > 0 {
		met := 0
		for _, v := range verdicts {
			met += int(boolScore(v.Met))
		}
		if met == len(verdicts) {
			parts = append(parts, fmt.Sprintf("Passed: %d of %d gates are met.", met, len(verdicts)))
		} else {
			parts = append(parts, fmt.Sprintf("Failed: %d of %d gates are not met.", len(verdicts)-met, len(verdicts)))
		}
	}
	if n := r.All.Queries; n > 0 {
		const text = "A right tool comes first for %s of %d requests, and among the first five for %s."
		parts = append(parts, fmt.Sprintf(text,
			percentText(r.All.Scores[hitAt(1)]), n, percentText(r.All.Scores[hitAt(5)])))
	}
	if missed := r.missedText(); missed != "" {
		parts = append(parts, missed)
	}
	if n := r.NoMatch; n != nil && n.All != nil && n.All.Confident != nil {
		const text = "Of %d requests that no tool serves, %s got a confident answer."
		parts = append(parts, fmt.Sprintf(text, n.All.Queries, percentText(*n.All.Confident)))
	}
	return strings.Join(parts, " ")
}

// missedText says how many requests have no right tool among the first five, and of which kind most of them are.
func (r *Report) missedText() string {
	missed, kinds := 0, map[string]int{}
	for i := range r.Cases {
		if o := &r.Cases[i]; !o.NoMatch && o.Missed() != "" {
			missed++
			kinds[o.Kind]++
		}
	}
	if missed == 0 {
		return ""
	}
	type count struct {
		kind string
		n    int
	}
	var counts []count
	for kind, n := range kinds {
		counts = append(counts, count{kind, n})
	}
	slices.SortFunc(counts, func(a, b count) int {
		return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.kind, b.kind))
	})
	text := fmt.Sprintf("%d requests are missed", missed)
	if missed == 1 {
		text = "1 request is missed"
	}
	if most := counts[0]; len(counts) > 1 && most.kind != "" {
		text += fmt.Sprintf(", %d of them of kind %s", most.n, most.kind)
	}
	return text + "."
}

// percentText writes a share as a whole percentage, and never rounds up to 100 or down to 0.
func percentText(v float64) string {
	p := int(v*100 + .5)
	switch {
	case p == 100 && v < 1:
		p = 99
	case p == 0 && v > 0:
		p = 1
	}
	return fmt.Sprintf("%d %%", p)
}
