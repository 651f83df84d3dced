package scan

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Version is that of the rules: it is raised when they find something else than before, so that tools are looked at
// again.
const Version = 2

// Scanner looks at tools one by one, beside those of other servers. It is not changed once it is made, and safe for
// concurrent use. The zero Scanner knows no other tools.
type Scanner struct {
	near  neighbours
	words sync.Pool // of *[]token, since most of the work would be to make them
}

// New makes a Scanner that knows the tools of a catalogue, against which a tool is held that has another server's name
// or speaks of another server's tools.
func New(known []*tool.Tool) *Scanner {
	return &Scanner{near: newNeighbours(known)}
}

// maxText bounds how much of one text is read; the catalogue cuts texts to less before they are served.
const maxText = 256 << 10

// maxFindings bounds how many findings of one tool are told.
const maxFindings = 24

// Tool returns what is found in a tool, one finding of each rule and field, in the order of its fields; nil for a tool
// that is clean. It takes a tool as its server sent it: cleaning removes what some rules look for. What comes from its
// own catalogue, as the category or borrowed utterances, is not read.
func (s *Scanner) Tool(t *tool.Tool) []Finding {
	w := &work{s: s, t: t}
	if buf, ok := s.words.Get().(*[]token); ok {
		w.words = *buf
	}
	defer func() { s.words.Put(&w.words) }()
	w.named, w.topic = w.topicOf(t)
	w.gather()
	for _, x := range w.texts {
		w.text(x)
	}
	w.sum()
	w.joined()
	w.names()
	return w.found
}

// Tools returns what Tool finds in each of tools, which are scanned on all processors.
func (s *Scanner) Tools(tools []*tool.Tool) [][]Finding {
	found := make([][]Finding, len(tools))
	var (
		next  atomic.Int64
		group sync.WaitGroup
	)
	for range min(runtime.GOMAXPROCS(0), 1+len(tools)/32) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(tools); i = int(next.Add(1)) - 1 {
				found[i] = s.Tool(tools[i])
			}
		})
	}
	group.Wait()
	return found
}

// work is one look at one tool.
type work struct {
	s         *Scanner
	t         *tool.Tool
	named     classes // what the tool is about by its name
	stated    classes // and by its first sentence
	topic     classes // and by what it says of itself
	param     classes // what the parameter at hand is about by its name
	texts     []text
	found     []Finding
	clues     []clue // of the last sentences
	summed    []clue // the first that were enough together
	sentences int    // that were read so far
	words     []token
	depth     int // of what was decoded
}

// gather lists all texts of the tool.
func (w *work) gather() {
	t := w.t
	add := func(x text) {
		if len(x.text) > maxText {
			x.text = strings.ToValidUTF8(x.text[:maxText], "")
		}
		w.texts = append(w.texts, x)
	}
	for _, x := range []text{
		{described, "title", t.Title},
		{described, "summary", t.Summary},
		{described, "description", t.Description},
	} {
		if x.text != "" {
			add(x)
		}
	}
	if t.Annotations != nil && t.Annotations.Title != "" && t.Annotations.Title != t.Title {
		add(text{described, "annotations.title", t.Annotations.Title})
	}
	for _, e := range t.Examples {
		add(text{value, "examples", e.Description})
		add(text{value, "examples", e.Output})
		w.json("examples", e.Invocation, value, add)
	}
	w.json("inputSchema", t.InputSchema, parameter, add)
	w.json("outputSchema", t.OutputSchema, output, add)
	w.json("_meta", t.Meta, value, add)
}

// json adds the strings of raw, or raw itself where it is not JSON.
func (w *work) json(root string, raw json.RawMessage, under place, add func(text)) {
	switch {
	case len(raw) == 0:
	case len(raw) > sanitize.MaxSchema: // it is not served either
	case json.Valid(raw):
		walk(root, raw, under, add)
	default:
		add(text{value, root, strings.ToValidUTF8(string(raw), "\uFFFD")})
	}
}

// text looks at one text.
func (w *work) text(x text) {
	if conceals(x.text) {
		if !utf8.ValidString(x.text) {
			x.text = strings.ToValidUTF8(x.text, "\uFFFD")
		}
		x.text = w.hidden(x)
	}
	w.padding(x)
	w.markup(x)
	w.comments(x)
	w.phrases(x)
	w.encoded(x)
	w.shadows(x)
}

// add notes a finding, once for each rule and field.
func (w *work) add(rule, field, excerpt string) {
	if len(w.found) >= maxFindings || slices.ContainsFunc(w.found, func(f Finding) bool {
		return f.Rule == rule &&
			f.Field == field
	}) {
		return
	}
	r := ruleOf(rule)
	w.found = append(w.found, Finding{
		Rule: r.ID, Severity: r.Severity, Field: field, Excerpt: excerptOf(excerpt),
		Why: r.Why, Remedy: r.Remedy,
	})
}
