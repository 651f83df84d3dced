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

// hashText identifies the text of a tool, whatever tool it belongs to.
func hashText(t *embed.Document) store.TextHash {
	return store.HashText(t.Name, t.Description, t.Parameters)
}

// indexFields analyses what a tool says of itself, and adds what was lent to it.
func indexFields(an *knowledge.Analyzer, t *tool.Tool, d *embed.Document,
	loan *knowledge.Loan,
) (out [index.NumFields][]index.Term) {
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

// borrowedShare is how much of a tool's vector is the mean of the requests that its archetypes answer.
const borrowedShare = .5

// mixVectors adds what was lent to a tool's own vector, if it is of the same model, and brings the sum to unit length.
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
