package knowledge

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Archetype is a tool as servers of its kind have it, in this project's own words.
type Archetype struct {
	Server      string   `json:"server"`
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Params      []string `json:"params"` // "name: text"
	Category    string   `json:"category"`
	Synonyms    []string `json:"synonyms"`
	Utterances  []string `json:"utterances"` // requests that such a tool answers, from near its wording to far from it
	Domain      string   `json:"-"`          // folder that it lies in
}

// Group is a set of terms that can stand for one concept, each with how well it does (1 is the same thing).
type Group struct {
	Concept string `json:"concept"`
	Kind    string `json:"kind"` // verb, noun, product, abbreviation, effect
	Terms   []struct {
		Text   string  `json:"t"`
		Weight float64 `json:"w"`
	} `json:"terms"`
	Domain string `json:"domain"`
}

// Source is the knowledge as people write and review it: the folder knowledge/data.
type Source struct {
	Archetypes []Archetype // by server, then name
	Objects    []Object
	Operations []Operation
	Thesaurus  []Group
	Lexicon    []map[string][]string // language code to forms; "en" has one form, the concept
	Hash       [sha256.Size]byte     // of all that was read
}

// ReadSource reads archetypes/*/*.jsonl, thesaurus.jsonl and lexicon.jsonl below dir, and the glossaries objects.jsonl
// and operations.jsonl, which may be absent. An error names the file and line.
func ReadSource(dir fs.FS) (*Source, error) {
	files, err := fs.Glob(dir, "archetypes/*/*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("list archetypes: %w", err)
	}
	slices.Sort(files)
	src, hash := &Source{}, sha256.New()
	for _, name := range append(files, "objects.jsonl", "operations.jsonl", "thesaurus.jsonl", "lexicon.jsonl") {
		data, err := fs.ReadFile(dir, name)
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, "o") {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read knowledge: %w", err)
		}
		hash.Write(data)
		if err := src.readLines(name, data); err != nil {
			return nil, err
		}
	}
	hash.Sum(src.Hash[:0])
	slices.SortStableFunc(src.Archetypes, func(a, b Archetype) int {
		return slices.Compare([]string{a.Server, a.Name}, []string{b.Server, b.Name})
	})
	return src, nil
}

// readLines reads one file of JSON lines, of at most 1 MiB each. Errors name the file and the line.
func (src *Source) readLines(name string, data []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	n := 1
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := src.readLine(name, line); err != nil {
			return fmt.Errorf("%s line %d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s line %d: %w", name, n, err)
	}
	return nil
}

func (src *Source) readLine(name string, line []byte) error {
	switch name {
	case "objects.jsonl":
		var o Object
		if err := json.Unmarshal(line, &o); err != nil {
			return err
		}
		src.Objects = append(src.Objects, o)
	case "operations.jsonl":
		var o Operation
		if err := json.Unmarshal(line, &o); err != nil {
			return err
		}
		src.Operations = append(src.Operations, o)
	case "thesaurus.jsonl":
		var g Group
		if err := json.Unmarshal(line, &g); err != nil {
			return err
		}
		src.Thesaurus = append(src.Thesaurus, g)
	case "lexicon.jsonl":
		var raw map[string]json.RawMessage
		if err := json.Unmarshal(line, &raw); err != nil {
			return err
		}
		entry, err := lexiconEntry(raw)
		if err != nil {
			return err
		}
		src.Lexicon = append(src.Lexicon, entry)
	default:
		var a Archetype
		if err := json.Unmarshal(line, &a); err != nil {
			return err
		}
		a.Domain = path.Base(path.Dir(name))
		src.Archetypes = append(src.Archetypes, a)
	}
	return nil
}

// lexiconEntry reads the forms of one entry of the lexicon, by language.
func lexiconEntry(raw map[string]json.RawMessage) (map[string][]string, error) {
	entry := make(map[string][]string, len(raw))
	for lang, value := range raw {
		switch lang {
		case "pos":
		case "en":
			var concept string
			if err := json.Unmarshal(value, &concept); err != nil {
				return nil, err
			}
			entry[lang] = []string{concept}
		default:
			var forms []string
			if err := json.Unmarshal(value, &forms); err != nil {
				return nil, fmt.Errorf("language %s: %w", lang, err)
			}
			entry[lang] = forms
		}
	}
	if len(entry["en"]) == 0 {
		return nil, fmt.Errorf("entry without %q", "en")
	}
	return entry, nil
}
