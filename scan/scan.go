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

// Version is the version of the rules. It is raised whenever they find something else than before, so that tools which
// were scanned under an older version are scanned again.
const Version = 4

// Scanner scans tools one by one, beside those of other servers. It is safe for concurrent use, except for Add. The
// zero Scanner is ready to use, and compares tools with no others.
type Scanner struct {
	near  neighbours
	words sync.Pool // of *[]token: most of the allocations of a scan would be these
}

// New returns a Scanner that compares each tool with those of a catalogue: whether it uses the name of another server's
// tool, or gives orders about one. Tools that are added to the catalogue later are only seen once they are given to
// Add.
func New(known []*tool.Tool) *Scanner {
	return &Scanner{near: newNeighbours(known)}
}

// Add adds tools to those that others are compared with. They must not be among them yet, and nothing may be scanned at
// the same time.
func (s *Scanner) Add(tools []*tool.Tool) { s.near.add(tools) }

// maxText bounds how many bytes of one text are read. No longer one is served: the catalogue cuts descriptions to less,
// and replaces larger schemas.
const maxText = sanitize.MaxSchema

// maxFindings bounds how many findings are returned for one tool.
const maxFindings = 24

// Tool returns the findings in a tool, one for each rule and field, in the order of its fields; nil for a tool that is
// clean. It expects a tool as its server sent it, since cleaning removes what some rules look for. What the catalogue
// itself added, such as the category or borrowed utterances, is not read. The tool is not changed.
func (s *Scanner) Tool(t *tool.Tool) []Finding { return s.scan(t, true) }

// Texts is Tool for something else that a server offers under a name, such as a prompt: its name is not compared with
// those of tools.
func (s *Scanner) Texts(t *tool.Tool) []Finding { return s.scan(t, false) }

// scan is Tool, with or without the check of the name.
func (s *Scanner) scan(t *tool.Tool, named bool) []Finding {
	w := &work{s: s, t: t}
	if buf, ok := s.words.Get().(*[]token); ok {
		w.words = *buf
	}
	defer func() { s.words.Put(&w.words) }()
	w.named, w.topic = w.topicOf(t)
	w.gatherTexts()
	for _, x := range w.texts {
		w.checkText(x)
	}
	w.sumClues()
	w.findAcrossTexts()
	if named {
		w.checkNames()
	}
	if w.exhibits() {
		for i, f := range w.found {
			if isExhibit(f) {
				w.found[i].Severity = Low
			}
		}
	}
	if !slices.ContainsFunc(w.found, func(f Finding) bool { return f.Rule != "addressed" }) {
		for i := range w.found { // "Note to LLM: dates are in UTC" is a remark
			w.found[i].Severity = Low
		}
	}
	return w.found
}

// Tools scans tools on all processors and returns what Tool returns for each, by the same index.
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

// work is the state of one scan of one tool. It is used by one goroutine.
type work struct {
	s         *Scanner
	t         *tool.Tool
	named     classes // what the tool is about by the names of it and its server, and its title
	stated    classes // the same, with the first sentence of its description
	topic     classes // the same, with the first 600 bytes of its description
	param     classes // what the parameter being scanned is about; set by phrases
	texts     []text
	found     []Finding
	clues     []clue  // of the last sentences; older ones are dropped
	summed    []clue  // the first clues that were enough together; nil so far
	sentences int     // how many were read so far, in all texts
	words     []token // of the text being scanned; the slice is reused for the next
	before    []token // those of the sentence before, in the same text
	scored    float32 // what the model for results said of the sentence before
	hashes    [][]uint64
	hits      []hit // every match, in place of findings and clues; nil for a tool
	depth     int   // how often the text was decoded; 0 for the tool's own texts
}

// gatherTexts lists all texts of the tool in the order in which findings are reported. An identifier that reads as a
// sentence is listed as one, too.
func (w *work) gatherTexts() {
	t := w.t
	add := func(x text) {
		if len(x.text) > maxText {
			x.text = strings.ToValidUTF8(x.text[:maxText], "")
		}
		w.texts = append(w.texts, x)
		if s := identifierSentence(x.text); s != "" {
			at := value
			if strings.Count(s, " ") < longName-2 {
				at = output // where short phrases without a verb, as of parameters, are seldom taken for orders
			}
			w.texts = append(w.texts, text{at, x.field, s})
		} else if x.place == key && (len(x.text) > shortText || strings.Contains(x.text, " ")) {
			w.texts = append(w.texts, text{value, x.field, x.text})
		}
	}
	if s := identifierSentence(t.Name); s != "" {
		w.texts = append(w.texts, text{value, "name", s})
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
		w.addJSONTexts("examples", e.Invocation, value, add)
	}
	w.addJSONTexts("inputSchema", t.InputSchema, parameter, add)
	w.addJSONTexts("outputSchema", t.OutputSchema, output, add)
	w.addJSONTexts("_meta", t.Meta, value, add)
	w.addJSONTexts("icons", t.Icons, value, add)
}

// addJSONTexts adds the strings of raw. Where raw is not JSON, it is scanned as one text.
func (w *work) addJSONTexts(root string, raw json.RawMessage, under place, add func(text)) {
	switch {
	case len(raw) == 0:
	case len(raw) > sanitize.MaxSchema: // schemas of this size are not served either
	case json.Valid(raw):
		walkStrings(root, raw, under, add)
	default:
		add(text{value, root, strings.ToValidUTF8(string(raw), "\uFFFD")})
	}
}

// checkText runs all checks on one text. Hidden characters come first, since the other checks read the text without
// them; shadows and encoded use the words that phrases leaves in w.words.
func (w *work) checkText(x text) {
	if hasUnusualByte(x.text) {
		if !utf8.ValidString(x.text) {
			x.text = strings.ToValidUTF8(x.text, "\uFFFD")
		}
		x.text = w.findHidden(x)
	}
	w.findPadding(x)
	w.findMarkup(x)
	w.findInComments(x)
	w.matchPatterns(x)
	w.findEncoded(x)
	w.findShadowing(x)
}

// addFinding notes a finding, once for each rule and field, up to maxFindings.
func (w *work) addFinding(rule, field, excerpt string) {
	if w.hits != nil {
		w.hits = append(w.hits, hit{rule: rule, excerpt: excerpt, worth: enough, at: w.sentences})
		return
	}
	if len(w.found) >= maxFindings || slices.ContainsFunc(w.found, func(f Finding) bool {
		return f.Rule == rule && f.Field == field
	}) {
		return
	}
	r := ruleOf(rule)
	w.found = append(w.found, Finding{
		Rule: r.ID, Severity: r.Severity, Field: field, Excerpt: excerptOf(excerpt),
		Why: r.Why, Remedy: r.Remedy,
	})
}
