package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLine bounds one line of a knowledge file; the longest archetype is a tenth of it.
const maxLine = 64 << 10

// archetype is one line of an archetype file. The order of the fields is the order of the keys.
type archetype struct {
	Server      string   `json:"server"`
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Params      []string `json:"params"`
	Category    string   `json:"category"`
	Synonyms    []string `json:"synonyms"`
	Utterances  []string `json:"utterances"`

	at place
}

// id names the archetype in findings.
func (a *archetype) id() string { return a.Server + "/" + a.Name }

// group is one line of the thesaurus.
type group struct {
	Concept string `json:"concept"`
	Kind    string `json:"kind"`
	Terms   []term `json:"terms"`
	Domain  string `json:"domain"`

	at place
}

type term struct {
	Text   string  `json:"t"`
	Weight float64 `json:"w"`
}

// object is one line of objects.jsonl, operation one of operations.jsonl.
type object struct {
	Domain string   `json:"domain"`
	Object string   `json:"object"`
	Words  []string `json:"words"`
}

type operation struct {
	Operation string   `json:"operation"`
	Phrases   []string `json:"phrases"`
}

// glossed is an object or an operation with what people say for it.
type glossed struct {
	domain string // "" for an operation
	name   string
	said   []string
	at     place
}

// entry is one line of the lexicon: a concept in English and its forms by language, in the order of the line.
type entry struct {
	English string
	Pos     string
	Forms   map[string][]string

	keys []string
	at   place
}

// place is where a line stands, for findings.
type place struct {
	file string // relative to the data folder, with slashes
	line int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// domain is the folder of an archetype file.
func (p place) domain() string { return path.Base(path.Dir(p.file)) }

// corpus is everything in a data folder. Lines that cannot be decoded are in broken and nowhere else.
type corpus struct {
	archetypes []*archetype // by file, then line
	groups     []*group
	glossary   []glossed // objects, then operations
	entries    []*entry
	sizes      map[string]int // bytes by archetype file
	broken     []finding

	words map[*archetype][]map[string]bool // content words by utterance, once asked for
}

// utteranceWords returns the content words of every utterance of an archetype. They are made at the first call, for
// all archetypes: four rules look at them.
func (c *corpus) utteranceWords(a *archetype) []map[string]bool {
	if c.words == nil {
		an := newAnalyser()
		c.words = make(map[*archetype][]map[string]bool, len(c.archetypes))
		for _, a := range c.archetypes {
			sets := make([]map[string]bool, len(a.Utterances))
			for i, u := range a.Utterances {
				sets[i] = an.content(u)
			}
			c.words[a] = sets
		}
	}
	return c.words[a]
}

// servers returns the archetypes by server, each list in corpus order, and the names of the servers sorted.
func (c *corpus) servers() (map[string][]*archetype, []string) {
	by := make(map[string][]*archetype)
	var names []string
	for _, a := range c.archetypes {
		if by[a.Server] == nil {
			names = append(names, a.Server)
		}
		by[a.Server] = append(by[a.Server], a)
	}
	slices.Sort(names)
	return by, names
}

// load reads a data folder. It fails only where a file cannot be read; what is wrong inside a file is a finding.
func load(dir string) (*corpus, error) {
	c := &corpus{sizes: make(map[string]int)}
	files, err := archetypeFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := c.readArchetypes(dir, f); err != nil {
			return nil, err
		}
	}
	if err := c.readGlossaries(dir); err != nil {
		return nil, err
	}
	err = eachLine(dir, "thesaurus.jsonl", func(at place, line []byte) {
		g := &group{at: at}
		if c.decode(at, line, g) {
			c.groups = append(c.groups, g)
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachLine(dir, "lexicon.jsonl", func(at place, line []byte) {
		e, err := decodeEntry(at, line)
		if err != nil {
			c.breakAt(at, err)
			return
		}
		c.entries = append(c.entries, e)
	})
	return c, err
}

// readGlossaries reads objects.jsonl and operations.jsonl, either of which may be absent.
func (c *corpus) readGlossaries(dir string) error {
	err := eachLine(dir, "objects.jsonl", func(at place, line []byte) {
		var o object
		if c.decode(at, line, &o) {
			c.glossary = append(c.glossary, glossed{domain: o.Domain, name: o.Object, said: o.Words, at: at})
		}
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = eachLine(dir, "operations.jsonl", func(at place, line []byte) {
		var o operation
		if c.decode(at, line, &o) {
			c.glossary = append(c.glossary, glossed{name: o.Operation, said: o.Phrases, at: at})
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// archetypeFiles lists archetypes/<domain>/<name>.jsonl relative to dir, sorted.
func archetypeFiles(dir string) ([]string, error) {
	var files []string
	err := fs.WalkDir(os.DirFS(dir), "archetypes", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list archetypes: %w", err)
	}
	return files, nil
}

func (c *corpus) readArchetypes(dir, file string) error {
	return eachLine(dir, file, func(at place, line []byte) {
		c.sizes[file] += len(line) + 1
		a := &archetype{at: at}
		if c.decode(at, line, a) {
			c.archetypes = append(c.archetypes, a)
		}
	})
}

// decode fills v from a line and reports whether it could. A line that is not in canonical form is a finding but
// is used, so that one wrong space does not hide what else is wrong.
func (c *corpus) decode(at place, line []byte, v any) bool {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		c.breakAt(at, err)
		return false
	}
	if dec.More() {
		c.breakAt(at, errors.New("more than one value on the line"))
		return false
	}
	want, err := canonical(v)
	if err != nil {
		c.breakAt(at, err)
		return false
	}
	if !bytes.Equal(want, line) {
		c.broken = append(c.broken, finding{
			at: at, rule: "canonical",
			msg: "keys in another order, a key twice or missing, or spaces between them; run with -fmt",
		})
	}
	return true
}

func (c *corpus) breakAt(at place, err error) {
	c.broken = append(c.broken, finding{at: at, rule: "schema", msg: err.Error()})
}

// canonical is the one way a value is written: compact, keys in the order of the struct, nothing escaped that JSON
// does not require.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decodeEntry keeps the keys in order, which a map would lose.
func decodeEntry(at place, line []byte) (*entry, error) {
	e := &entry{Forms: make(map[string][]string), at: at}
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("a lexicon line is an object")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // a key of an object is always a string
		e.keys = append(e.keys, key)
		switch key {
		case "en":
			err = dec.Decode(&e.English)
		case "pos":
			err = dec.Decode(&e.Pos)
		default:
			var forms []string
			err = dec.Decode(&forms)
			e.Forms[key] = forms
		}
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", key, err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return e, nil
}

// eachLine calls fn with every line of a file, without its line feed. The slice is valid until fn returns.
func eachLine(dir, file string, fn func(place, []byte)) (err error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return lines(f, file, fn)
}

func lines(r io.Reader, file string, fn func(place, []byte)) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 8<<10), maxLine)
	for n := 1; sc.Scan(); n++ {
		fn(place{file: file, line: n}, sc.Bytes())
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// formatArchetypes rewrites every archetype file sorted by server and name, in canonical JSON. It stops at the first
// line that is not an archetype and leaves that file alone.
func formatArchetypes(dir string) error {
	files, err := archetypeFiles(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := formatFile(dir, f); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	return nil
}

func formatFile(dir, file string) error {
	c := &corpus{sizes: make(map[string]int)}
	if err := c.readArchetypes(dir, file); err != nil {
		return err
	}
	for _, b := range c.broken {
		if b.rule == "schema" {
			return errors.New(b.String())
		}
	}
	slices.SortStableFunc(c.archetypes, byServerAndName)
	var out bytes.Buffer
	for _, a := range c.archetypes {
		line, err := canonical(a)
		if err != nil {
			return err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	full := filepath.Join(dir, filepath.FromSlash(file))
	old, err := os.ReadFile(full)
	if err != nil || bytes.Equal(old, out.Bytes()) {
		return err
	}
	return os.WriteFile(full, out.Bytes(), 0o644)
}

func byServerAndName(a, b *archetype) int {
	if n := strings.Compare(a.Server, b.Server); n != 0 {
		return n
	}
	return strings.Compare(a.Name, b.Name)
}
