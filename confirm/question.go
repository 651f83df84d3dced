package confirm

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// Bounds of a question, in characters and lines. Of a longer text both ends are shown, and its length.
const (
	maxName  = 120
	maxValue = 300
	maxLines = 30
)

// Question returns what a person is asked before a call is made, as plain text of printable characters. Clients show it
// as text or as Markdown. The gateway puts another line before what servers ask, so none of their questions begins as
// this one does. Everything that others wrote stands on lines of its own, indented as code is, so that neither
// form interprets it.
func Question(id tool.ID, args json.RawMessage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tooldex asks you, not a server: allow this call? It may change or destroy something.\n\n    tool: %s\n    server: %s\n\n",
		plainText(id.Name()), plainText(id.Server()))
	lines := argumentLines(args)
	if len(lines) == 0 {
		b.WriteString("It has no arguments.")
		return b.String()
	}
	b.WriteString("Arguments:\n")
	for i, l := range lines {
		if i == maxLines {
			fmt.Fprintf(&b, "\n    and %d more arguments, which are not shown", len(lines)-i)
			break
		}
		b.WriteString("\n    " + l)
	}
	if len(lines) > maxLines || len(args) > maxValue {
		sum := sha256.Sum256(args)
		fmt.Fprintf(&b, "\n\n%d bytes in all, SHA-256 %x", len(args), sum)
	}
	return b.String()
}

// argumentLines returns one line for each member, in the order of the arguments, or one line for what is no object.
func argumentLines(args json.RawMessage) []string {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil
	}
	lines, err := memberLines(args)
	if err != nil {
		return []string{shortenText(escapeHidden(string(args)), maxValue)}
	}
	return lines
}

// memberLines returns one line for each member of an object.
func memberLines(args json.RawMessage) ([]string, error) {
	o, err := orderedjson.ParseObject(args)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range o {
		value := shortenText(escapeHidden(orderedjson.Compact(m.Value)), maxValue)
		out = append(out, plainText(m.Key)+": "+value)
	}
	return out, nil
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
