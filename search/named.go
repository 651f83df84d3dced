package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tooldex/tool"
)

// namedTools appends to dst the tools that a request names: the whole request is the name, in any punctuation, or one
// of its words is, in a form in which only names are written: create_issue, createIssue, hub:create_issue, `search`.
func namedTools(set *tool.Set, text string, dst []int) []int {
	whole := strings.TrimFunc(text, isNameSeparator)
	if found := spelledTools(set, whole); len(found) > 0 {
		return append(dst, found...)
	}
	for len(text) > 0 {
		var word string
		if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
			_, size := utf8.DecodeRuneInString(text[end:])
			word, text = text[:end], text[end+size:]
		} else {
			word, text = text, ""
		}
		for _, i := range toolsNamedBy(set, word) {
			if !slices.Contains(dst, i) {
				dst = append(dst, i)
			}
		}
	}
	return dst
}

// isNameSeparator reports whether r cannot be part of a tool's name: names are split at it.
func isNameSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' }

// toolsNamedBy returns the tools that one word of a request names. A word that could also be an ordinary one names
// none: "follow-up" and "YouTube" are words, though there may be tools named follow_up and youtube.
func toolsNamedBy(set *tool.Set, word string) []int {
	if call := strings.IndexByte(word, '('); call > 0 {
		word = word[:call]
	}
	bare := strings.TrimFunc(word, isNameSeparator)
	switch {
	case bare == "":
		return nil
	case isQuoted(word, bare), strings.Contains(bare, "_"), strings.ContainsAny(bare, ":./"):
		return spelledTools(set, bare)
	case strings.Contains(bare, "-"):
		return filterTools(set, set.Spelled(bare), func(t *tool.Tool) bool {
			return strings.EqualFold(t.Name, bare) || strings.EqualFold(set.Exposed(t.ID()), bare)
		})
	case isCamelCase(bare):
		return filterTools(set, set.Spelled(bare), func(t *tool.Tool) bool {
			return strings.EqualFold(splitName(t.Name), splitName(bare))
		})
	}
	return nil
}

// filterTools returns the places of found whose tools satisfy ok.
func filterTools(set *tool.Set, found []int, ok func(*tool.Tool) bool) (out []int) {
	for _, i := range found {
		if ok(set.All()[i]) {
			out = append(out, i)
		}
	}
	return out
}

// isQuoted reports whether a word stands in quotes or backticks of its own.
func isQuoted(word, bare string) bool {
	at := strings.Index(word, bare)
	before, _ := utf8.DecodeLastRuneInString(word[:at])
	after, _ := utf8.DecodeRuneInString(word[at+len(bare):])
	return strings.ContainsRune("`'\"“‘«„", before) && strings.ContainsRune("`'\"”’»“", after)
}

// isCamelCase reports whether a word is written in camel case.
func isCamelCase(word string) bool {
	var last rune
	for _, r := range word {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			return true
		}
		last = r
	}
	return false
}

// splitName writes a name with underscores where its words begin.
func splitName(name string) string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		switch {
		case r == '-' || r == '.' || r == ' ' || r == '/' || r == ':':
			r = '_'
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte('_')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// spelledTools returns the tools that a name spells. Where none does with what stands before it, a client's own alias
// of the server perhaps, the name alone counts, if it is written as names are.
func spelledTools(set *tool.Set, name string) []int {
	if found := set.Spelled(name); len(found) > 0 {
		return found
	}
	at, size := strings.LastIndex(name, "__"), 2
	if k := strings.LastIndexAny(name, ":./"); k > at {
		at, size = k, 1
	}
	if at < 0 {
		return nil
	}
	tail := name[at+size:]
	if !strings.HasPrefix(name, "mcp__") && !strings.Contains(tail, "_") && !isCamelCase(tail) {
		return nil
	}
	return set.Spelled(tail)
}

// addExactBonus raises the tools of s.named above all others, and reports whether one of them is allowed.
func (s *scratch) addExactBonus() (allowed bool) {
	for _, i := range s.named {
		s.fused[i] += exactBonus
		allowed = allowed || s.allowed[i]
	}
	return allowed
}
