package enrich

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"tooldex/catalog"
	"tooldex/internal/sanitize"
	"tooldex/knowledge"
	"tooldex/tool"
)

// ProposalFile is the form of a file of proposals: one entry for each tool.
type ProposalFile struct {
	Enrich []ProposalEntry `yaml:"enrich"`
}

// ProposalEntry is a proposal in a file. Description and Parameters inform the writer, and are ignored when the file is
// read.
type ProposalEntry struct {
	tool.Proposal `yaml:",inline"`
	Description   string   `yaml:"description,omitempty"`
	Parameters    []string `yaml:"parameters,omitempty,flow"`
}

// maxProposals bounds the tools of one file, and maxProposalFile its bytes.
const (
	maxProposals    = 10_000
	maxProposalFile = 16 << 20
)

// ParseProposals reads a file of proposals, in YAML or JSON. It does not check their texts, which Propose does. The
// error is Invalid and names the line, where one is at fault.
func ParseProposals(b []byte) ([]tool.Proposal, error) {
	bad := func(msg string, err error) error {
		return &tool.Error{
			Code: tool.Invalid, Op: "read proposals", Msg: msg,
			Hint: "tooldex enrich export writes the form", Err: err,
		}
	}
	if len(b) > maxProposalFile {
		return nil, bad(fmt.Sprintf("a file of %d bytes is too long", len(b)), nil)
	}
	var f ProposalFile
	d := yaml.NewDecoder(bytes.NewReader(b))
	// a misspelt key would silently lose its content
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, bad("this is no file of utterances", rewordFormError(err))
	}
	if len(f.Enrich) == 0 || len(f.Enrich) > maxProposals {
		return nil, bad(fmt.Sprintf("it has entries for %d tools", len(f.Enrich)), nil)
	}
	out := make([]tool.Proposal, len(f.Enrich))
	for i, e := range f.Enrich {
		if out[i] = e.Proposal; e.Tool == "" {
			return nil, bad(fmt.Sprintf("entry %d names no tool", i+1), nil)
		}
	}
	return out, nil
}

// rewordFormError rewords an error about the form of a file. The result names the line, but neither its content nor a
// Go type.
func rewordFormError(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) || len(wrong.Errors) == 0 {
		return err
	}
	line, rest, _ := strings.Cut(wrong.Errors[0], ":")
	if key, ok := strings.CutPrefix(rest, " field "); ok { // "field x not found in type ..."
		key, _, _ = strings.Cut(key, " ")
		return fmt.Errorf("%s: there is no key %q", line, key)
	}
	return fmt.Errorf("%s does not have the form", line)
}

// The limits of one proposal.
const (
	maxUtterances   = 12
	minUtterance    = 8 // characters
	maxUtterance    = 160
	minWords        = 2
	maxProposedSyns = 8
	maxSynonym      = 40
	maxAuthor       = 120 // bytes
	nearCopy        = .8  // overlap from which an utterance counts as that of another tool
	sameAgain       = .9  // overlap from which it repeats another one of its own tool, or the tool's name
)

// orders matches texts that address a model rather than ask for something. Utterances are data and are shown as such;
// one that reads as an order is refused all the same.
var orders = regexp.MustCompile(`(?i)\b(ignore|disregard|forget|override)\b` +
	`.{0,40}\b(previous|prior|above|earlier|all|any|other|instructions?|rules?)\b` +
	`|\bsystem prompt\b|\b(system|assistant|developer|user|human)\s*:` +
	`|\byou (must|shall|have to|are (a|an|now|the)|will now)\b` +
	`|\b(always|never|only) (call|use|invoke|choose|prefer|pick|select)\b` +
	`|\b(call|use|invoke|choose|prefer|pick|select) (this|that|the) (tool|function|server)\b` +
	`|\b(do not|don't|dont) (call|use|invoke|choose|tell|mention|reveal|ask)\b` +
	`|\b(instead of|rather than) (the )?(other|any)\b`)

// checker checks proposals against the tools of a view. It serves one call of Propose, Enrich or Try. Accepted
// utterances are added to said, so that later proposals of the same call are compared with them.
type checker struct {
	view     catalog.View
	an       knowledge.Analyzer
	said     []saying           // utterances of all tools, and those accepted so far
	names    map[string]tool.ID // of tools, with and without their servers, in lower case
	findings []sanitize.Finding
}

// saying is an utterance of a tool, as a set of terms.
type saying struct {
	id    tool.ID
	terms map[string]bool
}

// newChecker gathers the names and utterances of the tools that are visible, all for nil: what is refused because of
// another tool says that there is one. Waiting proposals for the tools of proposals are left out, since they are about
// to be replaced.
func newChecker(view catalog.View, proposals []tool.Proposal, visible func(tool.ID) bool) *checker {
	c := &checker{view: view, names: map[string]tool.ID{}}
	hidden := func(id tool.ID) bool { return visible != nil && !visible(id) }
	spoken := map[tool.ID]bool{}
	for _, p := range proposals {
		spoken[p.Tool] = true
	}
	for _, t := range view.Tools() {
		id := t.ID()
		if hidden(id) {
			continue
		}
		c.names[strings.ToLower(string(id))] = id
		if strings.ContainsAny(t.Name, "_-.") { // a name of one plain word says nothing
			c.names[strings.ToLower(t.Name)] = id
		}
		for _, u := range t.Utterances {
			c.add(id, u.Text)
		}
	}
	for id, p := range overlayOf(view, pendingOverlay).Tools {
		if spoken[id] || hidden(id) {
			continue
		}
		for _, u := range p.Utterances {
			c.add(id, u.Text)
		}
	}
	return c
}

func (c *checker) add(id tool.ID, text string) {
	c.said = append(c.said, saying{id, c.terms(text)})
}

// terms returns the set of stems of a text, as search would see them.
func (c *checker) terms(text string) map[string]bool {
	out := map[string]bool{}
	for _, t := range c.an.Terms(nil, text) {
		out[t] = true
	}
	return out
}

// checkProposals returns the parts of proposals that pass, and what was wrong with the rest.
func (c *checker) checkProposals(proposals []tool.Proposal) ([]tool.Proposal, []sanitize.Finding) {
	var out []tool.Proposal
	for _, p := range proposals {
		if !c.view.Has(p.Tool) {
			c.refusePart(p.Tool, "tool", "there is no such tool")
			continue
		}
		good := tool.Proposal{Tool: p.Tool, By: cleanAuthor(p.By)}
		for i, u := range p.Utterances {
			if len(good.Utterances) == maxUtterances {
				c.refusePart(p.Tool, "utterances", fmt.Sprintf("%d more than %d", len(p.Utterances)-i, maxUtterances))
				break
			}
			text, why := c.checkUtterance(p.Tool, u)
			if why != "" {
				c.refusePart(p.Tool, "utterances", fmt.Sprintf("%.100q %s", u, why))
				continue
			}
			good.Utterances = append(good.Utterances, text)
			c.add(p.Tool, text)
		}
		c.addSynonyms(p, &good)
		if len(good.Utterances)+len(good.Synonyms) > 0 {
			out = append(out, good)
		}
	}
	return out, c.findings
}

// cleanAuthor returns the name of an author as it is stored: printable and short, since clients and models choose it
// themselves.
func cleanAuthor(by string) string {
	by = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(by, ""))
	return strings.TrimSpace(sanitize.Cut(by, maxAuthor))
}

// refusePart notes that a part of a proposal is left out. An ID of excessive length is not repeated.
func (c *checker) refusePart(id tool.ID, field, why string) {
	if utf8.RuneCountInString(string(id)) > 200 {
		id = ""
	}
	c.findings = append(c.findings, sanitize.Finding{
		Tool: id, Field: field, Problem: why, Repair: "left out",
		Refused: true,
	})
}

// checkUtterance returns a text as it is stored, or why it is refused.
func (c *checker) checkUtterance(id tool.ID, u string) (text, why string) {
	text = strings.Join(strings.Fields(u), " ")
	if why = c.checkForm(id, text); why != "" {
		return "", why
	}
	switch n := utf8.RuneCountInString(text); {
	case n < minUtterance || n > maxUtterance:
		return "", fmt.Sprintf("has %d characters, not %d to %d", n, minUtterance, maxUtterance)
	case len(strings.Fields(text)) < minWords && n < 2*minUtterance: // scripts without blanks have long words
		return "", "is no request of several words"
	}
	terms := c.terms(text)
	if len(terms) == 0 {
		return "", "has no word that could find anything"
	}
	if termOverlap(terms, c.terms(id.Name()+" "+id.Server())) >= sameAgain || termOverlap(terms,
		c.terms(id.Name())) >= sameAgain {
		return "", "says no more than the tool's name"
	}
	// An utterance that nearly repeats another tool's would take requests from that tool.
	for _, s := range c.said {
		switch like := termOverlap(terms, s.terms); {
		case s.id == id && like >= sameAgain:
			return "", "says again what another utterance says"
		case s.id != id && like >= nearCopy:
			return "", "is nearly an utterance of " + "another tool, " + string(s.id)
		}
	}
	return text, ""
}

// checkForm returns what is wrong with the form of a text, "" if nothing is: its characters, markup, orders to a model,
// and names of other tools.
func (c *checker) checkForm(id tool.ID, text string) string {
	switch {
	case !utf8.ValidString(text):
		return "is not UTF-8"
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != 0x200c && r != 0x200d }):
		return "has characters that do not show"
	case strings.ContainsAny(text, "<>{}[]|`\\") || strings.Contains(text, "://"):
		return "has markup, code or an address"
	case orders.MatchString(text):
		return "gives orders to a model"
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./", r)
	}) {
		if other, ok := c.names[strings.Trim(w, "./-")]; ok && other != id && other.Name() != id.Name() {
			return "names " + "another tool, " + string(other)
		}
	}
	return ""
}

// addSynonyms adds the synonyms of p that pass to good.
func (c *checker) addSynonyms(p tool.Proposal, good *tool.Proposal) {
	for _, s := range p.Synonyms {
		s = strings.Join(strings.Fields(s), " ")
		n := utf8.RuneCountInString(s)
		switch why := c.checkForm(p.Tool, s); {
		case len(good.Synonyms) == maxProposedSyns:
			c.refusePart(p.Tool, "synonyms", fmt.Sprintf("more than %d", maxProposedSyns))
			return
		case why != "":
			c.refusePart(p.Tool, "synonyms", fmt.Sprintf("%.100q %s", s, why))
		case n < 2 || n > maxSynonym || len(strings.Fields(s)) > 4:
			c.refusePart(p.Tool, "synonyms", fmt.Sprintf("%.100q is no word or short phrase", s))
		case !slices.Contains(good.Synonyms, s):
			good.Synonyms = append(good.Synonyms, s)
		}
	}
}

// termOverlap returns the share of terms that two texts have in common, of all terms that either has.
func termOverlap(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}
