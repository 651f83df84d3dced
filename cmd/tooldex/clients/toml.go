package clients

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlStatement is the header of a table, or a key with its value. A server is a table, often with sub-tables such as
// [mcp_servers.x.env], and may also be written as dotted keys. Statements make all of these comparable by their full
// path.
type tomlStatement struct {
	start, end int // offsets of its lines, the line feed included
	header     bool
	path       []string // of the table, or of the key below its table
}

// tomlStatements lists the statements of a text, in order, without comments and blank lines. The text must be valid:
// the list ends at the first error.
func tomlStatements(text []byte) []tomlStatement {
	var out []tomlStatement
	var table []string
	var p unstable.Parser
	body := bytes.TrimPrefix(text, bom)
	skipped := len(text) - len(body)
	p.Reset(body)
	for p.NextExpression() {
		e := p.Expression()
		// Offsets of the parser count from the end of the byte order mark.
		raw := e.Raw // of a key with its value; a header has only the places of its keys
		var path []string
		for keys := e.Key(); keys.Next(); {
			path = append(path, string(keys.Node().Data))
			if e.Kind != unstable.KeyValue {
				raw = keys.Node().Raw
			}
		}
		at := skipped + int(raw.Offset)
		s := tomlStatement{start: max(skipped, bytes.LastIndexByte(text[:at], '\n')+1), end: lineAfter(text, at+int(raw.Length))}
		if s.header = e.Kind != unstable.KeyValue; s.header {
			table = path
		} else {
			path = slices.Concat(table, path)
		}
		s.path = path
		out = append(out, s)
	}
	return out
}

// lineAfter returns where the line after that of an offset begins, len(text) for the last one.
func lineAfter(text []byte, at int) int {
	at = min(at, len(text))
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

// isBare reports whether a character may stand in a key without quotes.
func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// tomlRemove removes servers, with the comments between their lines. It also returns the offset at which the first
// table of them was, -1 if there was none, where tomlInsert may put another.
func tomlRemove(text []byte, section, names []string) ([]byte, int) {
	gone := func(s tomlStatement) bool {
		n := len(section)
		return len(s.path) > n && slices.Equal(s.path[:n], section) && slices.Contains(names, s.path[n])
	}
	var spans [][2]int
	first, follows := -1, false
	for _, s := range tomlStatements(text) {
		if !gone(s) {
			follows = false
			continue
		}
		if first < 0 && s.header {
			first = s.start
		}
		if follows && !s.header { // comments within a table go with it; those before the next table may belong to that
			spans[len(spans)-1][1] = s.end
		} else {
			spans = append(spans, [2]int{s.start, s.end})
		}
		follows = true
	}
	// From the end, so that the offsets of earlier spans stay valid.
	for _, span := range slices.Backward(spans) {
		text = cutLines(text, span[0], span[1])
		if first > span[0] {
			first -= span[1] - span[0]
		}
	}
	return text, min(first, len(text))
}

// cutLines removes lines, and one of two blank lines that would meet.
func cutLines(text []byte, start, end int) []byte {
	before := start == 0 || bytes.HasSuffix(text[:start], []byte("\n\n")) ||
		bytes.HasSuffix(text[:start], []byte("\n\r\n"))
	if blank, after := endsLine(text, end); blank && before && after > end {
		end = after
	}
	return slices.Concat(text[:start], text[end:])
}

// tomlInsert adds a server as a table of its own, at an offset where a table may begin, or at the end of the text if at
// is negative or that end. The new server takes the place of the first removed one, so that the file keeps its
// structure.
func tomlInsert(text []byte, at int, section []string, own Own) []byte {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	lines := []string{
		"[" + tomlPath(append(slices.Clone(section), own.Name)) + "]",
		"command = " + tomlText(own.Command),
	}
	args := make([]string, len(own.Args))
	for i, arg := range own.Args {
		args[i] = tomlText(arg)
	}
	lines = append(lines, "args = ["+strings.Join(args, ", ")+"]", "")
	table := strings.Join(lines, newline)
	if at >= 0 && at < len(text) {
		return slices.Concat(text[:at], []byte(table+newline), text[at:])
	}
	// a blank line separates the new table from what precedes it
	if len(text) > 0 {
		if text[len(text)-1] != '\n' {
			table = newline + newline + table
		} else if !bytes.HasSuffix(text, []byte("\n\n")) && !bytes.HasSuffix(text, []byte("\n\r\n")) {
			table = newline + table
		}
	}
	return slices.Concat(text, []byte(table))
}

// tomlPath writes a dotted key, and quotes the parts that need it.
func tomlPath(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = p
		if p == "" || strings.ContainsFunc(p, func(r rune) bool { return r > 127 || !isBare(byte(r)) }) {
			parts[i] = tomlText(p)
		}
	}
	return strings.Join(parts, ".")
}

// tomlText writes a basic string. JSON strings are valid TOML, except that TOML forbids a plain DEL.
func tomlText(s string) string {
	return strings.ReplaceAll(encodeJSON(s, "", ""), "\x7f", `\u007f`)
}

// tomlRaw returns the lines of the tables of a server. It returns false if the server is written in another way, such
// as an inline table, whose lines mean something else in another place.
func tomlRaw(text []byte, section []string, name string) (string, bool) {
	path := append(slices.Clone(section), name)
	var out strings.Builder
	within, found := false, false
	for _, s := range tomlStatements(text) {
		ours := len(s.path) >= len(path) && slices.Equal(s.path[:len(path)], path)
		switch {
		case s.header:
			within = ours
		case ours && !within:
			return "", false
		}
		if ours {
			out.Write(text[s.start:s.end])
			found = true
		}
	}
	return out.String(), found
}

// tomlTree parses a text.
func tomlTree(text []byte) (map[string]any, error) {
	var out map[string]any
	err := toml.Unmarshal(bytes.TrimPrefix(text, bom), &out)
	return out, err
}
