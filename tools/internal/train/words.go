package train

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// addThesaurus makes a request of each term and a tool text of the terms of its group that stand close to it.
func (c *corpus) addThesaurus(knowledge string) error {
	groups, err := ReadLines[struct {
		Concept, Kind, Domain string
		Terms                 []struct {
			T string
			W float64
		}
	}](filepath.Join(knowledge, "thesaurus.jsonl"))
	if err != nil {
		return err
	}
	f := family{name: "thesaurus", weight: .5}
	for _, g := range groups {
		var near []string
		for _, t := range g.Terms {
			c.extra = append(c.extra, t.T)
			if t.W >= .8 {
				near = append(near, t.T)
			}
		}
		if len(near) == 0 {
			continue
		}
		i := c.tool(toolText{name: g.Concept, desc: strings.Join(near, ", ")})
		f.tools = append(f.tools, i)
		for _, t := range g.Terms {
			if t.W >= .8 && t.T != g.Concept {
				f.requests = append(f.requests, labelled{text: t.T, rel: []int32{i}})
			}
		}
	}
	c.families = append(c.families, f)
	return nil
}

// concept is an English word and its forms in other languages.
type concept struct {
	english string
	forms   map[string][]string // by language
}

func readLexicon(knowledge string) ([]concept, error) {
	lines, err := ReadLines[map[string]json.RawMessage](filepath.Join(knowledge, "lexicon.jsonl"))
	if err != nil {
		return nil, err
	}
	var out []concept
	for _, l := range lines {
		c := concept{forms: map[string][]string{}}
		if err := json.Unmarshal(l["en"], &c.english); err != nil {
			return nil, err
		}
		for lang, raw := range l {
			var forms []string
			if lang != "en" && lang != "pos" && json.Unmarshal(raw, &forms) == nil {
				c.forms[lang] = forms
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// addLexicon makes a request of each foreign form and a tool text of the English word.
func (c *corpus) addLexicon(knowledge string) error {
	lex, err := readLexicon(knowledge)
	if err != nil {
		return err
	}
	c.lexicon = lex
	f := family{name: "lexicon", weight: .5}
	of := map[string]int32{}
	for _, k := range lex {
		i, known := of[k.english]
		if !known {
			i = c.tool(toolText{desc: k.english})
			of[k.english] = i
			f.tools = append(f.tools, i)
		}
		for _, lang := range sortedKeys(k.forms) {
			for _, form := range k.forms[lang] {
				f.requests = append(f.requests, labelled{text: form, rel: []int32{i}})
			}
		}
	}
	c.families = append(c.families, f)
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
