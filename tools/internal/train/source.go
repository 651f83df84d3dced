package train

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// toolText is a tool as it is trained on.
type toolText struct {
	server, name, desc, par string
}

// labelled is a request and the tools that answer it, by their number in the corpus.
type labelled struct {
	text string
	rel  []int32
	kin  []int32 // tools of the same server, of which some serve as hard negatives
}

// family is one origin of training data. How often it is drawn from grows with the square root of its size.
type family struct {
	name     string
	requests []labelled
	tools    []int32
	weight   float64
}

// corpus is everything that is trained on, and what was held out of it.
type corpus struct {
	tools    []toolText
	families []family
	extra    []string    // texts for the vocabulary alone
	heldOut  []labelled  // archetype utterances
	apart    []archetype // of held-out servers
	lexicon  []concept
}

// HeldOut reports whether a tool of a labelled set is never trained on: neither its text nor any request for it. It is
// so for every fifth tool by the FNV-1a hash (32 bits) of "set/name".
func HeldOut(set, name string) bool { return hash32(set+"/"+name)%5 == 0 }

// heldOutUtterance is the like for one in fifty utterances of the archetypes.
func heldOutUtterance(text string) bool { return hash32(text)%50 == 0 }

// heldOutServer is the like for every twelfth server of the archetypes, where that is asked for.
func heldOutServer(server string) bool { return hash32("server/"+server)%12 == 0 }

func hash32(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}

// ReadLines decodes a file of JSON lines, of which empty ones are passed over. An error names the file and the line.
func ReadLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	var out []T
	sc := bufio.NewScanner(f)
	sc.Buffer(make([]byte, 1<<20), 1<<26)
	for n := 1; sc.Scan(); n++ {
		if len(strings.TrimSpace(sc.Text())) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		out = append(out, v)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// archetype is a line of the knowledge base.
type archetype struct {
	Server, Name, Title, Description string
	Params, Synonyms, Utterances     []string
}

func (a archetype) text() toolText {
	return toolText{a.Server, a.Name, a.Description, strings.Join(a.Params, " ")}
}

func readArchetypes(knowledge string) ([]archetype, error) {
	var files []string
	err := filepath.WalkDir(filepath.Join(knowledge, "archetypes"), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var out []archetype
	for _, path := range files {
		a, err := ReadLines[archetype](path)
		if err != nil {
			return nil, err
		}
		out = append(out, a...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no archetypes", knowledge)
	}
	return out, nil
}

func (c *corpus) tool(t toolText) int32 {
	c.tools = append(c.tools, t)
	return int32(len(c.tools) - 1)
}

// load reads all training data, the archetypes of some servers apart if hold is set.
func load(data, knowledge string, hold bool) (*corpus, error) {
	c := &corpus{}
	for _, set := range []struct {
		name   string
		weight float64
	}{
		// a hundred requests for each of a few tools: knowing them by heart helps no other tool
		{"metatool_single", .2},
		{"seal_tools", 1},
		{"azure_mcp", 1},
		{"cat_mcpm_registry", 1},
		{"cat_docker_registry", 1},
	} {
		if err := c.addSet(data, set.name, set.weight); err != nil {
			return nil, err
		}
	}
	for _, p := range []struct {
		name   string
		most   int
		weight float64
	}{{"tldr", 5, .6}, {"boto", 3, 1}, {"composio", 1, 1}} {
		if err := c.addPairs(data, p.name, p.most, p.weight); err != nil {
			return nil, err
		}
	}
	if err := c.addArchetypes(knowledge, hold); err != nil {
		return nil, err
	}
	if err := c.addThesaurus(knowledge); err != nil {
		return nil, err
	}
	return c, c.addLexicon(knowledge)
}

// setTool and setQuery are lines of a labelled set.
type setTool struct {
	Name, Server, Description string
	Parameters                json.RawMessage
}

type setQuery struct {
	Query, Split, Kind string
	Relevant           []string
}

func (t setTool) text() toolText {
	name := strings.ReplaceAll(t.Name, "__", " ")
	server := t.Server
	if server != "" && strings.Contains(strings.ToLower(name), strings.ToLower(server[:min(6, len(server))])) {
		server = ""
	}
	return toolText{server: server, name: name, desc: clip(t.Description, 2000), par: parameterText(t.Parameters)}
}

// parameterText is the names of a schema's properties and then what is said about them, each in the order of the
// schema.
func parameterText(schema json.RawMessage) string {
	var s struct {
		Properties json.RawMessage
	}
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	dec := json.NewDecoder(strings.NewReader(string(s.Properties)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	var names, texts []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var p json.RawMessage
		if dec.Decode(&p) != nil {
			break
		}
		names = append(names, fmt.Sprint(key))
		var d struct{ Description any }
		if json.Unmarshal(p, &d) == nil && d.Description != nil {
			texts = append(texts, fmt.Sprint(d.Description))
		}
	}
	return clip(strings.Join(names, " "), 600) + " " + clip(strings.Join(texts, " "), 1500)
}

func clip(s string, n int) string { return strings.ToValidUTF8(s[:min(n, len(s))], "") }

func (c *corpus) addSet(data, set string, weight float64) error {
	dir := filepath.Join(data, "sets", set)
	tools, err := ReadLines[setTool](filepath.Join(dir, "tools.jsonl"))
	if err != nil {
		return err
	}
	queries, err := ReadLines[setQuery](filepath.Join(dir, "queries.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	f := family{name: set, weight: weight}
	at := map[string]int32{}
	for _, t := range tools {
		if len(queries) > 0 && HeldOut(set, t.Name) {
			continue
		}
		at[t.Name] = c.tool(t.text())
		f.tools = append(f.tools, at[t.Name])
	}
	for _, q := range queries {
		if q.Split != "" && q.Split != "train" {
			continue
		}
		var rel []int32
		for _, r := range q.Relevant {
			if i, ok := at[r]; ok {
				rel = append(rel, i)
			}
		}
		if len(rel) == len(q.Relevant) { // else it asks for a tool that was held out
			f.requests = append(f.requests, labelled{text: q.Query, rel: rel})
		}
	}
	c.families = append(c.families, f)
	return nil
}

func (c *corpus) addPairs(data, name string, most int, weight float64) error {
	pairs, err := ReadLines[struct {
		Name, Server, Description, Short, Params string
		Queries                                  []string
	}](filepath.Join(data, "pairs", "ext_"+name+".jsonl"))
	if err != nil {
		return err
	}
	f := family{name: name, weight: weight}
	for _, p := range pairs {
		desc := p.Short
		if desc == "" {
			desc = p.Description
		}
		i := c.tool(toolText{p.Server, p.Name, desc, p.Params})
		f.tools = append(f.tools, i)
		for _, q := range p.Queries[:min(most, len(p.Queries))] {
			f.requests = append(f.requests, labelled{text: q, rel: []int32{i}})
		}
	}
	c.families = append(c.families, f)
	return nil
}

func (c *corpus) addArchetypes(knowledge string, hold bool) error {
	all, err := readArchetypes(knowledge)
	if err != nil {
		return err
	}
	if hold {
		for _, a := range all {
			if heldOutServer(a.Server) {
				c.apart = append(c.apart, a)
			}
		}
		all = slices.DeleteFunc(all, func(a archetype) bool { return heldOutServer(a.Server) })
	}
	f := family{name: "archetypes", weight: 1}
	kin := map[string][]int32{}
	first := int32(len(c.tools))
	for _, a := range all {
		i := c.tool(a.text())
		f.tools = append(f.tools, i)
		kin[a.Server] = append(kin[a.Server], i)
		c.extra = append(c.extra, a.Title)
	}
	for n, a := range all {
		own := []int32{first + int32(n)}
		for _, u := range slices.Concat(a.Utterances, a.Synonyms) {
			l := labelled{text: u, rel: own, kin: kin[a.Server]}
			if heldOutUtterance(u) {
				c.heldOut = append(c.heldOut, l)
			} else {
				f.requests = append(f.requests, l)
			}
		}
	}
	c.families = append(c.families, f)
	return nil
}
