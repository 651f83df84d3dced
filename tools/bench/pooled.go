package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"tooldex/catalog"
	"tooldex/eval"
	"tooldex/search"
	"tooldex/tool"
)

// pool lists the sets that are put into one catalogue, the first of which is also measured alone.
func pool() []string { return []string{"intents", "little_known", "toolbench_stable"} }

// rankConstant is k of reciprocal rank fusion: Cormack, Clarke, Buettcher: Reciprocal Rank Fusion outperforms Condorcet
// and individual rank learning methods, SIGIR 2009.
const rankConstant = 60

// byRank fuses what two modes of one search find by their ranks alone.
type byRank struct {
	of   tool.Searcher
	with []tool.Mode
}

// Search sums 1/(k+rank) over the modes.
func (b byRank) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	limit := cmp.Or(q.Limit, tool.DefaultLimit)
	scores := map[tool.ID]float64{}
	hits := map[tool.ID]tool.Hit{}
	var out *tool.Result
	for _, mode := range b.with {
		q.Mode, q.Limit = mode, tool.MaxLimit
		r, err := b.of.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		for i, h := range r.Tools {
			scores[h.ID] += 1 / float64(rankConstant+i+1)
			hits[h.ID] = h
		}
		out = &tool.Result{Query: r.Query, Confident: true}
	}
	for id, h := range hits {
		h.Score = scores[id]
		out.Tools = append(out.Tools, h)
	}
	slices.SortFunc(out.Tools, func(x, y tool.Hit) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.ID, y.ID))
	})
	out.Tools = out.Tools[:min(len(out.Tools), limit)]
	return out, nil
}

// contender is a way to search that is held against plain BM25F.
type contender struct {
	setup
	ranks bool // fuse the words and the cosines by rank
}

func (l *lab) contenders() []contender {
	table := setup{
		indexed: "table", tools: catalog.Model{Embedder: l.static},
		engine: search.Options{Embedder: l.static}, mode: tool.Hybrid,
	}
	named := func(s setup, name string, mode tool.Mode) setup {
		s.name, s.mode = name, mode
		return s
	}
	whole := l.whole()
	return []contender{
		{setup: named(l.plain(), "words alone (BM25F)", tool.Keyword)},
		{setup: named(table, "table alone (cosine)", tool.Semantic)},
		{setup: named(table, "the two, by rank", ""), ranks: true},
		{setup: named(table, "the two, by score", tool.Hybrid)},
		{setup: named(whole, "with all knowledge, by rank", ""), ranks: true},
		{setup: named(whole, "with all knowledge, by score", tool.Hybrid)},
	}
}

// pooled joins sets to one, in which tools are labelled by their IDs. Of two tools of one ID the first is kept.
func (l *lab) pooled(ctx context.Context, names []string) (*labelled, error) {
	var (
		tools []*tool.Tool
		cases []eval.Case
	)
	seen := map[tool.ID]bool{}
	for _, name := range names {
		set, err := l.set(ctx, name)
		if err != nil {
			return nil, err
		}
		ids := map[string][]string{}
		for _, t := range set.catalogue.All() {
			id := t.ID()
			ids[set.Label(id)] = append(ids[set.Label(id)], string(id))
			if !seen[id] {
				seen[id] = true
				tools = append(tools, t)
			}
		}
		for _, c := range few(set.Cases, mostRequests) {
			if !c.NoMatch() {
				cases = append(cases, relabelled(c, name, ids))
			}
		}
	}
	catalogue := tool.NewSet(tools, "")
	d := eval.NewDataset(strings.Join(names, "+"), catalogue)
	d.Cases = cases
	return &labelled{d, catalogue}, nil
}

// relabelled is a request of a set whose tools go by other names. Where a name stands for several tools, all of them
// serve.
func relabelled(c eval.Case, set string, ids map[string][]string) eval.Case {
	all := func(names []string) (out []string) {
		for _, n := range names {
			out = append(out, ids[n]...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	c.ID, c.Relevant, c.AllOf, c.Grades = set+" "+c.ID, all(c.Relevant), slices.Clone(c.AllOf), nil
	for i := range c.AllOf {
		c.AllOf[i] = all(c.AllOf[i])
	}
	return c
}

// scale is what a contender reached on one catalogue.
type scale struct {
	name   string
	tools  int
	report *eval.Report
}

// pooledText answers whether meaning still helps where tools are many.
func (l *lab) pooledText(ctx context.Context) (string, error) {
	var rows []scale
	for _, names := range [][]string{pool()[:1], pool()} {
		set, err := l.pooled(ctx, names)
		if err != nil {
			return "", err
		}
		for _, c := range l.contenders() {
			fmt.Fprintf(os.Stderr, "%d tools: %s\n", set.catalogue.Len(), c.name)
			engine, _, err := l.open(ctx, c.setup, set)
			if err != nil {
				return "", err
			}
			var s tool.Searcher = engine
			if c.ranks {
				s = byRank{engine, []tool.Mode{tool.Keyword, tool.Semantic}}
			}
			r, err := eval.Run(ctx, s, set.Dataset, rankings(c.mode))
			if err != nil {
				return "", err
			}
			rows = append(rows, scale{c.name, set.catalogue.Len(), r})
		}
	}
	return pooledPage(rows), nil
}

func pooledPage(rows []scale) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Many tools\n\nWhether embeddings still help where tools are many, and whether scores or ranks (reciprocal rank fusion, k=%d) are better to fuse: the requests of %s\n"+
		"over its own catalogue, and at most %d requests of each of %s over all their tools in one. A tool of another set that would serve as well counts as wrong.\n\n"+
		"| tools | requests | search | P@1 | recall@5 | nDCG@10 |\n|---|---|---|---|---|---|\n", rankConstant,
		pool()[0], mostRequests, strings.Join(pool(), ", "))
	for _, r := range rows {
		s := r.report.All.Scores
		fmt.Fprintf(&b, "| %d | %d | %s | %s | %s | %s |\n", r.tools, r.report.All.Queries, r.name, figure(s["hit@1"]),
			figure(s["recall@5"]), figure(s["ndcg@10"]))
	}
	b.WriteString("\n")
	return b.String()
}
