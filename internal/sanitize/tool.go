package sanitize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tooldex/tool"
)

// The limits of a tool. For comparison, the longest description of a widely used server has 13 thousand bytes.
const (
	MaxDescription = 64 << 10  // bytes of a description; a longer one is cut
	MaxText        = 4 << 10   // bytes of any other text, and entries of any list; longer ones are cut
	MaxSchema      = 1 << 20   // bytes of a schema; a larger one is replaced by one that takes any object
	MaxName        = 1 << 10   // bytes of a name; a tool with a longer one is refused
	maxExtra       = 256 << 10 // bytes of _meta and of icons; larger ones are left out
)

// Finding is a problem of a tool that was repaired, or because of which it was refused.
type Finding struct {
	Tool    tool.ID `json:"tool,omitempty"`
	Field   string  `json:"field,omitempty"`   // as in JSON: "description", "inputSchema"
	Problem string  `json:"problem"`           // what is wrong
	Repair  string  `json:"repair"`            // what was done about it
	Refused bool    `json:"refused,omitempty"` // the tool, or this part of it, is left out
}

// String returns the finding on one line.
func (f Finding) String() string {
	s := f.Problem + ": " + f.Repair
	if f.Field != "" {
		s = f.Field + ": " + s
	}
	if f.Tool != "" {
		s = string(f.Tool) + ": " + s
	}
	return s
}

// Tool makes t fit to be served, and returns what it changed. It changes t itself, and replaces slices rather than
// writing to them. The error is Invalid for a tool that cannot be served at all: one without a name, with a name that
// hides characters, or with a declared summary that is too long; t is then half done and of no use.
//
// Texts lose control characters (but for line breaks and tabs) and characters that are invisible or change the
// direction of what follows, with which a description can show a person one thing and a model another. A schema that is
// not a JSON object is replaced by {"type":"object"}; one that is, is kept byte for byte, whatever it says: references
// that run in a circle are legal, and nothing here follows them. A missing summary is derived. A name that clients do
// not accept is kept, since the server knows the tool by it; [ExposedNames] repairs what clients see.
func Tool(t *tool.Tool) ([]Finding, error) {
	// The name is checked first: findings refer to the tool by it.
	c := &cleaner{t: t}
	if err := c.checkName(); err != nil {
		return nil, err
	}
	c.cleanTexts()
	// A summary that is declared and too long is the author's mistake, which cutting would hide.
	if err := CheckSummary(t.ID(), t.Summary); err != nil {
		return nil, err
	}
	c.cleanSchemas()
	c.cleanLists()
	if t.Summary == "" {
		t.Summary = DeriveSummary(t.Description)
	}
	if t.Summary == "" {
		t.Summary = DeriveSummary(t.Title)
	}
	return c.found, nil
}

// cleaner cleans one tool and collects the findings.
type cleaner struct {
	t     *tool.Tool
	found []Finding
}

// addNote records one finding about the tool: what was wrong with a field, and what was done.
func (c *cleaner) addNote(field, problem, repair string) {
	c.found = append(c.found, Finding{Tool: c.t.ID(), Field: field, Problem: problem, Repair: repair})
}

// checkName refuses names that cannot be served, and notes those that clients see in another form.
func (c *cleaner) checkName() error {
	name := c.t.Name
	bad := func(msg string) error {
		return &tool.Error{Code: tool.Invalid, Op: "check tool", Msg: "tool " + quoteStart(name) + " of " +
			quoteStart(c.t.Server) + " " + msg, Hint: "rename it at its server"}
	}
	switch {
	case name == "":
		return bad("has no name")
	case len(name) > MaxName:
		return bad(fmt.Sprintf("has a name of %d bytes, at most %d are allowed", len(name), MaxName))
	case !utf8.ValidString(name):
		return bad("has a name that is not UTF-8")
	case HasHidden(name):
		return bad("has control or invisible characters in its name")
	}
	if tool.ExposedNames([]*tool.Tool{{Name: name}}, "{name}")[0] != name {
		c.addNote("name", "clients do not accept "+quoteStart(name),
			"kept; clients see a name of letters, digits, _ and -")
	}
	return nil
}

// cleanTexts cleans all single texts. Annotations are copied first, since the source may share them.
func (c *cleaner) cleanTexts() {
	t := c.t
	t.Title = c.cleanLine("title", t.Title)
	t.Summary = c.cleanLine("summary", t.Summary)
	t.Category = c.cleanLine("category", t.Category)
	t.Deprecated = c.cleanLine("deprecated", t.Deprecated)
	t.Description = c.cleanText("description", t.Description, MaxDescription)
	if t.Annotations != nil {
		a := *t.Annotations
		a.Title = c.cleanLine("annotations.title", a.Title)
		t.Annotations = &a
	}
}

// cleanLists cleans all lists, as copies. Empty texts are dropped, and empty lists become nil.
func (c *cleaner) cleanLists() {
	t := c.t
	t.Keywords = c.cleanLines("keywords", t.Keywords)
	t.Synonyms = c.cleanLines("synonyms", t.Synonyms)
	t.Examples = boundedCopy(c, "examples", t.Examples)
	for i, e := range t.Examples {
		if e.Invocation != nil && !isObject(e.Invocation) {
			c.addNote("examples", "an invocation is not a JSON object", "left out")
			e.Invocation = nil
		}
		t.Examples[i] = tool.Example{
			Description: c.cleanLine("examples", e.Description), Invocation: e.Invocation,
			Output: c.cleanText("examples", e.Output, MaxText),
		}
	}
	var utterances []tool.Utterance
	for _, u := range boundedCopy(c, "utterances", t.Utterances) {
		if u.Text = c.cleanLine("utterances", u.Text); u.Text != "" {
			utterances = append(utterances, u)
		}
	}
	t.Utterances = utterances
	if t.Related = boundedCopy(c, "related", t.Related); len(t.Related) == 0 {
		t.Related = nil
	}
	if len(t.Examples) == 0 {
		t.Examples = nil
	}
}

// cleanLines returns a cleaned copy of in, without lines that are empty after cleaning.
func (c *cleaner) cleanLines(field string, in []string) []string {
	var out []string
	for _, s := range boundedCopy(c, field, in) {
		if s = c.cleanLine(field, s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// boundedCopy returns a copy of at most MaxText entries, and notes if there were more.
func boundedCopy[T any](c *cleaner, field string, in []T) []T {
	if len(in) > MaxText {
		c.addNote(field, fmt.Sprintf("has %d entries", len(in)), fmt.Sprintf("cut to %d", MaxText))
		in = in[:MaxText]
	}
	return append([]T(nil), in...)
}

// cleanLine is text without line breaks: each run of white space becomes one space.
func (c *cleaner) cleanLine(field, s string) string {
	return strings.Join(strings.Fields(c.cleanText(field, s, MaxText)), " ")
}

// cleanText cuts s to most bytes and removes what is hidden in it. Line breaks become \n.
func (c *cleaner) cleanText(field, s string, most int) string {
	out := s
	if len(out) > most {
		out = Cut(out, most)
		c.addNote(field, fmt.Sprintf("has %d bytes", len(s)), fmt.Sprintf("cut to %d", len(out)))
	}
	// a quick test that most texts pass
	if printableASCII(out) {
		return out
	}
	fixed := strings.ToValidUTF8(out, "\uFFFD")
	if fixed != out {
		c.addNote(field, "is not UTF-8", "replaced what is not")
	}
	fixed = strings.ReplaceAll(fixed, "\r\n", "\n")
	// One variation selector after a character is legitimate, as in emoji. Further ones can carry hidden data.
	removed, selectors := 0, 0
	fixed = strings.Map(func(r rune) rune {
		if isVariationSelector(r) {
			if selectors++; selectors > 1 {
				removed++
				return -1
			}
			return r
		}
		selectors = 0
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) || isHidden(r):
			removed++
			return -1
		}
		return r
	}, fixed)
	if removed > 0 {
		c.addNote(field, "holds control, invisible or direction-changing characters", fmt.Sprintf("removed %d",
			removed))
	}
	return fixed
}

// Text returns a text of a server that is no part of a tool, cleaned as those of tools are and cut to most bytes.
func Text(s string, most int) string {
	return strings.TrimSpace((&cleaner{t: &tool.Tool{}}).cleanText("", s, most))
}

// cleanSchemas cleans schemas, _meta and icons. A missing input schema becomes one that accepts any object, because MCP
// requires one.
func (c *cleaner) cleanSchemas() {
	t := c.t
	t.InputSchema = c.cleanSchema("inputSchema", t.InputSchema)
	if t.InputSchema == nil {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	t.OutputSchema = c.cleanSchema("outputSchema", t.OutputSchema)
	t.Meta = c.cleanExtra("_meta", t.Meta)
	t.Icons = c.cleanExtra("icons", t.Icons)
}

// cleanSchema returns raw if it can be kept, and nil otherwise. Only invalid UTF-8 in it is replaced.
func (c *cleaner) cleanSchema(field string, raw json.RawMessage) json.RawMessage {
	repair := `replaced by {"type":"object"}`
	if field == "outputSchema" {
		repair = "left out"
	}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		if field == "inputSchema" {
			c.addNote(field, "is missing", repair)
		}
		return nil
	case len(raw) > MaxSchema:
		c.addNote(field, fmt.Sprintf("has %d bytes", len(raw)), repair)
		return nil
	case !isObject(raw):
		c.addNote(field, "is not a JSON object", repair)
		return nil
	case !utf8.Valid(raw):
		c.addNote(field, "is not UTF-8", "replaced what is not")
		return bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	// Schemas are validated and shown byte for byte, so the finding is all that is done here; trust may hold the tool
	// for it.
	if hasHidden(raw) {
		c.addNote(field, "holds invisible or direction-changing characters",
			"kept, since schemas are kept byte for byte")
	}
	return raw
}

// cleanExtra returns _meta or icons if they can be kept, and nil otherwise.
func (c *cleaner) cleanExtra(field string, raw json.RawMessage) json.RawMessage {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case len(raw) > maxExtra:
		c.addNote(field, fmt.Sprintf("has %d bytes", len(raw)), "left out")
		return nil
	case !json.Valid(raw) || !utf8.Valid(raw):
		c.addNote(field, "is not JSON", "left out")
		return nil
	}
	return raw
}

// isObject reports whether raw is a JSON object and nothing else.
func isObject(raw []byte) bool {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(raw)
}

// quoteStart returns the beginning of a name in quotes, for an error or a finding.
func quoteStart(s string) string { return strconv.Quote(Clip(s, 80)) }
