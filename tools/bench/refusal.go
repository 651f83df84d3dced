package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tooldex/eval"
	"tooldex/tool"
)

// put says whose requests are put to a catalogue that was not made for them.
type put struct{ catalogue, requests string }

// foreign lists pairs of sets that have little in common. Where a request happens to be served all the same, it counts
// against the search.
func foreign() []put {
	return []put{
		{"intents", "bfcl_python"},
		{"intents", "toolalpaca"},
		{demoSet, "azure_mcp"},
		{demoSet, "bfcl_python"},
		{"little_known", "bfcl_python"},
		{"mcpproxy_golden", "azure_mcp"},
		{"mcpproxy_golden", "toolalpaca"},
		{"azure_mcp", "bfcl_python"},
		{"azure_mcp", "toolalpaca"},
		{"bfcl_python", "azure_mcp"},
		{"bfcl_python", "intents"},
		{"toolalpaca", "intents"},
		{"unprepared", "toolalpaca"},
		{"toolbench_stable", "azure_mcp"},
		{"seal_tools", "azure_mcp"},
	}
}

// mostRequests bounds the requests of one set, so that the largest do not decide alone.
const mostRequests = 300

// refused reports how well a catalogue distinguishes its own requests from those of other sets.
type refused struct {
	put
	served    int
	confident float64 // share of the served that it was confident about
	foreign   *eval.Refusal
	near      *eval.Refusal // labelled as near misses in the catalogue's own set; nil if there are none
	taken     *eval.Refusal // its own requests with the tools that serve them taken away
	all       *eval.Refusal // foreign ones and all that are labelled as served by no tool
	error     float64       // expected calibration error of the first score
	talk      []float64     // shares of talk answered with confidence, by talkKinds
}

// talkKinds are the kinds of texts in nonsense.jsonl, none of which asks for a tool.
func talkKinds() []string { return []string{"noise", "smalltalk", "no_tool_request"} }

// talkConfidence returns the shares of talk that an engine answers with confidence, by talkKinds.
func (l *lab) talkConfidence(ctx context.Context, by tool.Searcher) ([]float64, error) {
	b, err := os.ReadFile(filepath.Join(l.data, "nonsense.jsonl"))
	if err != nil {
		return nil, err
	}
	kinds := talkKinds()
	sure, count := make([]float64, len(kinds)), make([]float64, len(kinds))
	for line := range strings.Lines(string(b)) {
		var x struct{ Query, Kind string }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			return nil, fmt.Errorf("nonsense.jsonl: %w", err)
		}
		r, err := by.Search(ctx, tool.Query{Text: x.Query})
		if err != nil {
			return nil, err
		}
		k := slices.Index(kinds, x.Kind)
		if k < 0 {
			return nil, fmt.Errorf("nonsense.jsonl: unknown kind %q", x.Kind)
		}
		count[k]++
		if r.Confident {
			sure[k]++
		}
	}
	for k := range sure {
		sure[k] /= max(1, count[k])
	}
	return sure, nil
}

// answered is one answer's first score, and what came of it.
type answered struct {
	score  float64
	served bool // some tool of the catalogue serves the request
	first  bool // the first tool does
	weight float64
}

func (l *lab) refusalText(ctx context.Context) (string, error) {
	var (
		rows   []refused
		scores []answered
	)
	for _, p := range foreign() {
		fmt.Fprintf(os.Stderr, "%s: requests of %s\n", p.catalogue, p.requests)
		row, more, err := l.refuse(ctx, p)
		if err != nil {
			return "", err
		}
		rows = append(rows, row)
		scores = append(scores, more...)
	}
	return refusalPage(rows, scores), nil
}

func (l *lab) refuse(ctx context.Context, p put) (refused, []answered, error) {
	out := refused{put: p}
	own, err := l.set(ctx, p.catalogue)
	if err != nil {
		return out, nil, err
	}
	others, err := l.set(ctx, p.requests)
	if err != nil {
		return out, nil, err
	}
	engine, _, err := l.open(ctx, l.whole(), own)
	if err != nil {
		return out, nil, err
	}
	mixed := *own.Dataset
	mixed.Cases = slices.Concat(few(own.Cases, mostRequests), unserved(few(others.Cases, mostRequests)))
	report, err := eval.Run(ctx, engine, &mixed, rankings(tool.Hybrid))
	if err != nil {
		return out, nil, err
	}
	// The near misses of the set count as such; everything else that no tool serves is foreign.
	n := report.NoMatch
	out.served, out.confident, out.all, out.near, out.foreign = n.Answerable, *n.Confident, n.All, n.NearMiss, n.Foreign
	if out.taken, err = takenAway(ctx, engine, own, report); err != nil {
		return out, nil, err
	}
	if out.talk, err = l.talkConfidence(ctx, engine); err != nil {
		return out, nil, err
	}
	scores := answersOf(report)
	out.error = calibrationError(binned(scores))
	return out, scores, nil
}

// few keeps at most n cases, spread evenly over the set.
func few(cases []eval.Case, n int) []eval.Case {
	if len(cases) <= n {
		return cases
	}
	out := make([]eval.Case, n)
	for i := range out {
		out[i] = cases[i*len(cases)/n]
	}
	return out
}

// unserved are requests of another set, as requests that no tool of this one serves.
func unserved(cases []eval.Case) []eval.Case {
	out := make([]eval.Case, 0, len(cases))
	for _, c := range cases {
		if !c.NoMatch() {
			out = append(out, eval.Case{ID: "foreign " + c.ID, Query: c.Query})
		}
	}
	return out
}

// takenAway puts the served requests again, with the tools that serve each out of sight.
func takenAway(ctx context.Context, engine tool.Searcher, own *labelled, before *eval.Report) (*eval.Refusal, error) {
	served, put := *own.Dataset, *own.Dataset
	served.Cases, put.Cases = nil, nil
	blind := blindfold{engine, map[string]map[tool.ID]bool{}}
	ids := map[string]tool.ID{}
	for _, t := range own.catalogue.All() {
		ids[own.Label(t.ID())] = t.ID()
	}
	for _, c := range few(own.Cases, mostRequests) {
		if c.NoMatch() {
			continue
		}
		served.Cases = append(served.Cases, c)
		put.Cases = append(put.Cases, eval.Case{ID: "without " + c.ID, Query: c.Query})
		hidden := map[tool.ID]bool{}
		for _, name := range c.Relevant {
			hidden[ids[name]] = true
		}
		blind.hidden[c.Query] = hidden
	}
	r, err := eval.Run(ctx, blind, &put, rankings(tool.Hybrid))
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, c := range served.Cases {
		known[c.ID] = true
	}
	answers := slices.DeleteFunc(before.Answers(), func(a eval.Answer) bool { return !known[a.ID] })
	served.Cases = append(served.Cases, put.Cases...)
	both, err := eval.Score(&served, append(answers, r.Answers()...), rankings(tool.Hybrid))
	if err != nil {
		return nil, err
	}
	return both.NoMatch.All, nil
}

// blindfold is a Searcher that does not see the tools hidden from a request.
type blindfold struct {
	tool.Searcher
	hidden map[string]map[tool.ID]bool // by the request's text
}

// Search hides what is hidden from q.Text.
func (b blindfold) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	hidden := b.hidden[q.Text]
	q.Filter.Allow = func(t *tool.Tool) bool { return !hidden[t.ID()] }
	return b.Searcher.Search(ctx, q)
}

// answersOf weighs the answers of a report so that those to requests that are served count as much as the others.
func answersOf(r *eval.Report) []answered {
	served := r.NoMatch.Answerable
	others := r.NoMatch.All.Queries
	out := make([]answered, 0, len(r.Cases))
	for i := range r.Cases {
		c := &r.Cases[i]
		a := answered{served: !c.NoMatch, first: c.Rank == 1, weight: .5 / float64(others)}
		if a.served {
			a.weight = .5 / float64(served)
		}
		if len(c.Ranked) > 0 {
			a.score = c.Ranked[0].Score
		}
		out = append(out, a)
	}
	return out
}

// bin holds the answers of one tenth of the scale. The means are by weight.
type bin struct {
	answers              int
	weight               float64
	score, served, first float64
}

// binned puts answers into ten bins by their first score.
func binned(answers []answered) [10]bin {
	var bins [10]bin
	for _, a := range answers {
		b := &bins[min(9, max(0, int(a.score*10)))]
		b.answers++
		b.weight += a.weight
		b.score += a.weight * a.score
		if a.served {
			b.served += a.weight
		}
		if a.first {
			b.first += a.weight
		}
	}
	for i := range bins {
		if b := &bins[i]; b.weight > 0 {
			b.score, b.served, b.first = b.score/b.weight, b.served/b.weight, b.first/b.weight
		}
	}
	return bins
}

// calibrationError is how far the mean score of a bin is from the share of its answers whose first tool serves, on the
// mean.
func calibrationError(bins [10]bin) float64 {
	var sum, weight float64
	for _, b := range bins {
		sum += b.weight * max(b.score-b.first, b.first-b.score)
		weight += b.weight
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

func refusalPage(rows []refused, scores []answered) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## When no tool fits\n\n"+
		"Requests of one set are searched in the catalogue of another, at most %d of each. Cells are AUROC of the first score /\n"+
		"share refused when 95 %% of the served requests are accepted / share answered with confidence. Foreign requests\n"+
		"include those labelled as foreign in the catalogue's own set; near misses are labelled there. \"Taken away\" are the\n"+
		"served requests with all of their tools hidden, although another tool often does nearly as well. The decision has few\n"+
		"parameters and was fitted to worlds made of archetypes, not to these sets. ECE is the expected calibration error in ten\n"+
		"bins of the first score as the probability that the first tool serves the request; served and unserved requests weigh\n"+
		"the same. Talk are shares of noise / small talk / questions that need no tool, answered with confidence.\n\n"+
		"| catalogue | requests of | served | confident about them | foreign | near misses | all | taken away | ECE | talk |\n|---|---|---|---|---|---|---|---|---|---|\n", mostRequests)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s |\n", r.catalogue, r.requests, r.served,
			figure(r.confident),
			refusalCell(r.foreign), refusalCell(r.near), refusalCell(r.all), refusalCell(r.taken), figure(r.error), talkCell(r.talk))
	}
	b.WriteString("| **mean** | | | " + meanCells(rows) + " |\n\n")
	bins := binned(scores)
	fmt.Fprintf(&b, "All pairs together: expected calibration error %s.\n\n| first score | answers | mean score | share served | first tool right |\n|---|---|---|---|---|\n", figure(calibrationError(bins)))
	for i, v := range bins {
		fmt.Fprintf(&b, "| %.1f to %.1f | %d | %s | %s | %s |\n", float64(i)/10, float64(i+1)/10, v.answers,
			figure(v.score), figure(v.served), figure(v.first))
	}
	b.WriteString("\n")
	return b.String()
}

func refusalCell(r *eval.Refusal) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%s / %s / %s (%d)", figure(*r.AUROC), figure(*r.Refused), figure(*r.Confident), r.Queries)
}

// meanCells are the means over pairs that have a figure, each pair counting alike.
func meanCells(rows []refused) string {
	var confident, ece float64
	for _, r := range rows {
		confident += r.confident / float64(len(rows))
		ece += r.error / float64(len(rows))
	}
	cells := []string{figure(confident)}
	for _, of := range []func(refused) *eval.Refusal{
		func(r refused) *eval.Refusal { return r.foreign }, func(r refused) *eval.Refusal { return r.near },
		func(r refused) *eval.Refusal { return r.all }, func(r refused) *eval.Refusal { return r.taken },
	} {
		var area, kept, sure, n float64
		for _, r := range rows {
			if x := of(r); x != nil {
				area, kept, sure, n = area+*x.AUROC, kept+*x.Refused, sure+*x.Confident, n+1
			}
		}
		if n == 0 {
			cells = append(cells, "-")
			continue
		}
		cells = append(cells, figure(area/n)+" / "+figure(kept/n)+" / "+figure(sure/n))
	}
	talk := make([]float64, len(talkKinds()))
	for _, r := range rows {
		for k, v := range r.talk {
			talk[k] += v / float64(len(rows))
		}
	}
	return strings.Join(append(cells, figure(ece), talkCell(talk)), " | ")
}

func talkCell(talk []float64) string {
	cells := make([]string, len(talk))
	for k, v := range talk {
		cells[k] = figure(v)
	}
	return strings.Join(cells, " / ")
}
