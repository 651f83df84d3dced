package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// docBlock is a piece of code in a document.
type docBlock struct {
	line     int    // where its text begins, from 1
	language string // what its fence says, "" for none; for an indented block what its text looks like
	text     string
	marks    []docMark
}

// docMark is a comment right above a block, "<!-- key: value -->", which tells the tests what to do with it.
type docMark struct{ key, value string }

// The marks, and what their values are.
const (
	markNotRun = "not run" // why the commands cannot be run by a test
	markExits  = "exits"   // the exit code of the last command
	markBefore = "before"  // a command that is run first, and is not shown
	markFile   = "file"    // the file that a reader saves the block as
	markFor    = "for"     // another program, whose file it is
)

var markPattern = regexp.MustCompile(`^<!--\s*(not run|exits|before|file|for):\s*(.*?)\s*-->$`)

// mark returns the value of a mark, and whether the block has it.
func (b *docBlock) mark(key string) (string, bool) {
	for _, m := range b.marks {
		if m.key == key {
			return m.value, true
		}
	}
	return "", false
}

// docPage is a document, taken apart.
type docPage struct {
	path     string // from the top of the repository, with slashes
	blocks   []*docBlock
	prose    string // the text without its blocks, line for line
	headings map[string]bool
}

func readPage(path, text string) *docPage {
	p := &docPage{path: path, headings: map[string]bool{}}
	lines := strings.Split(text, "\n")
	var prose []string
	var marks []docMark
	paragraph := "" // the last line that was not empty
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		b, end := blockAt(lines, i, paragraph)
		if b == nil {
			prose = append(prose, lines[i])
			switch m := markPattern.FindStringSubmatch(line); {
			case m != nil:
				marks = append(marks, docMark{m[1], m[2]})
			case line != "":
				marks, paragraph = nil, lines[i]
			}
			continue
		}
		b.marks, marks, paragraph = marks, nil, ""
		p.blocks = append(p.blocks, b)
		for ; i < end; i++ {
			prose = append(prose, "")
		}
		i--
	}
	p.prose = strings.Join(prose, "\n")
	p.findHeadings()
	return p
}

var fence = regexp.MustCompile("^( *)(```+|~~~+) *([^ `]*)")

// blockAt returns the block that begins in line i, and the line after it, or nil.
func blockAt(lines []string, i int, paragraph string) (*docBlock, int) {
	if m := fence.FindStringSubmatch(lines[i]); m != nil {
		b := &docBlock{line: i + 2, language: m[3]}
		var text []string
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != m[2]; i++ {
			text = append(text, strings.TrimPrefix(lines[i], m[1]))
		}
		b.text = strings.Join(text, "\n") + "\n"
		return b, i + 1
	}
	indented := func(s string) bool { return strings.HasPrefix(s, "    ") && strings.TrimSpace(s) != "" }
	if !indented(lines[i]) || i > 0 && strings.TrimSpace(lines[i-1]) != "" || listItem.MatchString(paragraph) {
		return nil, 0
	}
	b, end := &docBlock{line: i + 1}, i
	var text []string
	for j := i; j < len(lines) && (indented(lines[j]) || strings.TrimSpace(lines[j]) == ""); j++ {
		text = append(text, strings.TrimPrefix(lines[j], "    "))
		if indented(lines[j]) {
			end = j + 1
		}
	}
	b.text = strings.Join(text[:end-i], "\n") + "\n"
	b.language = guess(b.text)
	return b, end
}

// listItem is a line of a list, whose further paragraphs are indented, too.
var listItem = regexp.MustCompile(`^ *([-*+]|\d+\.) |^  `)

// guess says what an indented block is, by its first line.
func guess(text string) string {
	first := strings.TrimSpace(strings.SplitN(text, "\n", 2)[0])
	word := strings.TrimPrefix(strings.Fields(first + " .")[0], "bin/")
	switch {
	case strings.HasPrefix(first, "{") || strings.HasPrefix(first, "["):
		return "json"
	case regexp.MustCompile(`^[\w."/-]+:( |$)|^- `).MatchString(first):
		return "yaml"
	case regexp.MustCompile(`^(tooldex|go|make|curl|docker|claude|npx|npm|export|git|[A-Z_]+=\S*)$`).MatchString(word):
		return "sh"
	}
	return ""
}

// findHeadings collects what a link may name after #, as GitHub makes it of headings.
func (p *docPage) findHeadings() {
	for line := range strings.Lines(p.prose) {
		text, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(strings.TrimSpace(text)) {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				b.WriteRune(r)
			case r == ' ':
				b.WriteByte('-')
			}
		}
		p.headings[b.String()] = true
	}
	for _, m := range regexp.MustCompile(`<a (?:id|name)="([^"]+)"`).FindAllStringSubmatch(p.prose, -1) {
		p.headings[m[1]] = true
	}
}

var (
	codeSpan = regexp.MustCompile("(`+)([^`]+)(`+)")
	link     = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?[^)]*\)|<(?:img|a)\s[^>]*?(?:src|href)="([^"]+)"|(?m:^\[[^\]]+\]:\s*(\S+))`)
)

// links returns what the prose points to.
func (p *docPage) links() []string {
	var out []string
	for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(p.prose, ""), -1) {
		out = append(out, m[1]+m[2]+m[3])
	}
	return out
}

// spans returns the pieces of code within the prose.
func (p *docPage) spans() []string {
	var out []string
	for _, m := range codeSpan.FindAllStringSubmatch(p.prose, -1) {
		out = append(out, m[2])
	}
	return out
}

func TestReadPage(t *testing.T) {
	text, err := os.ReadFile("testdata/docs/page.md")
	if err != nil {
		t.Fatal(err)
	}
	p := readPage("page.md", string(text))
	want := []*docBlock{
		{line: 9, language: "sh", text: "echo one\n", marks: []docMark{{markBefore, "touch a"}, {markExits, "3"}}},
		{line: 15, language: "", text: "nothing said\n"},
		{line: 19, language: "sh", text: "  indented with its item\n"},
		{line: 24, language: "sh", text: "tooldex list\n\nTOKEN=x tooldex list\n"},
		{line: 30, language: "json", text: "{\"a\": 1}\n"},
		{line: 34, language: "yaml", text: "overlay:\n  a/b: {}\n"},
		{line: 39, language: "", text: "KEY   VALUE\n"},
	}
	if diff := cmp.Diff(want, p.blocks, cmp.AllowUnexported(docBlock{}, docMark{})); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.md#b", "c.webp", "d.md", "https://e.example"}, p.links()); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"no_t", "tooldex list", "[not](a-link.md)"}, p.spans()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"a-page": true, "whats-in-it-and-no_t": true, "here": true},
		p.headings); diff != "" {
		t.Errorf("headings (-want +got):\n%s", diff)
	}
}
