package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"tooldex/search"
	"tooldex/tool"
)

// foundBy is what finds a tool beside its name, description and parameters.
type foundBy struct {
	Borrows bool     `json:"borrows"` // false: borrowing is switched off for this tool, or at all
	Sayings []saying `json:"sayings"` // the tool's own first
	Lenders []lender `json:"lenders,omitempty"`
	told    map[string]bool
}

// saying is a request or a synonym that finds a tool.
type saying struct {
	Kind   string          `json:"kind"` // utterance or synonym
	From   tool.Provenance `json:"from"`
	Text   string          `json:"text"`
	Lender string          `json:"lender,omitempty"` // the archetype that it is borrowed from
}

// lender is an archetype that a tool borrows from.
type lender struct {
	Archetype string  `json:"archetype"`
	Title     string  `json:"title"`
	Like      float64 `json:"like"`   // how like the tool it is, 0 to 1
	Weight    float64 `json:"weight"` // of what it lends, 1 for the likest
}

// The kinds of sayings.
const (
	anUtterance = "utterance"
	aSynonym    = "synonym"
)

// whatFinds puts what a tool's author said of it beside what it borrows. What two archetypes lend is told once.
func whatFinds(t *tool.Tool, borrows bool, lenders []search.Lender) *foundBy {
	f := &foundBy{Borrows: borrows && !t.NoBorrow, Sayings: []saying{}, told: map[string]bool{}}
	for _, u := range t.Utterances {
		f.add(saying{Kind: anUtterance, From: cmp.Or(u.From, tool.Declared), Text: u.Text})
	}
	for _, s := range t.Synonyms {
		f.add(saying{Kind: aSynonym, From: tool.Declared, Text: s})
	}
	for _, l := range lenders {
		f.Lenders = append(f.Lenders, lender{l.Archetype, l.Title, hundredths(l.Like), hundredths(l.Weight)})
		for _, u := range l.Utterances {
			f.add(saying{anUtterance, tool.Borrowed, u, l.Archetype})
		}
		for _, s := range l.Synonyms {
			f.add(saying{aSynonym, tool.Borrowed, s, l.Archetype})
		}
	}
	return f
}

func (f *foundBy) add(s saying) {
	if !f.told[s.Text] {
		f.told[s.Text] = true
		f.Sayings = append(f.Sayings, s)
	}
}

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }

// quoted is how many lenders people are shown the sayings of: sixteen make three hundred lines.
const quoted = 3

// text writes f for people.
func (f *foundBy) text(w io.Writer) error {
	var rows [][]string
	for _, s := range f.Sayings {
		if s.Lender == "" || slices.ContainsFunc(f.Lenders[:min(quoted, len(f.Lenders))],
			func(l lender) bool { return l.Archetype == s.Lender }) {
			rows = append(rows, []string{"  " + string(s.From), s.Kind, s.Lender, s.Text})
		}
	}
	if len(rows) > 0 {
		fmt.Fprintln(w, "\n  found by:")
		if err := columns(w, nil, rows); err != nil {
			return err
		}
	}
	if n := len(f.Sayings) - len(rows); n > 0 {
		fmt.Fprintf(w, "  and %d more that are borrowed; -o json shows all\n", n)
	}
	switch {
	case !f.Borrows:
		fmt.Fprintln(w, "\n  borrows nothing: it is switched off")
		return nil
	case len(f.Lenders) == 0:
		fmt.Fprintln(w, "\n  borrows nothing: no known kind of tool is like it")
		return nil
	}
	fmt.Fprintln(w, "\n  borrows from:")
	rows = nil
	for _, l := range f.Lenders {
		rows = append(rows, []string{
			"  " + l.Archetype, l.Title, fmt.Sprintf("like it by %.2f", l.Like),
			fmt.Sprintf("weight %.2f", l.Weight),
		})
	}
	return columns(w, nil, rows)
}
