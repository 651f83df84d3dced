package main

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"tooldex/knowledge"
)

// variantsSection is the name of the section that runs only when it is asked for.
const variantsSection = "variants"

// variantSets lists the sets on which variants are compared: requests in other words than those of the tools.
func variantSets() []string { return []string{"intents", "little_known", "unprepared", demoSet} }

// variant is the whole search with other knowledge. Add a line to variants to measure the effect of a part, and take it
// out once the decision is recorded in docs/research.md.
type variant struct {
	name   string
	change func(*knowledge.Source) // of a copy, whose slices are shared with the original: replace them
}

func variants() []variant {
	out := []variant{
		{"all", func(*knowledge.Source) {}},
		{"without thesaurus", func(s *knowledge.Source) { s.Thesaurus = nil }},
		{"without lexicon", func(s *knowledge.Source) { s.Lexicon = nil }},
		{"without glossaries", func(s *knowledge.Source) { s.Objects, s.Operations = nil, nil }},
	}
	for _, n := range []int{1, 3, 6, 9} {
		out = append(out, variant{fmt.Sprintf("%d requests an archetype", n), keepUtterances(n)})
	}
	for _, n := range []int{4, 8, 16, 32, 64} {
		out = append(out, variant{fmt.Sprintf("%d operations a product", n), keepOperations(n)})
	}
	for _, share := range []float64{.5, .25, .125} { // the learning curve
		out = append(out, variant{fmt.Sprintf("%g of the kinds of servers", share), keepServers(share)})
	}
	return out
}

// keepServers keeps the archetypes of a share of the kinds of servers. They are chosen by the hash of their names, so
// that a smaller share is part of a larger one.
func keepServers(share float64) func(*knowledge.Source) {
	return func(s *knowledge.Source) {
		s.Archetypes = slices.DeleteFunc(slices.Clone(s.Archetypes), func(a knowledge.Archetype) bool {
			return float64(hashName(a.Server))/math.MaxUint32 > share
		})
	}
}

// keepOperations keeps at most n archetypes of each kind of server. They are chosen by the hash of their names, so that
// fewer are part of more.
func keepOperations(n int) func(*knowledge.Source) {
	return func(s *knowledge.Source) {
		byHash := slices.SortedStableFunc(slices.Values(s.Archetypes), func(a, b knowledge.Archetype) int {
			return cmp.Compare(hashName(a.Name), hashName(b.Name))
		})
		kept := map[string]int{}
		byHash = slices.DeleteFunc(byHash, func(a knowledge.Archetype) bool {
			kept[a.Server]++
			return kept[a.Server] > n
		})
		slices.SortStableFunc(byHash, func(a, b knowledge.Archetype) int {
			return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
		})
		s.Archetypes = byHash
	}
}

// hashName returns the FNV-1a hash of a name.
func hashName(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// keepUtterances keeps the first n requests of each archetype.
func keepUtterances(n int) func(*knowledge.Source) {
	return func(s *knowledge.Source) {
		s.Archetypes = slices.Clone(s.Archetypes)
		for i := range s.Archetypes {
			a := &s.Archetypes[i]
			a.Utterances = a.Utterances[:min(n, len(a.Utterances))]
		}
	}
}

// outcome is what a variant found: for each request of variantSets, in order, whether a right tool was among five.
type outcome struct {
	name       string
	archetypes int
	cells      []string // hit@1 / hit@5 of each set
	found      []bool
}

func (l *lab) variantsText(ctx context.Context) (string, error) {
	var rows []outcome
	for _, v := range variants() {
		source := *l.source
		v.change(&source)
		base, err := l.compile(&source)
		if err != nil {
			return "", fmt.Errorf("%s: %w", v.name, err)
		}
		row := outcome{name: v.name, archetypes: base.Len()}
		s := l.with(v.name, base)
		s.indexed = "variant " + v.name
		for _, name := range variantSets() {
			r, err := l.runNamed(ctx, s, name)
			if err != nil {
				return "", err
			}
			delete(l.snapshots, name+" "+s.indexed) // of no use to other variants
			row.cells = append(row.cells, figure(r.All.Scores["hit@1"])+" / "+figure(r.All.Scores["hit@5"]))
			for i := range r.Cases {
				if c := &r.Cases[i]; !c.NoMatch {
					row.found = append(row.found, c.Rank > 0 && c.Rank <= 5)
				}
			}
		}
		rows = append(rows, row)
	}
	return variantsPage(rows), nil
}

// variantsPage compares each variant with the first, request by request.
func variantsPage(rows []outcome) string {
	var b strings.Builder
	b.WriteString("## Variants\n\nThe whole search with parts of the knowledge left out; cells are hit@1 / hit@5. The last column is the change of hit@5 over all\n" +
		"requests against the first row, with its standard error. The embedding table stays the one trained on all archetypes.\n\n" +
		"| variant | archetypes | " + strings.Join(variantSets(), " | ") + " | change |\n|---|---|" +
		strings.Repeat("---|", len(variantSets())) + "---|\n")
	for _, r := range rows {
		mean, err := meanChange(rows[0].found, r.found)
		fmt.Fprintf(&b, "| %s | %d | %s | %+.3f ± %.3f |\n", r.name, r.archetypes, strings.Join(r.cells, " | "), mean, err)
	}
	b.WriteString("\n")
	return b.String()
}

// meanChange returns the mean of after less before over the same requests, and its standard error. Both are 0 if the
// two are not of the same requests.
func meanChange(before, after []bool) (mean, err float64) {
	if len(before) == 0 || len(before) != len(after) {
		return 0, 0
	}
	sum, changed := 0, 0
	for i := range before {
		if before[i] != after[i] {
			changed++
			sum--
			if after[i] {
				sum += 2
			}
		}
	}
	n := float64(len(before))
	mean = float64(sum) / n
	return mean, math.Sqrt((float64(changed)/n - mean*mean) / n)
}
