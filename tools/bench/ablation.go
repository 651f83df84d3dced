package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/eval"
	"tooldex/knowledge"
	"tooldex/search"
	"tooldex/tool"
)

// ablated lists the sets on which the parts of the search are told apart.
func ablated() []string {
	return []string{"intents", "little_known", demoSet, "mcpproxy_golden", "bfcl_python", "toolalpaca"}
}

// stages builds the search up from words, one part at a time; the last is the whole.
func (l *lab) stages() ([]setup, error) {
	lent := catalog.Model{Embedder: l.static, Base: l.base, Encoder: l.encoder}
	wordsLent := lent
	wordsLent.Embedder = stranger{l.static}
	var bases [3]*knowledge.Base
	for i, keep := range []struct{ thesaurus, lexicon bool }{{false, false}, {true, false}, {true, true}} {
		var err error
		if bases[i], err = l.compile(without(l.source, keep.thesaurus, keep.lexicon)); err != nil {
			return nil, err
		}
	}
	embedder := search.Options{Embedder: l.static}
	whole := l.whole()
	part := func(name string, base *knowledge.Base) setup {
		return setup{name: name, indexed: whole.indexed, tools: lent, engine: search.Options{
			Embedder: l.static,
			Base:     base,
		}, mode: tool.Hybrid}
	}
	return []setup{
		l.plain(),
		{
			name: "+ static table", indexed: "table", tools: catalog.Model{Embedder: l.static}, engine: embedder,
			mode: tool.Hybrid,
		},
		{
			name: "+ words lent by archetypes", indexed: "words lent", tools: wordsLent, engine: embedder,
			mode: tool.Hybrid,
		},
		{name: "+ their vectors", indexed: whole.indexed, tools: lent, engine: embedder, mode: tool.Hybrid},
		part("+ clauses and sentences", bases[0]),
		part("+ thesaurus", bases[1]),
		part("+ lexicon", bases[2]),
		{
			name: "+ parts of a request (all)", indexed: whole.indexed, tools: lent, engine: whole.engine,
			mode: tool.Hybrid,
		},
	}, nil
}

// stranger is an embedder that does not own up to its model, so that a catalogue does not mix in the vectors that
// archetypes lend: those of another model could not be added.
type stranger struct{ embed.Embedder }

// Model gives the model another fingerprint.
func (s stranger) Model() embed.Model {
	m := s.Embedder.Model()
	m.Fingerprint = "not " + m.Fingerprint
	return m
}

// without copies knowledge so that no word counts as a verb, and with that no request has parts; and without the
// thesaurus and the lexicon, unless they are to be kept. Archetypes keep their words, by which English is told from
// other languages, but in their titles.
func without(src *knowledge.Source, thesaurus, lexicon bool) *knowledge.Source {
	out := *src
	out.Archetypes = slices.Clone(src.Archetypes)
	for i := range out.Archetypes {
		a := &out.Archetypes[i]
		a.Title, a.Name = a.Name+" "+a.Title, ""
	}
	out.Thesaurus = nil
	if thesaurus {
		out.Thesaurus = slices.Clone(src.Thesaurus)
	}
	for i := range out.Thesaurus {
		if out.Thesaurus[i].Kind == "verb" {
			out.Thesaurus[i].Kind = "noun"
		}
	}
	if !lexicon {
		out.Lexicon = nil
	}
	return &out
}

func (l *lab) ablationText(ctx context.Context) (string, error) {
	stages, err := l.stages()
	if err != nil {
		return "", err
	}
	reports := make([][]*eval.Report, len(stages)) // by stage, then set
	for i, s := range stages {
		for _, name := range ablated() {
			r, err := l.runNamed(ctx, s, name)
			if err != nil {
				return "", err
			}
			reports[i] = append(reports[i], r)
		}
	}
	names := make([]string, len(stages))
	for i, s := range stages {
		names[i] = s.name
	}
	return ablationPage(names, reports), nil
}

func ablationPage(stages []string, reports [][]*eval.Report) string {
	var b strings.Builder
	b.WriteString("## What each part brings\n\nEach row has what is above it and one part more; cells are hit@1 / hit@5, and in the column of several needs complete@10 follows. What\n" +
		"cannot be switched off alone: the table was trained on the archetypes (a table without them would have to be trained), and web addresses, paths and\n" +
		"names that a request spells are recognised in all rows. In answers of more than seven tools the best tool of each clause gets a place\n" +
		"among the last of ten. The calibrated score and `confident` change no ranking and have their own section.\n\n")
	b.WriteString("| " + strings.Join(append([]string{"all requests"}, ablated()...), " | ") + " |\n|---|" +
		strings.Repeat("---|", len(ablated())) + "\n")
	for i, s := range stages {
		fmt.Fprintf(&b, "| %s |", s)
		for _, r := range reports[i] {
			fmt.Fprintf(&b, " %s |", hits(r.All.Scores, false))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for k := range reports[0] {
		kindsTable(&b, stages, reports, k)
	}
	return b.String()
}

// kindsTable breaks one set down by kind of request, where it has kinds.
func kindsTable(b *strings.Builder, stages []string, reports [][]*eval.Report, set int) {
	kinds := reports[0][set].Kinds
	if len(kinds) == 0 {
		return
	}
	fmt.Fprintf(b, "| %s |", reports[0][set].Set)
	for _, k := range kinds {
		fmt.Fprintf(b, " %s (%d) |", k.Kind, k.Queries)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(kinds)) + "\n")
	for i, s := range stages {
		fmt.Fprintf(b, "| %s |", s)
		for _, k := range reports[i][set].Kinds {
			fmt.Fprintf(b, " %s |", hits(k.Scores, severalNeeds(k.Kind)))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// severalNeeds reports whether requests of a kind ask for several things; the sets call it by two names.
func severalNeeds(kind string) bool { return kind == "multi" || kind == "several" }

func hits(s eval.Scores, complete bool) string {
	out := figure(s["hit@1"]) + " / " + figure(s["hit@5"])
	if complete {
		out += " / " + figure(s["complete@10"])
	}
	return out
}
