package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tooldex/tools/internal/provenance"
)

// report is the part of "tooldex eval -o json" that the page shows.
type report struct {
	Set   string    `json:"set"`
	Tools int       `json:"tools"`
	All   summary   `json:"all"`
	Kinds []summary `json:"kinds"`
	None  *struct {
		All *struct {
			Queries   int      `json:"queries"`
			Confident *float64 `json:"confident"`
			AUROC     *float64 `json:"auroc"`
		} `json:"all"`
		Confident *float64 `json:"confident"`
	} `json:"noMatch"`
	Tokens *struct {
		Median float64 `json:"median"`
	} `json:"tokensPerAnswer"`
}

type summary struct {
	Kind    string             `json:"kind"`
	Queries int                `json:"queries"`
	Scores  map[string]float64 `json:"scores"`
}

// evaluation is one set in all modes. Split and sample say which of its requests were put.
type evaluation struct {
	name, split string
	reports     map[string]*report
}

func modes() []string { return []string{"keyword", "semantic", "hybrid"} }

// section is a part of the page.
type section struct {
	name string
	text func(context.Context) (string, error)
}

// qualityPage runs all sections, or those that are named, and says how long each took.
func qualityPage(ctx context.Context, c config, wanted []string) (string, error) {
	l, err := newLab(c)
	if err != nil {
		return "", err
	}
	sections := []section{
		{"bars", l.barsText},
		{"sets", func(ctx context.Context) (string, error) { return setsText(ctx, c) }},
		{"branches", l.branchesText},
		{"refusal", l.refusalText},
		{"learning", l.learningText},
		{"selection", l.selectionText},
		{"attacks", l.attacksText},
		{variantsSection, l.variantsText},
	}
	if len(wanted) == 0 { // it takes long, and is for deciding, not for the page
		sections = sections[:len(sections)-1]
	}
	if err := choose(&sections, wanted); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range sections {
		start := time.Now()
		text, err := s.text(ctx)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s took %.0f s\n", s.name, time.Since(start).Seconds())
		b.WriteString(text)
	}
	return l.header(ctx) + strings.TrimRight(b.String(), "\n") + "\n", nil
}

// choose leaves the sections that are wanted; none named means all.
func choose(sections *[]section, wanted []string) error {
	for _, w := range wanted {
		if !slices.ContainsFunc(*sections, func(s section) bool { return s.name == w }) {
			return fmt.Errorf("the page has no section %q", w)
		}
	}
	if len(wanted) > 0 {
		*sections = slices.DeleteFunc(*sections, func(s section) bool { return !slices.Contains(wanted, s.name) })
	}
	return nil
}

func (l *lab) header(ctx context.Context) string {
	out := fmt.Sprintf("# Quality\n\n%s\n\nWith %d archetypes and the table of fingerprint %s, knowledge %s.\n\n",
		provenance.Line(ctx, "make quality"), l.base.Len(), l.encoder.Fingerprint, l.base.Version())
	if !l.shipped {
		out += "**The command carries other knowledge than knowledge/data holds now: run `make knowledge` and measure again.**\n\n"
	}
	return out
}

// setsText runs the built command's evaluation of every labelled set in every mode.
func setsText(ctx context.Context, c config) (string, error) {
	sets, err := labelledSets(c.data)
	if err != nil {
		return "", err
	}
	var all []evaluation
	for _, dir := range sets {
		e := evaluation{name: filepath.Base(dir), reports: map[string]*report{}}
		if e.name == "metatool_single" { // 20,542 requests, most of them for training
			e.split = "test"
		}
		for _, mode := range modes() {
			fmt.Fprintln(os.Stderr, "eval", e.name, mode)
			if e.reports[mode], err = evaluate(ctx, c, dir, mode, e.split); err != nil {
				return "", err
			}
		}
		all = append(all, e)
	}
	var b strings.Builder
	b.WriteString("## Every set\n\n" +
		"Each set is run with `tooldex eval DIR --mode MODE`. Figures are means over the requests that some tool serves; `go\n" +
		"doc ./eval` defines them. The modes differ in how a request is matched; lending applies in all of them. The embedding\n" +
		"table was trained on seal_tools, azure_mcp and the training split of metatool_single, so their figures say little\n" +
		"about new tools. The other sets were only measured. demo is the built-in catalogue with our own requests.\n\n")
	writeOverview(&b, all)
	for _, e := range all {
		writeKinds(&b, e)
	}
	return b.String(), nil
}

// demoSet stands for the set that is compiled into the command.
const demoSet = "demo"

// labelledSets lists the folders that hold requests, the hand-labelled ones first.
func labelledSets(data string) ([]string, error) {
	sets, err := filepath.Glob(filepath.Join(data, "sets", "*", "queries.jsonl"))
	if err != nil {
		return nil, err
	}
	out := []string{demoSet, filepath.Join(data, "intents"), filepath.Join(data, "little_known"), filepath.Join(data, "unprepared")}
	for _, s := range sets {
		out = append(out, filepath.Dir(s))
	}
	return out, nil
}

func evaluate(ctx context.Context, c config, dir, mode, split string) (*report, error) {
	args := []string{"eval", "--mode", mode, "-o", "json"}
	if dir != demoSet {
		args = append(args, dir)
	}
	if split != "" {
		args = append(args, "--split", split)
	}
	_, out, err := command(ctx, c, args...)
	if err != nil {
		return nil, err
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, fmt.Errorf("read the report of %s: %w", dir, err)
	}
	return &r, nil
}

func writeOverview(b *strings.Builder, all []evaluation) {
	b.WriteString("| set | tools | requests | mode | hit@1 | recall@5 | hit@5 | recall@10 | MRR | nDCG@10 | complete@10 | tokens an answer |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, e := range all {
		name := e.name
		if e.split != "" {
			name += " (" + e.split + ")"
		}
		for _, mode := range modes() {
			r := e.reports[mode]
			s := r.All.Scores
			tokens := "-"
			if r.Tokens != nil {
				tokens = fmt.Sprintf("%.0f", r.Tokens.Median)
			}
			fmt.Fprintf(b, "| %s | %d | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, r.Tools,
				r.All.Queries, mode,
				figure(s["hit@1"]), figure(s["recall@5"]), figure(s["hit@5"]), figure(s["recall@10"]), figure(s["mrr"]),
				figure(s["ndcg@10"]), figure(s["complete@10"]), tokens)
		}
	}
	b.WriteString("\n")
}

// writeKinds breaks a set down by kind of request, where it has kinds.
func writeKinds(b *strings.Builder, e evaluation) {
	hybrid := e.reports["hybrid"]
	if len(hybrid.Kinds) == 0 {
		return
	}
	fmt.Fprintf(b, "### %s, by kind of request\n\n| kind | requests |", e.name)
	for _, mode := range modes() {
		fmt.Fprintf(b, " %s hit@1 | hit@5 | complete@10 |", mode)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", 3*len(modes())) + "\n")
	for i, k := range hybrid.Kinds {
		fmt.Fprintf(b, "| %s | %d |", k.Kind, k.Queries)
		for _, mode := range modes() {
			s := e.reports[mode].Kinds[i].Scores
			fmt.Fprintf(b, " %s | %s | %s |", figure(s["hit@1"]), figure(s["hit@5"]), figure(s["complete@10"]))
		}
		b.WriteString("\n")
	}
	if n := hybrid.None; n != nil && n.All != nil && n.All.Confident != nil && n.Confident != nil && n.All.AUROC != nil {
		fmt.Fprintf(b, "\nOf %d requests that no tool serves, hybrid search was confident about %s; of the others, about %s. The first score separates the two with AUROC %s.\n",
			n.All.Queries, figure(*n.All.Confident), figure(*n.Confident), figure(*n.All.AUROC))
	}
	b.WriteString("\n")
}

func figure(v float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0") }
