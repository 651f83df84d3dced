package enrich

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tooldex/catalog"
	"tooldex/index"
	"tooldex/search"
	"tooldex/tool"
)

// TestEnrichmentHelps measures what requests that somebody wrote for tools bring: on tools of public plugins, six of
// each tool's own training requests stand in for what a model would write, and requests that were held out are searched
// before and after. The stand-ins were written by a model that knew the tools, from descriptions such as these, so they
// are what a good writer brings, not any writer.
func TestEnrichmentHelps(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("searches three thousand times, on one goroutine")
	}
	folder := dataFolder(t, "sets", "metatool_single")
	src := &fake{name: "plugins"}
	lines(t, folder+"/tools.jsonl", func(b []byte) error {
		var one struct{ Name, Description string }
		err := json.Unmarshal(b, &one)
		src.tools = append(src.tools, aTool("plugins", one.Name, one.Description))
		return err
	})
	written, asked := map[string]*tool.Proposal{}, map[string][]string{}
	held := 0
	lines(t, folder+"/queries.jsonl", func(b []byte) error {
		var one struct {
			Query    string
			Relevant []string
			Split    string
		}
		if err := json.Unmarshal(b, &one); err != nil || len(one.Relevant) != 1 {
			return err
		}
		name := one.Relevant[0]
		if written[name] == nil {
			written[name] = &tool.Proposal{Tool: tool.MakeID("plugins", name)}
		}
		switch p := written[name]; {
		case one.Split == "train" && len(p.Utterances) < 6:
			p.Utterances = append(p.Utterances, one.Query)
		case one.Split == "test" && len(asked[name]) < 5:
			asked[name] = append(asked[name], one.Query)
			held++
		}
		return nil
	})
	m, err := catalog.BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	x := &index.Index{}
	c := openCatalog(t, t.TempDir(), m, x)
	if err != nil {
		t.Fatal(err)
	}
	mustSync(t, c, src)
	e := search.New(search.Options{Lookup: x, Embedder: m.Embedder, Base: m.Base, Map: m.Encoder})
	strange := map[string]bool{}
	for _, s := range c.Unfamiliar(0) {
		strange[s.ID.Name()] = true
	}
	measure := func(when string, of func(name string) bool) float64 {
		n, first, five := 0, 0, 0
		for name, list := range asked {
			for _, q := range list {
				if !of(name) {
					continue
				}
				n++
				r, err := e.Search(t.Context(), tool.Query{Text: q, Limit: 5})
				if err != nil {
					t.Fatal(err)
				}
				for i, h := range r.Tools {
					if h.Name == name {
						five++
						if i == 0 {
							first++
						}
					}
				}
			}
		}
		t.Logf("%s: hit@1 %.3f, hit@5 %.3f of %d requests", when, float64(first)/float64(n), float64(five)/float64(n),
			n)
		return float64(five) / float64(n)
	}
	all := func(string) bool { return true }
	stranger := func(name string) bool { return strange[name] }
	before, beforeStrange := measure("before, all tools", all), measure("before, tools of no known kind", stranger)
	var proposals []tool.Proposal
	offered := 0
	for _, p := range written {
		if strange[p.Tool.Name()] {
			proposals = append(proposals, *p)
			offered += len(p.Utterances)
		}
	}
	slices.SortFunc(proposals, func(a, b tool.Proposal) int { return strings.Compare(string(a.Tool), string(b.Tool)) })
	kept, findings, err := c.Enrich(t.Context(), proposals)
	if err != nil || kept == 0 {
		t.Fatal(kept, err)
	}
	t.Logf("%d of %d tools are of no known kind; %d of %d requests were kept", len(strange), len(src.tools), kept,
		offered)
	for _, f := range findings[:min(5, len(findings))] {
		t.Log(f)
	}
	after, afterStrange := measure("after, all tools", all), measure("after, tools of no known kind", stranger)
	if after < before-.005 || afterStrange < beforeStrange+.05 {
		t.Errorf("it does not help: %.3f to %.3f, of no known kind %.3f to %.3f", before, after, beforeStrange,
			afterStrange)
	}
}

// lines reads a file line by line.
func lines(t *testing.T, path string, each func([]byte) error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		if err := each(s.Bytes()); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", path, err))
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}
