package train

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"tooldex/embed"
	"tooldex/internal/vector"
)

// tally counts at which rank a right tool came.
type tally struct {
	n, hit1, hit5, hit10 int
}

func (t *tally) add(rank int) {
	t.n++
	if rank < 1 {
		t.hit1++
	}
	if rank < 5 {
		t.hit5++
	}
	if rank < 10 {
		t.hit10++
	}
}

func (t tally) String() string {
	f := func(k int) float64 { return float64(k) / float64(max(1, t.n)) }
	return fmt.Sprintf("%5d  %.3f / %.3f / %.3f", t.n, f(t.hit1), f(t.hit5), f(t.hit10))
}

// Evaluate prints how often a right tool comes first, among five, among ten, by cosine alone: for archetype utterances
// that were held out, for tools of labelled sets that were held out, and for the sets that nothing was trained on. Of
// the latter it prints figures and never a text. With hold, which is for tables trained so, it begins with the
// archetypes of the servers that were kept out, asked for in their own words and in words of the lexicon.
func Evaluate(w io.Writer, s *embed.Static, data, knowledge string, hold bool) error {
	c := &corpus{}
	if err := c.addArchetypes(knowledge, hold); err != nil {
		return err
	}
	fmt.Fprintln(w, "queries  hit@1 / @5 / @10, cosine alone")
	if hold {
		if err := evaluateServers(w, s, c, knowledge); err != nil {
			return err
		}
	}
	docs := make([]embed.Document, len(c.tools))
	for i, t := range c.tools {
		docs[i] = t.document()
	}
	fmt.Fprintf(w, "%s  archetype utterances held out\n", newRanker(s, docs).tally(c.heldOut))
	for _, set := range []string{"metatool_single", "seal_tools", "azure_mcp"} {
		err := evaluateSet(w, s, filepath.Join(data, "sets", set), set+" tools held out", func(q setQuery) bool {
			return !slices.ContainsFunc(q.Relevant, func(name string) bool { return !HeldOut(set, name) })
		})
		if err != nil {
			return err
		}
	}
	all := func(setQuery) bool { return true }
	for _, dir := range []string{
		"sets/mcpproxy_golden", "sets/bfcl_python", "sets/toolbench_stable", "sets/toolalpaca",
		"intents", "little_known",
	} {
		if err := evaluateSet(w, s, filepath.Join(data, dir), filepath.Base(dir), all); err != nil {
			return err
		}
	}
	return nil
}

// nearWording is how many utterances of an archetype, the first ones, lean on its own words.
const nearWording = 2

// evaluateServers asks for the tools of the servers that were kept out.
func evaluateServers(w io.Writer, s *embed.Static, c *corpus, knowledge string) error {
	lex, err := readLexicon(knowledge)
	if err != nil {
		return err
	}
	of, langs := byLanguage(lex)
	rng := rand.New(rand.NewPCG(9, 9))
	var docs []embed.Document
	var own, foreign []labelled
	for i, a := range c.apart {
		docs = append(docs, a.text().document())
		rel := []int32{int32(i)}
		for _, u := range a.Utterances[min(nearWording, len(a.Utterances)):] {
			own = append(own, labelled{text: u, rel: rel})
			if text, ok := translate(u, of[langs[rng.IntN(len(langs))]], rng); ok {
				foreign = append(foreign, labelled{text: text, rel: rel})
			}
		}
	}
	r := newRanker(s, docs)
	fmt.Fprintf(w, "%s  archetypes of servers held out, of %d tools\n", r.tally(own), len(docs))
	fmt.Fprintf(w, "%s  the same, word by word in other languages\n", r.tally(foreign))
	return nil
}

func (t toolText) document() embed.Document {
	return embed.Document{Name: t.server + " " + t.name, Description: t.desc, Parameters: t.par}
}

// evaluateSet prints a line for each kind of query.
func evaluateSet(w io.Writer, s *embed.Static, dir, title string, want func(setQuery) bool) error {
	tools, err := ReadLines[setTool](filepath.Join(dir, "tools.jsonl"))
	if err != nil {
		return err
	}
	queries, err := ReadLines[setQuery](filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return err
	}
	docs, at := make([]embed.Document, len(tools)), map[string]int32{}
	for i, t := range tools {
		docs[i], at[t.Name] = t.text().document(), int32(i)
	}
	queries = slices.DeleteFunc(queries, func(q setQuery) bool { return len(q.Relevant) == 0 || !want(q) })
	r := newRanker(s, docs)
	results := make([]int, len(queries))
	each(len(queries), func(i int) {
		var rel []int32
		for _, name := range queries[i].Relevant {
			if k, ok := at[name]; ok {
				rel = append(rel, k)
			}
		}
		results[i] = r.rank(queries[i].Query, rel)
	})
	kinds := map[string]*tally{}
	for i, q := range queries {
		if kinds[q.Kind] == nil {
			kinds[q.Kind] = &tally{}
		}
		kinds[q.Kind].add(results[i])
	}
	for _, kind := range sortedKeys(kinds) {
		fmt.Fprintf(w, "%s  %s %s\n", kinds[kind], title, kind)
	}
	return nil
}

// ranker ranks documents by cosine.
type ranker struct {
	s    *embed.Static
	vecs []float32
}

func newRanker(s *embed.Static, docs []embed.Document) *ranker {
	r := &ranker{s, make([]float32, len(docs)*dims)}
	each(len(docs), func(i int) { s.Document(docs[i], row(r.vecs, i, dims)) })
	return r
}

// tally ranks for each request.
func (r *ranker) tally(requests []labelled) tally {
	ranks := make([]int, len(requests))
	each(len(requests), func(i int) { ranks[i] = r.rank(requests[i].text, requests[i].rel) })
	var t tally
	for _, k := range ranks {
		t.add(k)
	}
	return t
}

// rank is how many documents come before the first of rel; ties count against it.
func (r *ranker) rank(query string, rel []int32) int {
	var q [dims]float32
	r.s.Query(query, q[:])
	best := float32(-2)
	for _, j := range rel {
		best = max(best, vector.Dot(q[:], row(r.vecs, int(j), dims)))
	}
	before := 0
	for j := range len(r.vecs) / dims {
		if !slices.Contains(rel, int32(j)) && vector.Dot(q[:], row(r.vecs, j, dims)) >= best {
			before++
		}
	}
	return before
}
