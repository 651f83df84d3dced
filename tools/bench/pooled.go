package main

import (
	"context"
	"slices"
	"strings"

	"tooldex/eval"
	"tooldex/tool"
)

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
