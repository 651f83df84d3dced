package main

import (
	"fmt"
	"io"
	"slices"

	"tooldex/service"
)

// shownLenders bounds the lenders whose phrases are printed: sixteen lenders have about three hundred phrases.
const shownLenders = 3

// phrasesText prints the phrases that find a tool, and the archetypes that lend them.
func phrasesText(w io.Writer, f *service.SearchPhrases) error {
	var rows [][]string
	for _, s := range f.Phrases {
		if s.Lender == "" || slices.ContainsFunc(f.Lenders[:min(shownLenders, len(f.Lenders))],
			func(l service.Lender) bool { return l.Archetype == s.Lender }) {
			rows = append(rows, []string{"  " + string(s.From), s.Kind, s.Lender, s.Text})
		}
	}
	if len(rows) > 0 {
		fmt.Fprintln(w, "\n  found by:")
		if err := writeColumns(w, nil, rows); err != nil {
			return err
		}
	}
	if n := len(f.Phrases) - len(rows); n > 0 {
		fmt.Fprintf(w, "  and %d more from similar tools; -o json shows all\n", n)
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
		rows = append(rows, []string{"  " +
			l.Archetype, l.Title, fmt.Sprintf("like it by %.2f", l.Like), fmt.Sprintf("weight %.2f", l.Weight)})
	}
	return writeColumns(w, nil, rows)
}
