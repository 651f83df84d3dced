package skills

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"tooldex/internal/sanitize"
	"tooldex/scan"
	"tooldex/tool"
)

// Server is the name under which profiles and the settings of trust speak of skills, as if they were tools of a server:
// "skill" means all, "skill/NAME" one.
const Server = "skill"

// Main is the name of the file that makes a folder a skill.
const Main = "SKILL.md"

// The bounds of a SKILL.md. Longer ones are left out, since a model could not read them anyway.
const (
	maxMain        = 1 << 20  // bytes
	maxFrontMatter = 64 << 10 // bytes
	maxDescription = 4 << 10  // bytes; a longer one is cut
	maxHeadings    = 200
)

// Skill is one skill. Its fields must not be changed, and its methods are safe for concurrent use.
type Skill struct {
	Name        string // unique in a Library; lower-case letters, digits and hyphens
	Description string
	File        string   // the path of its SKILL.md, for people
	Headings    []string // of the instructions, in order
	// FrontMatter is the front matter as a JSON object; nil if its name is not Name, so that clients which compare the
	// two would refuse the skill.
	FrontMatter json.RawMessage
	// Findings are those of the scanner that count for skills, whose texts are orders by nature.
	Findings []scan.Finding

	folder, dir string // the configured folder, and where the skill is in it; "." for the folder itself
	mu          sync.Mutex
	digests     map[string]digest // of files, by path; guarded by mu
}

// nameOfSkill matches the names that the format permits.
var nameOfSkill = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// isName reports whether a name is one that the format permits.
func isName(name string) bool { return len(name) <= 64 && nameOfSkill.MatchString(name) }

// Tool returns the skill in the form in which the index and policies take what can be found. It is never listed and
// never called. Archetypes of tools lend it nothing: it is found by its name, its description and its headings.
func (s *Skill) Tool() *tool.Tool {
	yes := true
	return &tool.Tool{
		Server: Server, Name: s.Name, Description: s.Description, Keywords: s.Headings, NoBorrow: true,
		Annotations: &tool.Annotations{ReadOnlyHint: &yes}, // reading it changes nothing
	}
}

// frontMatter is the part of the front matter that is used here.
type frontMatter struct {
	name, description string
	raw               json.RawMessage
	hidden            bool // models may not use the skill by themselves
}

// mistake says what is wrong with a SKILL.md, and what to do.
type mistake struct{ problem, remedy string }

// parse returns the skill that a SKILL.md describes, nil if models may not use it by themselves. Folder is the name of
// the folder that it is in. Notes are mistakes in spite of which the skill can be used. The error is a mistake.
func parse(text, folder string) (s *Skill, notes []mistake, wrong *mistake) {
	head, body, ok := cutFrontMatter(text)
	if !ok {
		return nil, nil, &mistake{
			"does not begin with front matter", "begin it with a line ---, then name: and description:, then a line ---",
		}
	}
	f, wrong := parseFrontMatter(head)
	switch {
	case wrong != nil:
		return nil, nil, wrong
	case f.hidden:
		return nil, nil, nil
	case f.description == "":
		return nil, nil, &mistake{"has no description", "add description: with what it does and when to use it"}
	}
	s = &Skill{Name: f.name, FrontMatter: f.raw}
	if !isName(f.name) {
		if !isName(folder) {
			return nil, nil, &mistake{nameProblem(f.name), "write name: in lower-case letters, digits and single hyphens"}
		}
		s.Name, s.FrontMatter = folder, nil
		notes = append(notes, mistake{
			nameProblem(f.name) + "; it is served as " + folder, "write name: " + folder,
		})
	}
	s.Description = strings.Join(strings.Fields(sanitize.Text(f.description, maxDescription)), " ")
	s.Headings = headingsOf(body)
	s.Findings = findingsIn(s, body)
	return s, notes, nil
}

// nameProblem says what is wrong with a name.
func nameProblem(name string) string {
	if name == "" {
		return "has no name"
	}
	return fmt.Sprintf("has the name %q, which clients do not accept", sanitize.Clip(name, 80))
}

// cutFrontMatter parts a SKILL.md into the text between its first two lines of three hyphens, and the rest.
func cutFrontMatter(text string) (head, body string, ok bool) {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "---\n")
	if !ok {
		return "", "", false
	}
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		if strings.TrimRight(line, " \t") == "---" {
			return rest[:at], strings.TrimPrefix(rest[at+len(line):], "\n"), true
		}
		at += len(line) + 1
	}
	return "", "", false
}

// parseFrontMatter reads the front matter.
func parseFrontMatter(head string) (f frontMatter, wrong *mistake) {
	if len(head) > maxFrontMatter {
		return f, &mistake{
			fmt.Sprintf("has front matter of %d bytes, at most %d are read", len(head), maxFrontMatter), "shorten it",
		}
	}
	var doc yaml.Node
	var fields map[string]any
	err := yaml.Unmarshal([]byte("\n"+head), &doc) // so that its line numbers are those of the file
	if err == nil {
		textsOnly(&doc)
		err = doc.Decode(&fields) // rejects exploding aliases
	}
	if err != nil {
		return f, &mistake{
			"has front matter that is not YAML: " + sanitize.YAMLMistake(err), `quote what has colons: description: "Use when: ..."`,
		}
	}
	if f.raw, err = json.Marshal(fields); err != nil || fields == nil {
		return f, &mistake{"has front matter that is no object of texts, lists and numbers", "correct it"}
	}
	for key, into := range map[string]*string{"name": &f.name, "description": &f.description} {
		switch v := fields[key].(type) {
		case nil:
		case string:
			*into = strings.TrimSpace(v)
		default:
			return f, &mistake{"has a " + key + " that is no text", "put it in quotes"}
		}
	}
	f.hidden, _ = fields["disable-model-invocation"].(bool)
	return f, nil
}

// textsOnly has dates decoded as the texts that they are written as.
func textsOnly(n *yaml.Node) {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, child := range n.Content {
		textsOnly(child)
	}
}

// headingsOf returns the headings of Markdown outside of blocks of code.
func headingsOf(body string) (out []string) {
	fenced := false
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
		}
		text := strings.TrimLeft(line, "#")
		if level := len(line) - len(text); fenced || level == 0 || level > 6 || !strings.HasPrefix(text, " ") {
			continue
		}
		if text = strings.Trim(sanitize.Clip(text, 200), " #"); text != "" {
			if out = append(out, text); len(out) == maxHeadings {
				break
			}
		}
	}
	return out
}

// findingsIn returns what the scanner finds in a skill. The instructions are read as a result of a tool is: much of
// what makes a tool suspicious is usual in them. Of the description, grave findings count as well.
func findingsIn(s *Skill, body string) []scan.Finding {
	scanner := new(scan.Scanner)
	out := scanner.Result([]string{s.Description, body})
	for _, f := range scanner.Texts(&tool.Tool{Server: Server, Name: s.Name, Description: s.Description}) {
		if f.Severity == scan.High && !slices.ContainsFunc(out, func(o scan.Finding) bool { return o.Rule == f.Rule }) {
			out = append(out, f)
		}
	}
	return out
}

// clean returns a text without hidden characters and without what is not UTF-8. A text that needs no cleaning stays as
// it is, to the byte.
func clean(b []byte) (text string, changed bool) {
	text = string(b)
	plain := strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"))
	if cleaned := sanitize.Text(text, len(b)); cleaned != plain {
		return cleaned + "\n", true
	}
	return text, !utf8.ValidString(text)
}

// byName orders skills by name.
func byName(a, b *Skill) int { return cmp.Compare(a.Name, b.Name) }
