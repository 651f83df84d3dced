package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tooldex/enrich"
	"tooldex/service"
	"tooldex/tool"
)

// effectText prints which share of the requests finds its tool before and after the proposals.
func effectText(w io.Writer, m *service.EnrichmentEffect) error {
	row := func(what string, t service.Recall) []string {
		share := func(before, after int) string {
			return fmt.Sprintf("%.3f -> %.3f", float64(before)/float64(t.Requests), float64(after)/float64(t.Requests))
		}
		if t.Requests == 0 {
			return []string{what, "0", "-", "-"}
		}
		return []string{
			what, fmt.Sprint(t.Requests), share(t.Before.First, t.After.First),
			share(t.Before.Five, t.After.Five),
		}
	}
	err := writeColumns(w, []string{"HELD OUT", "REQUESTS", "FIRST", "AMONG FIVE"}, [][]string{
		row("of what was written", m.Own), row("of other tools", m.Others),
	})
	for _, f := range m.Lost[:min(len(m.Lost), shownExamples)] {
		fmt.Fprintf(w, "no more among five: %s, for %s\n", makePrintable(string(f.Tool)),
			makePrintable(fmt.Sprintf("%q", f.Query)))
	}
	if more := len(m.Lost) - shownExamples; more > 0 {
		fmt.Fprintf(w, "and %d more; -o json has them all\n", more)
	}
	return err
}

func readProposals(path string) ([]tool.Proposal, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fileError("read proposals", path, err)
	}
	return enrich.ParseProposals(b)
}

func newEnrichMeasure(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "measure [FILE]",
		Short: "Measure what a filled form, or what waits, would bring, and change nothing",
		Long: "Measure what a filled form, or without one what waits for approval, would bring. Some of the written requests are\n" +
			"held out and searched for, before and after the others take effect. So are requests for other tools, which show\n" +
			"whether those lose their places. Nothing is changed.",
		Args: checkArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var proposals []tool.Proposal
			var err error
			if len(args) > 0 {
				if proposals, err = readProposals(args[0]); err != nil {
					return err
				}
			}
			s, err := a.open(cmd.Context(), service.ToSearch)
			if err != nil {
				return err
			}
			defer a.close(s)
			if len(args) == 0 {
				if proposals = enrich.New(s.Catalog).Pending(); len(proposals) == 0 {
					fmt.Fprintln(a.stderr, "nothing waits")
					return silent(exitNone)
				}
			}
			m, findings, err := s.MeasureProposals(cmd.Context(), proposals)
			if err != nil {
				return err
			}
			for _, f := range findings {
				fmt.Fprintln(a.stderr, makePrintable(f.String()))
			}
			if m == nil {
				return silent(exitNone)
			}
			return a.print(m, func(w io.Writer) error { return effectText(w, m) })
		},
	}
}
