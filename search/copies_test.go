package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tooldex/cmd/tooldex/demo"
	"tooldex/tool"
)

// labelledQuery is a request with the tools that serve it.
type labelledQuery struct {
	Query    string
	Relevant []string
}

// labelledDemo reads the requests of the demo catalogue that some tool serves.
func labelledDemo(t *testing.T) (out []labelledQuery) {
	t.Helper()
	for _, name := range []string{"queries-a.jsonl", "queries-b.jsonl"} {
		data, err := demo.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var q labelledQuery
			if err := json.Unmarshal(line, &q); err != nil {
				t.Fatal(err)
			}
			if len(q.Relevant) > 0 {
				out = append(out, q)
			}
		}
	}
	return out
}

// TestCopiesComeBehind plants copies of 240 tools on a server that comes first in the alphabet, under their names and
// under others, word for word and with a sentence more: recall@1 falls by at most .02.
func TestCopiesComeBehind(t *testing.T) {
	real := demoCatalogue(t)
	var planted []*tool.Tool
	for i, one := range real {
		if len(planted) == 240 {
			break
		}
		c := *one
		c.Server = "aaa"
		switch i % 3 {
		case 1:
			c.Name = fmt.Sprintf("%s_%d", c.Name, i)
		case 2:
			c.Description += " It is quick and thorough."
		}
		if !slices.ContainsFunc(planted, func(p *tool.Tool) bool { return p.Name == c.Name }) {
			planted = append(planted, &c)
		}
	}
	queries := labelledDemo(t)
	recall := func(tools []*tool.Tool) (share float64, first int) {
		e := engineOf(t, tools)
		hits := 0
		for _, q := range queries {
			r, err := e.Search(t.Context(), tool.Query{Text: q.Query, Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Tools) == 0 {
				continue
			}
			if slices.Contains(q.Relevant, strings.Replace(string(r.Tools[0].ID), "/", "__", 1)) {
				hits++
			}
			if r.Tools[0].ID.Server() == "aaa" {
				first++
			}
		}
		return float64(hits) / float64(len(queries)), first
	}
	before, _ := recall(real)
	after, first := recall(append(slices.Clone(real), planted...))
	t.Logf("recall@1 of %d requests: %.3f without, %.3f with %d copies; a copy is first for %d", len(queries), before, after,
		len(planted), first)
	if before < .6 || after < before-.02 {
		t.Errorf("recall@1 falls from %.3f to %.3f", before, after)
	}
}
