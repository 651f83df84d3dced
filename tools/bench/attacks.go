package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"tooldex/eval"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// attacked lists the sets in whose catalogues tools are planted. The first is what the bar is for.
func attacked() []string { return []string{"intents", "little_known", demoSet} }

// mostLost is by how much recall@5 may fall when all twenty are planted.
const mostLost = .01

// attack is what one planting did to a set.
type attack struct {
	set, name       string
	requests        int
	recall, hit     float64 // recall@5, hit@1
	fewer           float64 // recall@5 that was lost
	first, firstTen int     // requests that have a planted tool first, and among the first ten
}

// attacksText plants tools in catalogues that are written to win requests they do not serve: all at once, and each
// alone.
func (l *lab) attacksText(ctx context.Context) (string, error) {
	var all, alone []attack
	for n, name := range attacked() {
		before, err := l.pooled(ctx, []string{name})
		if err != nil {
			return "", err
		}
		hostile := planted(l.source, before.catalogue.All())
		clear, err := l.plantIn(ctx, before, "nothing", nil)
		if err != nil {
			return "", err
		}
		both, err := l.plantIn(ctx, before, "all twenty", hostile)
		if err != nil {
			return "", err
		}
		both.fewer = clear.recall - both.recall
		all = append(all, clear, both)
		if n > 0 {
			continue
		}
		for _, t := range hostile {
			a, err := l.plantIn(ctx, before, sanitize.Cut(string(t.ID()), 40), []*tool.Tool{t})
			if err != nil {
				return "", err
			}
			a.fewer = clear.recall - a.recall
			alone = append(alone, a)
		}
	}
	return attacksPage(all, alone), nil
}

// plantIn puts the requests of a set to its catalogue with more tools in it.
func (l *lab) plantIn(ctx context.Context, set *labelled, name string, hostile []*tool.Tool) (attack, error) {
	fmt.Fprintf(os.Stderr, "%s with %s planted\n", set.Name, name)
	for _, t := range hostile {
		if _, err := sanitize.Tool(t); err != nil {
			return attack{}, err
		}
	}
	catalogue := tool.NewSet(append(slices.Clone(set.catalogue.All()), hostile...), "")
	d := eval.NewDataset(set.Name+" with "+name, catalogue)
	d.Cases = set.Cases
	r, err := l.run(ctx, l.whole(), &labelled{d, catalogue})
	if err != nil {
		return attack{}, err
	}
	out := attack{
		set: set.Name, name: name, requests: r.All.Queries, recall: r.All.Scores["recall@5"],
		hit: r.All.Scores["hit@1"],
	}
	bad := map[string]bool{}
	for _, t := range hostile {
		bad[string(t.ID())] = true
	}
	for _, c := range r.Cases {
		place := slices.IndexFunc(c.Ranked, func(r eval.Ranked) bool { return bad[r.Name] })
		if place == 0 {
			out.first++
		}
		if place >= 0 && place < 10 {
			out.firstTen++
		}
	}
	return out, nil
}

func attacksPage(all, alone []attack) string {
	var b strings.Builder
	b.WriteString("## Attacks on the ranking\n\n" +
		"Twenty tools are added to a catalogue that are written to be found for requests they do not serve: repeated words and\n" +
		"sentences, every verb, descriptions of 13,000 characters made of requests or of other tools' descriptions, hundreds of\n" +
		"parameters, product names, other languages, orders to the model, a copy of a real tool with more words.\n\n" +
		"| set | planted | requests | recall@5 | lost | hit@1 | planted tool first | among ten |\n|---|---|---|---|---|---|---|---|\n")
	row := func(a attack) {
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %.3f | %s | %d | %d |\n", a.set, a.name, a.requests, figure(a.recall),
			a.fewer, figure(a.hit), a.first, a.firstTen)
	}
	for _, a := range all {
		row(a)
	}
	verdict := "met"
	if all[1].fewer > mostLost {
		verdict = "**missed**"
	}
	fmt.Fprintf(&b, "\nThe bar: recall@5 of %s falls by at most %.2f. It is %s.\n\nEach alone:\n\n"+
		"| set | planted | requests | recall@5 | lost | hit@1 | planted tool first | among ten |\n|---|---|---|---|---|---|---|---|\n", all[0].set, mostLost, verdict)
	for _, a := range alone {
		row(a)
	}
	b.WriteString("\n")
	return b.String()
}
