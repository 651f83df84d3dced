package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"tooldex/tool"
)

// Drafted is a request of a file that people review.
type Drafted struct {
	ID    string
	Text  string
	Tools []tool.ID // which are thought to serve it; any of them is enough
	From  Source
}

// DraftOptions bound a draft.
type DraftOptions struct {
	PerTool int // borrowed requests of a tool; 0 means two
}

// Draft writes down the requests that should find the tools: those declared with them, what their examples do, and so
// many of the requests borrowed from tools of their kind. A tool that has none of these gets the first sentence of its
// own text. A request that several tools have is drafted once, for all of them. Labelled requests are left out: they
// are in a file already. IDs are those of the tools with a number, and stay the same as long as the catalogue does.
func (in *Inspector) Draft(o DraftOptions) []Drafted {
	if o.PerTool == 0 {
		o.PerTool = 2
	}
	var out []Drafted
	seen := map[string]int{}
	for _, t := range in.tools {
		n := 0
		for _, r := range in.pickRequests(t, o.PerTool) {
			// Requests that differ in case or blanks only are the same for a search.
			key := strings.ToLower(strings.Join(strings.Fields(r.Text), " "))
			if at, ok := seen[key]; ok {
				if d := &out[at]; d.Tools[len(d.Tools)-1] != t.ID() {
					d.Tools = append(d.Tools, t.ID())
				}
				continue
			}
			n++
			seen[key] = len(out)
			out = append(out, Drafted{fmt.Sprintf("%s-%d", t.ID(), n), r.Text, []tool.ID{t.ID()}, r.From})
		}
	}
	return out
}

// pickRequests returns the requests of a tool that are drafted, at most perTool of them borrowed.
func (in *Inspector) pickRequests(t *tool.Tool, perTool int) []Request {
	var out []Request
	borrowed := 0
	for _, r := range in.o.Requests(t) {
		switch {
		case r.From == Labelled || strings.TrimSpace(r.Text) == "":
			continue
		// Borrowed requests are plentiful and need the most review, hence their own bound.
		case r.From == Borrowed:
			if borrowed == perTool {
				continue
			}
			borrowed++
		}
		out = append(out, r)
	}
	if text := firstSentence(t); len(out) == 0 && text != "" {
		out = append(out, Request{Text: text, From: Summary})
	}
	return out
}

// firstSentence returns the first sentence of a tool's own text, or its name in words.
func firstSentence(t *tool.Tool) string {
	for _, text := range []string{t.Summary, t.Description, t.Title} {
		text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		if first, _, ok := strings.Cut(text, ". "); ok {
			text = first
		}
		if text = strings.TrimSuffix(strings.TrimSpace(text), "."); text != "" {
			return text
		}
	}
	return strings.TrimSpace(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(t.Name))
}

const draftHead = `# Requests for the tools of this catalogue, drafted on its own knowledge and to be reviewed by hand.
#
# Each entry is something that a person or an agent may ask, with the tools that serve it ("relevant", any of which is enough).
# Nobody has looked at these yet: until somebody has, figures over them say how well the search agrees with itself.
#
#   1. Read the request. Is it one that your users make? Reword it, or delete the entry.
#   2. Look at "relevant". Does another tool serve it as well? Add it. Does this tool not serve it? Correct it.
#   3. Then delete the line "reviewed: false". Reports count the entries that still have it.
#   4. Add requests of your own, in the words of those who ask; and some that no tool here serves: relevant: [].
#
# kind says where a request comes from: declared with the tool, example (what one of its examples does), borrowed (what tools
# of its kind are asked; the names and numbers in it are made up), summary (the tool's own words, which flatter search by
# words: reword these first). Kinds are rows of the report; you may name them as you like.
#
# Measure with:  %s
`

// WriteDraft writes a draft as YAML that eval.LoadCases reads, with a comment that says how to review it. Label gives
// the name by which the file calls a tool, and command is what measures it.
func WriteDraft(w io.Writer, draft []Drafted, label func(tool.ID) string, command string) error {
	var b strings.Builder
	fmt.Fprintf(&b, draftHead, command)
	b.WriteString("queries:\n")
	for _, d := range draft {
		names := make([]string, len(d.Tools))
		for i, id := range d.Tools {
			names[i] = quoteText(label(id))
		}
		fmt.Fprintf(&b, "- id: %s\n  query: %s\n  relevant: [%s]\n", quoteText(d.ID), quoteText(d.Text),
			strings.Join(names, ", "))
		if len(names) > 1 {
			b.WriteString("  mode: any\n")
		}
		fmt.Fprintf(&b, "  kind: %s\n  reviewed: false\n", d.From)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write requests: %w", err)
	}
	return nil
}

// quoteText returns s as a JSON string, which YAML reads as the same text.
func quoteText(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(strings.Map(printableRune, strings.ToValidUTF8(s, "\uFFFD"))) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// printableRune replaces characters that YAML does not allow by spaces.
func printableRune(r rune) rune {
	if unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF || r == 0xFEFF {
		return ' '
	}
	return r
}
