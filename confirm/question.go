package confirm

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// Bounds of a question, in characters and lines. A longer value goes on in the next line, and more lines on the next
// page. Of arguments that do not fit on maxPages, both ends of each value are shown, and its length.
const (
	maxName  = 120
	maxValue = 300 // of a line
	maxLines = 30  // of a page
	maxPages = 20
)

// What a question and each page of it begin with. The gateway puts another line before what servers ask, so none of
// their questions begins so.
const (
	askLine  = "tooldex asks you, not a server: allow this call? It may change or destroy something."
	pageLine = "tooldex asks you, not a server: see the next page? This is page %d of %d of a call that needs your " +
		"permission; nothing is called yet."
)

// Question returns what a person is asked before a call is made, as plain text of printable characters. Clients show it
// as text or as Markdown. Everything that others wrote stands on lines of its own, indented as code is, so that neither
// form interprets it. It shows the arguments as a whole, unless they fill more than maxPages.
func Question(id tool.ID, args json.RawMessage) string {
	lines, note := shownLines(args)
	return askLine + describeCall(id, lines, note)
}

// Pages returns the same question for forms, which hold a page each. The person has to accept each page; the last one
// asks for the permission.
func Pages(id tool.ID, args json.RawMessage) []string {
	lines, note := shownLines(args)
	if len(lines) <= maxLines {
		return []string{askLine + describeCall(id, lines, note)}
	}
	var out []string
	pages := (len(lines) + maxLines - 1) / maxLines
	for page := range slices.Chunk(lines, maxLines) {
		n := len(out) + 1
		if n < pages {
			out = append(out, fmt.Sprintf(pageLine, n, pages)+describeCall(id, page, ""))
			continue
		}
		out = append(out, fmt.Sprintf("%s This is page %d of %d.", askLine, n, pages)+describeCall(id, page, note))
	}
	return out
}

// describeCall returns the text behind the first line: the tool, lines of its arguments, and a note.
func describeCall(id tool.ID, lines []string, note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n    tool: %s\n    server: %s\n\n", plainText(id.Name()), plainText(id.Server()))
	if len(lines) == 0 {
		b.WriteString("It has no arguments.")
		return b.String()
	}
	b.WriteString("Arguments:\n")
	for _, l := range lines {
		b.WriteString("\n    " + l)
	}
	return b.String() + note
}

// shownLines returns the lines in which arguments are shown, and a note for below them. A continued line begins with an
// ellipsis, as no name of an argument does.
func shownLines(args json.RawMessage) (lines []string, note string) {
	members := argumentLines(args)
	for _, member := range members {
		begin := ""
		for chunk := range slices.Chunk([]rune(member), maxValue) {
			if lines = append(lines, begin+string(chunk)); len(lines) > maxLines*maxPages {
				return cutLines(members, args)
			}
			begin = "… "
		}
	}
	return lines, ""
}

// cutLines returns one page of arguments that are too long to be shown as a whole.
func cutLines(members []string, args json.RawMessage) (lines []string, note string) {
	for i, m := range members {
		if i == maxLines-1 && len(members) > maxLines {
			lines = append(lines, fmt.Sprintf("and %d more arguments, which are not shown", len(members)-i))
			break
		}
		lines = append(lines, shortenText(m, maxValue))
	}
	return lines, fmt.Sprintf("\n\nNot all is shown: %d bytes in all, SHA-256 %x", len(args), sha256.Sum256(args))
}

// argumentLines returns one line for each member, in the order of the arguments, or one line for what is no object.
func argumentLines(args json.RawMessage) []string {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil
	}
	o, err := orderedjson.ParseObject(args)
	if err != nil {
		return []string{escapeHidden(string(args))}
	}
	var out []string
	for _, m := range o {
		out = append(out, plainText(m.Key)+": "+escapeHidden(orderedjson.Compact(m.Value)))
	}
	return out
}

// plainText returns a name as it is if it consists of the usual characters of names, and quoted otherwise.
func plainText(s string) string {
	for _, r := range s {
		if r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./", r) {
			return `"` + shortenText(escapeHidden(strings.ReplaceAll(s, `"`, `\"`)), maxName) + `"`
		}
	}
	if s == "" {
		return `""`
	}
	return shortenText(s, maxName)
}

// escapeHidden replaces invisible characters, and those that could begin markup, by their JSON escapes.
func escapeHidden(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("`<>&", r), !unicode.IsPrint(r), unicode.Is(unicode.Mn, r), isHidden(r):
			if r > 0xffff {
				fmt.Fprintf(&b, `\U%08x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHidden reports whether a character is printable by its class, and yet not seen.
func isHidden(r rune) bool {
	return r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800
}

// shortenText keeps both ends of a text.
func shortenText(s string, most int) string {
	n := utf8.RuneCountInString(s)
	if n <= most {
		return s
	}
	runes := []rune(s)
	return string(runes[:most*2/3]) + " … " + string(runes[n-most/4:]) + " (" + strconv.Itoa(n) + " characters)"
}
