package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tooldex/service"
	"tooldex/tool"
)

// kindQuery is a search of one kind, whose answers are compared.
type kindQuery struct {
	kind  string
	query tool.Query
}

// agreement is how far searches of one kind agree with exact ones.
type agreement struct {
	searches, found, wanted, first, confident int
}

// exactDepth is how many tools of each answer are compared.
const exactDepth = 10

// exactPage compares searches in the data folder dir with those that compare every vector exactly, which a filter has
// that lets everything through. No tool of the catalogue may be disabled.
func exactPage(ctx context.Context, c config, dir string) (string, error) {
	s, err := service.Open(ctx, service.Options{Dir: dir, Use: service.ToSearch})
	if err != nil {
		return "", err
	}
	queries, err := kindQueries(c, s.Catalog.Set())
	if err != nil {
		return "", err
	}
	all := map[string]*agreement{}
	for _, q := range queries {
		q.query.Limit = exactDepth
		got, err := s.Engine.Search(ctx, q.query)
		if err != nil {
			return "", err
		}
		q.query.Filter.Disabled = true
		want, err := s.Engine.Search(ctx, q.query)
		if err != nil {
			return "", err
		}
		for _, kind := range []string{q.kind, "all"} {
			if all[kind] == nil {
				all[kind] = &agreement{}
			}
			all[kind].add(got, want)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d tools\n\n| searches | number | overlap@10 | same first | same confidence |\n|---|---|---|---|---|\n",
		s.Catalog.Set().Len())
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		a := all[kind]
		share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
		fmt.Fprintf(&b, "| %s | %d | %.4f | %.3f | %.3f |\n", kind, a.searches, share(a.found, a.wanted),
			share(a.first, a.searches), share(a.confident, a.searches))
	}
	return b.String(), nil
}

// add counts one pair of answers.
func (a *agreement) add(got, want *tool.Result) {
	a.searches++
	a.wanted += len(want.Tools)
	for _, h := range want.Tools {
		if slices.ContainsFunc(got.Tools, func(o tool.Hit) bool { return o.ID == h.ID }) {
			a.found++
		}
	}
	if len(want.Tools) == 0 && len(got.Tools) == 0 ||
		len(want.Tools) > 0 && len(got.Tools) > 0 && want.Tools[0].ID == got.Tools[0].ID {
		a.first++
	}
	if got.Confident == want.Confident {
		a.confident++
	}
}

// kindQueries returns searches of every kind: the labelled requests by their kinds, and names, descriptions, filters
// and several needs at once.
func kindQueries(c config, set *tool.Set) (out []kindQuery, err error) {
	var texts []string
	for _, folder := range []string{"intents", "little_known", "unprepared"} {
		err := readLabelled(filepath.Join(c.data, folder, "queries.jsonl"), func(kind, text string) {
			texts = append(texts, text)
			out = append(out, kindQuery{kind, tool.Query{Text: text}})
		})
		if err != nil {
			return nil, err
		}
	}
	for i := 0; i < set.Len(); i += max(1, set.Len()/100) {
		t := set.All()[i]
		out = append(out, kindQuery{"name of a tool", tool.Query{Text: t.Name}})
		if len(t.Description) > 20 {
			out = append(out, kindQuery{"description of a tool", tool.Query{Text: t.Description}})
		}
	}
	for i, text := range texts[:min(100, len(texts))] {
		server := set.All()[i*set.Len()/100].Server
		out = append(
			out, kindQuery{"by meaning alone", tool.Query{Text: text, Mode: tool.Semantic}},
			kindQuery{"by words alone", tool.Query{Text: text, Mode: tool.Keyword}},
			kindQuery{"one word", tool.Query{Text: strings.Fields(text)[0]}},
			kindQuery{"several texts", tool.Query{Texts: []string{text, texts[(i+1)%len(texts)]}}},
			kindQuery{"of one server", tool.Query{Text: text, Filter: tool.Filter{Servers: []string{server}}}},
			kindQuery{"read-only tools", tool.Query{Text: text, Filter: tool.Filter{ReadOnly: true}}},
		)
	}
	return out, nil
}

// readLabelled calls fn with the kind and text of each request of a file.
func readLabelled(path string, fn func(kind, text string)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var q struct{ Kind, Query string }
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if strings.TrimSpace(q.Query) != "" {
			fn(q.Kind, q.Query)
		}
	}
	return lines.Err()
}
