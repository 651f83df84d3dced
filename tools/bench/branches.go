package main

import (
	"context"
	"fmt"
	"strings"

	"tooldex/eval"
	"tooldex/tool"
)

const (
	mostBelow   = .01 // of hybrid search under its better branch, on any set
	leastAbove  = .05 // of hybrid search over plain BM25F in recall@5, on the mean of the sets
	branchCases = 900 // at most, of each set
)

// everySet lists all that have requests.
func everySet() []string {
	return []string{
		demoSet, "intents", "little_known", "unprepared", "mcpproxy_golden", "azure_mcp", "metatool_single", "seal_tools",
		"bfcl_python", "toolbench_stable", "toolalpaca",
	}
}

// branch is what a set gave to plain BM25F and to each mode of the whole search.
type branch struct {
	name                          string
	requests                      int
	plain, words, cosines, hybrid eval.Scores
}

// under is by how much hybrid search lies below its better branch; negative if above.
func (b branch) under(m eval.Metric) float64 { return max(b.words[m], b.cosines[m]) - b.hybrid[m] }

func (l *lab) branchesText(ctx context.Context) (string, error) {
	var rows []branch
	for _, name := range everySet() {
		set, err := l.set(ctx, name)
		if err != nil {
			return "", err
		}
		short := *set.Dataset
		short.Cases = few(set.Cases, branchCases)
		some := &labelled{&short, set.catalogue}
		row := branch{name: name}
		keyword, semantic := l.whole(), l.whole()
		keyword.mode, semantic.mode = tool.Keyword, tool.Semantic
		for _, x := range []struct {
			setup
			into *eval.Scores
		}{{l.plain(), &row.plain}, {keyword, &row.words}, {semantic, &row.cosines}, {l.whole(), &row.hybrid}} {
			r, err := l.run(ctx, x.setup, some)
			if err != nil {
				return "", err
			}
			*x.into, row.requests = scoresOf(r, "")
		}
		rows = append(rows, row)
	}
	return branchesPage(rows), nil
}

func branchesPage(rows []branch) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Branches\n\n"+
		"Hybrid search compared with its two branches alone and with plain BM25F, with at most %d requests of a set. Cells are\n"+
		"recall@5 / nDCG@10. Targets: at most %s below the better branch on every set, and %s above plain BM25F in recall@5 on\n"+
		"average.\n\n"+
		"| set | requests | plain BM25F | words | cosines | hybrid | below the better branch |\n|---|---|---|---|---|---|---|\n",
		branchCases, figure(mostBelow), figure(leastAbove))
	const recall, gain = eval.Metric("recall@5"), eval.Metric("ndcg@10")
	cell := func(s eval.Scores) string { return figure(s[recall]) + " / " + figure(s[gain]) }
	var plain, hybrid float64
	missed := 0
	for _, r := range rows {
		verdict := "no"
		if r.under(recall) > mostBelow || r.under(gain) > mostBelow {
			verdict = fmt.Sprintf("**by %s / %s**", figure(max(0, r.under(recall))), figure(max(0, r.under(gain))))
			missed++
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s |\n", r.name, r.requests, cell(r.plain), cell(r.words),
			cell(r.cosines), cell(r.hybrid), verdict)
		plain += r.plain[recall] / float64(len(rows))
		hybrid += r.hybrid[recall] / float64(len(rows))
	}
	fmt.Fprintf(&b, "\n%d of %d sets meet the first target. Mean recall@5: plain BM25F %s, hybrid %s.\n\n", len(rows)-missed, len(rows), figure(plain), figure(hybrid))
	return b.String()
}
