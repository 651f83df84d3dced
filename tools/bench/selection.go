package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"tooldex/eval"
	"tooldex/selection"
	"tooldex/tool"
)

// scenario is a message with the tools that an agent needs for it, over a catalogue of some servers.
type scenario struct {
	message string
	servers []string // of the demo catalogue; nil means all
	need    []tool.ID
	least   float64 // part of the tokens of a plain listing that must be saved
}

// coding are the servers of an agent that writes programs.
func coding() []string { return []string{"filesystem", "shell", "codebase", "browser", "web"} }

func scenarios() []scenario {
	return []scenario{
		{"Read package.json", nil, []tool.ID{"filesystem/read_file"}, .95},
		{"List all files", nil, []tool.ID{"filesystem/list_directory"}, .95},
		{"Run npm install", nil, []tool.ID{"shell/execute_command"}, .95},
		{"Search for TODOs", nil, []tool.ID{"codebase/find_todos"}, .90},
		{"Full refactoring", nil, []tool.ID{
			"codebase/rename_symbol", "codebase/extract_function",
			"codebase/move_symbol",
		}, .60},
		{
			"Open the login page, fill in the form, submit it and take a screenshot", coding(),
			[]tool.ID{
				"browser/browser_navigate", "browser/browser_fill_form", "browser/browser_click",
				"browser/browser_take_screenshot",
			},
			.85,
		},
	}
}

// fixedSet is a catalogue that does not change.
type fixedSet struct{ set *tool.Set }

func (f fixedSet) Set() *tool.Set { return f.set }

// selector returns a selector over a set as the command has it.
func (l *lab) selector(ctx context.Context, set *labelled, o selection.Options) (*selection.Selector, error) {
	engine, _, err := l.open(ctx, l.whole(), set)
	if err != nil {
		return nil, err
	}
	o.Searcher, o.Catalog, o.Embedder = engine, fixedSet{set.catalogue}, l.static
	return selection.NewSelector(o), nil
}

func (l *lab) selectionText(ctx context.Context) (string, error) {
	var b strings.Builder
	b.WriteString("## Selections\n\n" +
		"Tools that `tooldex select` and `POST /api/tools/select` choose for a message with default limits.\n\n")
	for _, part := range []func(context.Context, *strings.Builder) error{
		l.selectionScenarios, l.selectionRecall,
		l.selectionCollisions, l.selectionStream,
	} {
		if err := part(ctx, &b); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// part returns the tools of some servers of a set.
func (l *lab) part(ctx context.Context, name string, servers []string) (*labelled, error) {
	set, err := l.set(ctx, name)
	if err != nil || servers == nil {
		return set, err
	}
	some := set.catalogue.Subset(func(t *tool.Tool) *tool.Tool {
		if slices.Contains(servers, t.Server) {
			return t
		}
		return nil
	})
	d := *set.Dataset
	d.Name = name + " of " + strings.Join(servers, ", ")
	return &labelled{&d, some}, nil
}

func (l *lab) selectionScenarios(ctx context.Context, b *strings.Builder) error {
	b.WriteString("| message | of tools | tokens of all | selected | tokens | saved | wanted | needed tools selected |\n|---|---|---|---|---|---|---|---|\n")
	for _, sc := range scenarios() {
		set, err := l.part(ctx, demoSet, sc.servers)
		if err != nil {
			return err
		}
		s, err := l.selector(ctx, set, selection.Options{})
		if err != nil {
			return err
		}
		res, err := s.Select(ctx, selection.Query{Message: sc.message})
		if err != nil {
			return err
		}
		missing := slices.DeleteFunc(slices.Clone(sc.need), func(id tool.ID) bool { return selects(res, id) })
		verdict := fmt.Sprintf("all %d", len(sc.need))
		if len(missing) > 0 {
			verdict = fmt.Sprintf("**not %v**", missing)
		}
		saved := float64(res.Saved) / float64(res.AllTokens)
		mark := fmt.Sprintf("%.1f %%", 100*saved)
		if saved < sc.least {
			mark = "**" + mark + "**"
		}
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %s | %.0f %% | %s |\n", sc.message, res.AllTools, res.AllTokens,
			len(res.Selected), res.Tokens, mark, 100*sc.least, verdict)
	}
	b.WriteString("\n")
	return nil
}

func selects(res *selection.Selection, id tool.ID) bool {
	return slices.ContainsFunc(res.Selected, func(s selection.Selected) bool { return s.ID == id })
}

// selected is what selections for the requests of a set come to.
type selected struct {
	requests      int
	recall, whole float64 // part of the needed tools that are selected; requests for which all are
	tools, tokens float64 // a request
	share         float64 // of the tokens of a plain listing
	hits          float64 // of the cache
}

// selectAll puts requests to a selector, one after the other.
func selectAll(ctx context.Context, s *selection.Selector, set *labelled, cases []eval.Case) (selected, error) {
	var out selected
	for _, c := range cases {
		res, err := s.Select(ctx, selection.Query{Message: c.Query})
		if err != nil {
			return out, fmt.Errorf("%s: %w", c.ID, err)
		}
		out.requests++
		recall := recallOf(set.Dataset, c, res)
		out.recall += recall
		if recall == 1 {
			out.whole++
		}
		out.tools += float64(len(res.Selected))
		out.tokens += float64(res.Tokens)
		out.share += float64(res.Tokens) / float64(res.AllTokens)
		if res.Cached {
			out.hits++
		}
	}
	n := float64(max(1, out.requests))
	for _, mean := range []*float64{&out.recall, &out.whole, &out.tools, &out.tokens, &out.share, &out.hits} {
		*mean /= n
	}
	return out, nil
}

// recallOf is the part of what a request needs that is selected: one of its tools where one is enough, one of each
// group where there are groups.
func recallOf(d *eval.Dataset, c eval.Case, res *selection.Selection) float64 {
	have := map[string]bool{}
	for _, s := range res.Selected {
		have[d.Label(s.ID)] = true
	}
	groups := c.AllOf
	switch {
	case len(groups) > 0:
	case c.Any:
		groups = [][]string{c.Relevant}
	default:
		for _, name := range c.Relevant {
			groups = append(groups, []string{name})
		}
	}
	met := 0.
	for _, g := range groups {
		if slices.ContainsFunc(g, func(name string) bool { return have[name] }) {
			met++
		}
	}
	return met / float64(len(groups))
}

// served are the requests of a set that some tool serves.
func served(cases []eval.Case) []eval.Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c eval.Case) bool { return c.NoMatch() })
}

// selectionRecall reports how many of the needed tools are selected, with and without lifts.
func (l *lab) selectionRecall(ctx context.Context, b *strings.Builder) error {
	b.WriteString("Labelled requests of each set, each without a conversation or memory of earlier ones. intents are the 33 real servers.\n\n" +
		"| set | tools | requests | recall | all needed | recall without lifts | tools a request | tokens | of a plain listing |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range []string{"intents", demoSet, "mcpproxy_golden", "little_known"} {
		fmt.Fprintln(os.Stderr, "selections of", name)
		set, err := l.set(ctx, name)
		if err != nil {
			return err
		}
		var runs [2]selected
		for i, plain := range []bool{false, true} {
			s, err := l.selector(ctx, set, selection.Options{CacheSize: -1, NoLifts: plain})
			if err != nil {
				return err
			}
			if runs[i], err = selectAll(ctx, s, set, served(set.Cases)); err != nil {
				return err
			}
		}
		with := runs[0]
		fmt.Fprintf(b, "| %s | %d | %d | %s | %s | %s | %.1f | %.0f | %.2f %% |\n", name, set.catalogue.Len(),
			with.requests,
			figure(with.recall), figure(with.whole), figure(runs[1].recall), with.tools, with.tokens, 100*with.share)
	}
	b.WriteString("\n")
	return nil
}

// collisionLevels are the cosines from which on messages may be taken to mean the same.
func collisionLevels() []float64 { return []float64{.80, .85, .88, .90, .92, .94, .96} }

// selectionCollisions reports how often similar labelled requests need different tools.
func (l *lab) selectionCollisions(ctx context.Context, b *strings.Builder) error {
	b.WriteString("The selection cache treats two messages as equivalent when the cosine of their vectors is above a level (.92 by\n" +
		"default) and they contain the same words of tool names. Pairs of different labelled requests above a level, and how\n" +
		"many of them have no tool in common:\n\n" +
		"| set | pairs |")
	for _, level := range collisionLevels() {
		fmt.Fprintf(b, " above %s | differ |", figure(level))
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|---|", len(collisionLevels())) + "\n")
	for _, name := range []string{
		demoSet, "intents", "mcpproxy_golden", "azure_mcp", "metatool_single", "seal_tools",
		"toolalpaca",
	} {
		set, err := l.set(ctx, name)
		if err != nil {
			return err
		}
		for _, words := range []*selection.Vocabulary{nil, selection.NewVocabulary(set.catalogue)} {
			pairs, above, differ, err := l.collisions(ctx, few(served(set.Cases), 3000), words)
			if err != nil {
				return err
			}
			what := name + ", by vectors alone"
			if words != nil {
				what = name
			}
			fmt.Fprintf(b, "| %s | %d |", what, pairs)
			for i := range above {
				fmt.Fprintf(b, " %d | %d |", above[i], differ[i])
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	return nil
}

func (l *lab) collisions(ctx context.Context, cases []eval.Case, words *selection.Vocabulary) (pairs int, above,
	differ []int, err error,
) {
	texts, keys := make([]string, len(cases)), make([]string, len(cases))
	for i, c := range cases {
		texts[i] = c.Query
		if words != nil {
			keys[i] = words.Key(c.Query)
		}
	}
	vectors, err := l.static.Queries(ctx, texts)
	if err != nil {
		return 0, nil, nil, err
	}
	above, differ = make([]int, len(collisionLevels())), make([]int, len(collisionLevels()))
	for i := range cases {
		for j := range i {
			if strings.EqualFold(texts[i], texts[j]) {
				continue
			}
			pairs++
			if keys[i] != keys[j] {
				continue
			}
			like := cosine(vectors[i], vectors[j])
			other := !slices.ContainsFunc(cases[i].Relevant, func(n string) bool {
				return slices.Contains(cases[j].Relevant, n)
			})
			for k, level := range collisionLevels() {
				if like > level {
					above[k]++
					if other {
						differ[k]++
					}
				}
			}
		}
	}
	return pairs, above, differ, nil
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / (math.Sqrt(aa) * math.Sqrt(bb))
}

// streamSeed and streamRequests make the replayed stream.
const (
	streamSeed     = 6
	streamRequests = 5000
)

// stream draws requests as they come in use: a few often, most seldom.
func stream(cases []eval.Case, n int) []eval.Case {
	random := rand.New(rand.NewPCG(streamSeed, uint64(len(cases))))
	order := random.Perm(len(cases))
	zipf := rand.NewZipf(random, 1.1, 8, uint64(len(cases)-1))
	out := make([]eval.Case, n)
	for i := range out {
		out[i] = cases[order[zipf.Uint64()]]
	}
	return out
}

// selectionStream replays requests that come again, in the same words and in others, with a cache and without.
func (l *lab) selectionStream(ctx context.Context, b *strings.Builder) error {
	fmt.Fprintf(b, "A stream of %d requests, some of them frequent (Zipf's law), and each request once in random order. The cache holds %d\n"+
		"messages:\n\n", streamRequests, selection.DefaultCacheSize)
	b.WriteString("| set | stream: cache hits | recall | without cache | each once: cache hits | recall | without cache |\n|---|---|---|---|---|---|---|\n")
	for _, name := range []string{demoSet, "intents", "azure_mcp", "metatool_single"} {
		fmt.Fprintln(os.Stderr, "a stream of", name)
		set, err := l.set(ctx, name)
		if err != nil {
			return err
		}
		cases := served(set.Cases)
		fmt.Fprintf(b, "| %s |", name)
		for _, requests := range [][]eval.Case{stream(cases, streamRequests), shuffled(few(cases, streamRequests))} {
			with, without, err := l.replayStream(ctx, set, requests)
			if err != nil {
				return err
			}
			fmt.Fprintf(b, " %.1f %% | %s | %s |", 100*with.hits, figure(with.recall), figure(without.recall))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	return nil
}

func shuffled(cases []eval.Case) []eval.Case {
	out := slices.Clone(cases)
	random := rand.New(rand.NewPCG(streamSeed, 1))
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (l *lab) replayStream(ctx context.Context, set *labelled, requests []eval.Case) (with, without selected,
	err error,
) {
	for _, run := range []struct {
		size int
		into *selected
	}{{0, &with}, {-1, &without}} {
		s, err := l.selector(ctx, set, selection.Options{CacheSize: run.size})
		if err != nil {
			return with, without, err
		}
		if *run.into, err = selectAll(ctx, s, set, requests); err != nil {
			return with, without, err
		}
	}
	return with, without, nil
}
