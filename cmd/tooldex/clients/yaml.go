package clients

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlEntry is one server of a section that is written as a block: its lines, from that of its key or its dash.
type yamlEntry struct {
	name       string
	start, end int // offsets of its lines, the last line feed included
	indent     int // blanks before the key or the dash
}

// yamlSection is a section of a YAML text, a mapping of servers by name or a list of servers with names. The package
// yaml can write a tree with its comments, but not with the original indentation, quotes and line breaks. The tree is
// therefore only used to find places, and edits cut and insert lines.
type yamlSection struct {
	found   bool
	entries []yamlEntry
	list    bool
	after   int // the offset of the line after that of its key
	// empty is the span of a value that says that there is nothing, such as {} or null; of no length if none is
	// written.
	empty [2]int
}

// yamlTree parses a text. In sections, lists become mappings from the names of their items; items without one have a
// name that no server has.
func yamlTree(text []byte, sections [][]string) (map[string]any, error) {
	var out map[string]any
	if err := yaml.Unmarshal(bytes.TrimPrefix(text, bom), &out); err != nil {
		return nil, err
	}
	if out == nil {
		out = map[string]any{}
	}
	for _, section := range sections {
		parent, _ := followPath(out, section[:len(section)-1]).(map[string]any)
		last := section[len(section)-1]
		switch v := parent[last].(type) {
		// a section with the value null is the same as none
		case nil:
			delete(parent, last)
		case []any:
			byName := map[string]any{}
			for _, item := range v {
				name, _ := childOf(item, "name").(string)
				if name == "" {
					// the encoded item makes the key unique
					name = "\x00" + encodeYAML(item)
				}
				if byName[name] != nil {
					return nil, errors.New("two servers are named " + name)
				}
				byName[name] = item
			}
			parent[last] = byName
		}
	}
	return out, nil
}

// yamlFind locates a section of one key. It reports false for one that is not written as a block.
func yamlFind(text []byte, section string) (yamlSection, bool) {
	var doc yaml.Node
	if err := yaml.Unmarshal(bytes.TrimPrefix(text, bom), &doc); err != nil {
		return yamlSection{}, false
	}
	if len(doc.Content) == 0 {
		return yamlSection{}, true
	}
	// A file with only comments parses as null; a section can be added to it.
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return yamlSection{}, root.Kind == yaml.ScalarNode && root.Tag == "!!null"
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == section {
			return yamlBlock(text, root.Content[i], root.Content[i+1])
		}
	}
	// A new section is appended as lines, which is not possible after a mapping in braces.
	return yamlSection{}, root.Style&yaml.FlowStyle == 0
}

// yamlBlock locates the entries of a section, given its key and its value.
func yamlBlock(text []byte, key, value *yaml.Node) (yamlSection, bool) {
	at := lineStart(text, key.Line)
	s := yamlSection{found: true, list: value.Kind == yaml.SequenceNode, after: lineAfter(text, at)}
	if len(value.Content) == 0 {
		return s, yamlEmpty(text, key, value, &s)
	}
	step := 2
	if s.list {
		step = 1
	}
	// An anchor may be referred to from elsewhere in the file, which removing would break.
	if value.Style&yaml.FlowStyle != 0 || value.Anchor != "" {
		return s, false
	}
	for i := 0; i < len(value.Content); i += step {
		e := yamlEntry{name: value.Content[i].Value, start: lineStart(text, value.Content[i].Line)}
		line := text[e.start:lineAfter(text, e.start)]
		e.indent = len(line) - len(bytes.TrimLeft(line, " "))
		if s.list {
			e.name = yamlName(value.Content[i])
			// the dash may be on another line than the content of the item
			if !bytes.HasPrefix(line[e.indent:], []byte("-")) {
				return s, false
			}
		}
		e.end = yamlEnd(text, e)
		s.entries = append(s.entries, e)
	}
	return s, true
}

// yamlEmpty sets the span of the value of an empty section, and reports whether it is written in a known way.
func yamlEmpty(text []byte, key, value *yaml.Node, s *yamlSection) bool {
	line := text[lineStart(text, key.Line):s.after]
	colon := bytes.IndexByte(line, ':')
	if value.Line != key.Line || colon < 0 || value.Value == "" && value.Kind == yaml.ScalarNode {
		s.empty = [2]int{s.after, s.after}
		return value.Kind == yaml.ScalarNode
	}
	for _, word := range []string{"{}", "[]", "null", "~"} {
		rest := bytes.TrimLeft(line[colon+1:], " ")
		if bytes.HasPrefix(rest, []byte(word)) {
			start := lineStart(text, key.Line) + colon + 1
			s.empty = [2]int{start, s.after - len(rest) + len(word)}
			return true
		}
	}
	return false
}

// yamlName returns the name of a server in a list, "" if it has none.
func yamlName(item *yaml.Node) string {
	for i := 0; item.Kind == yaml.MappingNode && i+1 < len(item.Content); i += 2 {
		if item.Content[i].Value == "name" {
			return item.Content[i+1].Value
		}
	}
	return ""
}

// yamlEnd returns where an entry ends: before the next line that is indented no further than its key or dash. Blank
// lines at its end are not part of it.
func yamlEnd(text []byte, e yamlEntry) int {
	end := lineAfter(text, e.start)
	for at := end; at < len(text); {
		next := lineAfter(text, at)
		line := bytes.TrimRight(text[at:next], "\r\n")
		rest := bytes.TrimLeft(line, " ")
		if len(rest) > 0 {
			if len(line)-len(rest) <= e.indent {
				break
			}
			end = next
		}
		at = next
	}
	return end
}

// lineStart returns the offset of a line, counted from 1.
func lineStart(text []byte, line int) int {
	at := 0
	for range line - 1 {
		at = lineAfter(text, at)
	}
	if at == 0 && bytes.HasPrefix(text, bom) {
		return len(bom)
	}
	return at
}

// yamlRemove removes servers from a section, but for the first keep entries.
func yamlRemove(text []byte, section string, names []string, keep int) []byte {
	s, _ := yamlFind(text, section) // of what is not found, nothing is removed
	// From the end, so that the offsets of earlier entries stay valid.
	for i, e := range slices.Backward(s.entries) {
		if i >= keep && slices.Contains(names, e.name) {
			text = slices.Concat(text[:e.start], text[e.end:])
		}
	}
	return text
}

// yamlInsert adds a server, given as its lines without indentation, at the head of a section, which is made at the end
// of the text if it is missing. A new section is a list if list is set.
func yamlInsert(text []byte, section, lines string, list bool) ([]byte, bool) {
	s, ok := yamlFind(text, section)
	if !ok || s.found && len(s.entries) > 0 && s.list != list {
		return nil, false
	}
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	// New lines follow the style of the file: its line ends and the indentation of the first entry.
	indent := 2
	if len(s.entries) > 0 {
		indent = s.entries[0].indent
	}
	var b strings.Builder
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" {
			b.WriteString(strings.Repeat(" ", indent) + line)
		}
		b.WriteString(newline)
	}
	block := b.String()
	switch {
	case !s.found:
		if len(text) > 0 && text[len(text)-1] != '\n' && len(bytes.TrimPrefix(text, bom)) > 0 {
			block = newline + section + ":" + newline + block
		} else {
			block = section + ":" + newline + block
		}
		return slices.Concat(text, []byte(block)), true
	// the key is on a last line without a line feed
	case s.after == len(text) && text[len(text)-1] != '\n':
		block = newline + block
	}
	at := s.after
	if len(s.entries) > 0 {
		at = s.entries[0].start
	}
	if s.empty[0] < s.empty[1] {
		return slices.Concat(text[:s.empty[0]], text[s.empty[1]:at], []byte(block), text[at:]), true
	}
	return slices.Concat(text[:at], []byte(block), text[at:]), true
}

// yamlRaw returns the lines of a server without the indentation of its key or dash.
func yamlRaw(text []byte, section, name string) (string, bool) {
	s, ok := yamlFind(text, section)
	i := slices.IndexFunc(s.entries, func(e yamlEntry) bool { return e.name == name })
	if !ok || i < 0 {
		return "", false
	}
	e := s.entries[i]
	var b strings.Builder
	for line := range strings.Lines(string(text[e.start:e.end])) {
		b.WriteString(line[min(e.indent, len(line)-len(strings.TrimLeft(line, " "))):])
	}
	out := b.String()
	if !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out, true
}

// encodeYAML returns a value as lines of YAML. Callers pass only values that can be encoded.
func encodeYAML(value any) string {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(value), enc.Close()); err != nil {
		return "null\n"
	}
	return b.String()
}
