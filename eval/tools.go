package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"tooldex/tool"
)

// noServer is the server of tools whose set names none.
const noServer = "set"

// rawTool is a tool as a line of tools.jsonl has it. Only what a search reads is stored: output schemas and metadata
// would make sets larger without changing a figure.
type rawTool struct {
	Name        string            `json:"name"`
	Server      string            `json:"server"`
	Title       string            `json:"title,omitempty"`
	Category    string            `json:"category,omitempty"`
	Summary     string            `json:"summary,omitempty"`
	Description string            `json:"description"`
	Parameters  json.RawMessage   `json:"parameters,omitempty"`
	Annotations *tool.Annotations `json:"annotations,omitempty"`
	Keywords    []string          `json:"keywords,omitempty"`
	Synonyms    []string          `json:"synonyms,omitempty"`
	Examples    []tool.Example    `json:"examples,omitempty"`
	Utterances  []tool.Utterance  `json:"utterances,omitempty"`
	NoBorrow    bool              `json:"noBorrow,omitempty"`
}

// WriteTools writes tools as the tools.jsonl of a set, with all that a search reads of them, and calls each as
// ToolLabel does. Load gives them back with the same IDs. Disabled tools are left out, since nothing finds them.
func WriteTools(w io.Writer, tools []*tool.Tool) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for _, t := range tools {
		if t.Disabled {
			continue
		}
		raw := rawTool{
			Name: ToolLabel(t.ID()), Server: t.Server, Title: t.Title, Category: declaredCategory(t), Summary: t.Summary,
			Description: t.Description,
			Parameters:  t.InputSchema, Annotations: t.Annotations, Keywords: t.Keywords, Synonyms: t.Synonyms,
			Examples: t.Examples, Utterances: t.Utterances, NoBorrow: t.NoBorrow,
		}
		if err := enc.Encode(raw); err != nil {
			return fmt.Errorf("write %s: %w", t.ID(), err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write tools: %w", err)
	}
	return nil
}

// ToolLabel returns the name that WriteTools gives a tool: "server__name".
func ToolLabel(id tool.ID) string { return id.Server() + "__" + id.Name() }

// readTools fills Tools, labels, known and Notes from toolsFile; file is its name in errors.
func (d *Dataset) readTools(fsys fs.FS, file string) error {
	f, err := fsys.Open(toolsFile)
	if err != nil {
		return missingFile(file, err)
	}
	defer func() { _ = f.Close() }() // it was only read: nothing can be lost
	d.labels, d.known = map[tool.ID]string{}, map[string]bool{}
	seen := map[tool.ID]seenTool{}
	err = eachLine(f, file, func(line int, b []byte) error {
		var raw rawTool
		if err := json.Unmarshal(b, &raw); err != nil {
			return badLine(file, line, "tool cannot be read", "", err)
		}
		if raw.Name == "" {
			return badLine(file, line, "tool has no name", `give it as "name"`, nil)
		}
		d.addTool(&raw, file, line, seen)
		return nil
	})
	if err == nil && len(d.Tools) == 0 {
		return badLine(file, 1, "set has no tools", "", nil)
	}
	return err
}

// seenTool is where an ID first occurred, and with what content.
type seenTool struct {
	line int
	hash tool.Hash
}

// addTool appends a tool unless it repeats an earlier one in every respect. One with the same ID but other content is
// kept under a numbered name. Either is noted.
func (d *Dataset) addTool(raw *rawTool, file string, line int, seen map[tool.ID]seenTool) {
	t := raw.toTool()
	hash, id := t.Hash(), t.ID()
	if before, ok := seen[id]; ok {
		at := file + ":" + strconv.Itoa(line) + ": "
		repeats := strconv.Quote(raw.Name) + " repeats line " + strconv.Itoa(before.line)
		// An exact repeat is dropped: it would only compete with itself.
		if before.hash == hash && d.labels[id] == raw.Name {
			d.Notes = append(d.Notes, at+repeats+", dropped")
			return
		}
		plain := t.Name
		for n := 2; ok; n++ {
			t.Name = plain + "#" + strconv.Itoa(n)
			id = t.ID()
			_, ok = seen[id]
		}
		d.Notes = append(d.Notes, at+repeats+" with other content, kept as "+strconv.Quote(t.Name))
	}
	seen[id] = seenTool{line, hash}
	d.labels[id], d.known[raw.Name] = raw.Name, true
	d.Tools = append(d.Tools, t)
}

// toTool returns the tool of a line. Its strings and slices are shared with raw.
func (raw *rawTool) toTool() *tool.Tool {
	t := &tool.Tool{
		Server: strings.ReplaceAll(raw.Server, "/", "_"), // an ID ends its server at the first slash
		Name:   bareName(raw.Server, raw.Name), Title: raw.Title, Category: raw.Category,
		Summary: raw.Summary, Description: raw.Description, Annotations: raw.Annotations,
		Keywords: raw.Keywords, Synonyms: raw.Synonyms, Examples: raw.Examples, Utterances: raw.Utterances,
		NoBorrow: raw.NoBorrow,
	}
	if t.Server == "" {
		t.Server = noServer
	}
	if len(raw.Parameters) > 0 && !bytes.Equal(raw.Parameters, []byte("null")) {
		t.InputSchema = raw.Parameters
	}
	return t
}

// bareName drops the server's name and "__" from the front of a tool's, where something is left. Sets that make names
// fit for clients spell the server differently there ("My API" as "My_API"), so only letters and digits are compared.
func bareName(server, name string) string {
	if rest, ok := strings.CutPrefix(name, server+"__"); ok && server != "" && rest != "" {
		return rest
	}
	// Every "__" is tried as the end of the server's name, since the name itself may have one.
	want := lettersAndDigits(server)
	if want == "" {
		return name
	}
	for i := 0; ; {
		n := strings.Index(name[i:], "__")
		if n < 0 || i+n+2 >= len(name) {
			return name
		}
		if lettersAndDigits(name[:i+n]) == want {
			return name[i+n+2:]
		}
		i += n + 1
	}
}

// lettersAndDigits returns the letters and digits of s in lower case.
func lettersAndDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// declaredCategory returns the category of a tool, "" for one that is derived: a set has what the sources say.
func declaredCategory(t *tool.Tool) string {
	if t.CategoryDerived {
		return ""
	}
	return t.Category
}
