package catalog

import (
	"math"
	"strings"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/store"
	"tooldex/tool"
)

// hashText identifies the text that is embedded for a tool. Tools with the same text share a vector.
func hashText(t *embed.Document) store.TextHash {
	return store.HashText(t.Name, t.Description, t.Parameters)
}

// indexFields returns the terms of each field of a tool: its own words, and the terms that were lent to it.
func indexFields(an *knowledge.Analyzer, t *tool.Tool, d *embed.Document,
	loan *knowledge.Loan,
) (out [index.Server][]index.Term) {
	labels := append([]string{t.Category}, t.Keywords...)
	said := make([]string, 0, len(t.Utterances)+len(t.Examples))
	for _, u := range t.Utterances {
		said = append(said, u.Text)
	}
	for _, e := range t.Examples {
		said = append(said, e.Description)
	}
	for f, text := range map[index.Field]string{
		index.Name: d.Name, index.Text: d.Description, index.Params: d.Parameters,
		index.Labels: strings.Join(append(labels, t.Synonyms...), "\n"), index.Said: strings.Join(said, "\n"),
	} {
		out[f] = an.Count(text)
	}
	out[index.Lent] = loan.Terms
	return out
}

// borrowedShare is the weight of the mean of the requests that its archetypes answer in a tool's vector; the rest is
// the tool's own.
const borrowedShare = .5

// mixVectors adds lent to own, if both have the same length, and scales the sum to unit length. It changes and returns
// own. A zero vector stays zero.
func mixVectors(own, lent []float32) []float32 {
	if len(own) == len(lent) {
		for i := range own {
			own[i] = float32((1-borrowedShare)*own[i]) + float32(borrowedShare*lent[i])
		}
	}
	var sum float64
	for _, x := range own {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return own
	}
	by := 1 / math.Sqrt(sum)
	for i := range own {
		own[i] = float32(float64(own[i]) * by)
	}
	return own
}
