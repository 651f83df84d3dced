package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/catalog"
	"tooldex/enrich"
	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/search"
	"tooldex/service"
	"tooldex/tool"
)

// measure tells what what was written for tools brings, and what it costs others.
type measure struct {
	Own    tally  `json:"own"`    // requests that were written and held out
	Others tally  `json:"others"` // requests of known kinds of tools, held out of what is lent
	Fell   []fell `json:"fell,omitempty"`
}

// tally counts requests and how many of them find their tool first, and among the first five.
type tally struct {
	Requests int  `json:"requests"`
	Before   hits `json:"before"`
	After    hits `json:"after"`
}

type hits struct {
	First int `json:"first"`
	Five  int `json:"five"`
}

// fell is a request that finds its tool among the first five no more.
type fell struct {
	Query string  `json:"query"`
	Tool  tool.ID `json:"tool"`
}

// amongFirst is how far down an answer is looked at.
const amongFirst = 5

// measureProposals tries proposals in memory. It returns nil where none of them passes.
func measureProposals(ctx context.Context, s *service.Service, proposals []tool.Proposal) (*measure, []sanitize.Finding, error) {
	trial, findings, err := enrich.New(s.Catalog).Try(ctx, proposals)
	if trial == nil || err != nil {
		return nil, findings, err
	}
	out := &measure{}
	var have, get index.Index
	have.Swap(trial.Before)
	get.Swap(trial.After)
	before, after := engineOver(s, &have), engineOver(s, &get)
	for _, part := range []struct {
		asked []catalog.Question
		into  *tally
	}{{trial.Own, &out.Own}, {trial.Others, &out.Others}} {
		for _, q := range part.asked {
			was, err := placeOf(ctx, before, trial.Before.Set(), q)
			if err != nil {
				return nil, nil, err
			}
			now, err := placeOf(ctx, after, trial.After.Set(), q)
			if err != nil {
				return nil, nil, err
			}
			part.into.Requests++
			part.into.Before.add(was)
			part.into.After.add(now)
			if was > 0 && now == 0 {
				out.Fell = append(out.Fell, fell{q.Text, q.Tool})
			}
		}
	}
	return out, findings, nil
}

// engineOver returns an engine like that of a service over another index, without what was learned from use.
func engineOver(s *service.Service, x *index.Index) *search.Engine {
	o := s.Ranking
	o.Lookup, o.Servers, o.Usage, o.Learned = x, nil, nil, nil
	return search.New(o)
}

// placeOf returns the place, from 1, at which a question finds its tool or another server's copy of it; 0 means not
// among the first five.
func placeOf(ctx context.Context, by *search.Engine, set *tool.Set, q catalog.Question) (int, error) {
	res, err := by.Search(ctx, tool.Query{Text: q.Text, Limit: amongFirst})
	if err != nil {
		return 0, err
	}
	want, ok := set.Get(q.Tool)
	for i, h := range res.Tools {
		if h.ID == q.Tool || ok && strings.EqualFold(h.Name, want.Name) {
			return i + 1, nil
		}
	}
	return 0, nil
}

func (h *hits) add(place int) {
	if place == 1 {
		h.First++
	}
	if place > 0 {
		h.Five++
	}
}

// text writes a measure as people read it.
func (m *measure) text(w io.Writer) error {
	row := func(what string, t tally) []string {
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
	err := columns(w, []string{"HELD OUT", "REQUESTS", "FIRST", "AMONG FIVE"}, [][]string{
		row("of what was written", m.Own), row("of other tools", m.Others),
	})
	for _, f := range m.Fell[:min(len(m.Fell), shownExamples)] {
		fmt.Fprintf(w, "no more among five: %s, for %s\n", printable(string(f.Tool)),
			printable(fmt.Sprintf("%q", f.Query)))
	}
	if more := len(m.Fell) - shownExamples; more > 0 {
		fmt.Fprintf(w, "and %d more; -o json has them all\n", more)
	}
	return err
}

// pendingProposals returns the proposals that wait for approval, of the tools named or of all.
func pendingProposals(s *service.Service, ids []tool.ID) []tool.Proposal {
	var out []tool.Proposal
	for _, e := range enrich.New(s.Catalog).List() {
		if e.Pending && (len(ids) == 0 || slices.Contains(ids, e.Tool)) {
			out = append(out, e.Proposal)
		}
	}
	return out
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
		Long: "Measure what a filled form, or without one what waits for approval, would bring. Some of the requests that were written are held out\n" +
			"and asked, before and after the others are in force. So are requests of the kinds that other tools are of, which those tools have not\n" +
			"been lent: they tell whether what was written takes the places of others. Nothing is changed.",
		Args: wants(cobra.MaximumNArgs(1)),
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
				if proposals = pendingProposals(s, nil); len(proposals) == 0 {
					fmt.Fprintln(a.stderr, "nothing waits")
					return silent(exitNone)
				}
			}
			m, findings, err := measureProposals(cmd.Context(), s, proposals)
			if err != nil {
				return err
			}
			for _, f := range findings {
				fmt.Fprintln(a.stderr, printable(f.String()))
			}
			if m == nil {
				return silent(exitNone)
			}
			return a.print(m, m.text)
		},
	}
}
