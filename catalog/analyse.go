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

// embedText is the text of a tool that is embedded.
func embedText(t *tool.Tool) embed.Document {
	name, description, params := knowledge.Text(t)
	return embed.Document{Name: name, Description: description, Parameters: params}
}

// hashText identifies the text of a document, whatever tool it belongs to.
func hashText(d embed.Document) store.TextHash {
	return store.HashText(d.Name, d.Description, d.Parameters)
}

// indexFields analyses what a tool says of itself and what was lent to it.
func indexFields(an *analyzer, t *tool.Tool, d embed.Document, loan *knowledge.Loan) (out [index.NumFields][]index.Term) {
	out[index.Name] = an.count(d.Name)
	out[index.Text] = an.count(d.Description)
	out[index.Params] = an.count(d.Parameters)
	labels := append([]string{t.Category}, t.Keywords...)
	out[index.Labels] = an.count(strings.Join(append(labels, t.Synonyms...), "\n"))
	said := make([]string, 0, len(t.Utterances)+len(t.Examples))
	for _, u := range t.Utterances {
		said = append(said, u.Text)
	}
	for _, e := range t.Examples {
		said = append(said, e.Description)
	}
	out[index.Said] = an.count(strings.Join(said, "\n"))
	out[index.Lent] = make([]index.Term, len(loan.Terms))
	for i, term := range loan.Terms {
		out[index.Lent][i] = index.Term(term)
	}
	return out
}

// analyzer counts terms. It must not be used by two goroutines at once.
type analyzer struct {
	knowledge.Analyzer
	terms []string
	seen  map[string]int
}

func (a *analyzer) count(text string) []index.Term {
	a.terms = a.Terms(a.terms[:0], text)
	if len(a.terms) == 0 {
		return nil
	}
	if a.seen == nil {
		a.seen = map[string]int{}
	}
	clear(a.seen)
	out := make([]index.Term, 0, len(a.terms))
	for _, t := range a.terms {
		i, ok := a.seen[t]
		if !ok {
			i = len(out)
			a.seen[t] = i
			out = append(out, index.Term{Text: t})
		}
		out[i].Weight++
	}
	return out
}

// lentShare is how much of a tool's vector is the mean of the requests that its archetypes answer.
const lentShare = .4

// mix adds what was lent to a tool's own vector. The result has unit length.
func mix(own, lent []float32) []float32 {
	if len(own) != len(lent) {
		return own
	}
	var sum float64
	for i := range own {
		own[i] = float32((1-lentShare)*own[i]) + float32(lentShare*lent[i])
		sum += float64(own[i]) * float64(own[i])
	}
	return toUnit(own, sum)
}

func toUnit(v []float32, sum float64) []float32 {
	if sum == 0 {
		return v
	}
	by := 1 / math.Sqrt(sum)
	for i := range v {
		v[i] = float32(float64(v[i]) * by)
	}
	return v
}
