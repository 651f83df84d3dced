package sanitize

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"tooldex/tool"
)

// The bounds of what is read for a deprecation, and of what is kept of it, in bytes and sentences.
const (
	deprecationRead = 600
	deprecationSaid = 160
	deprecationIn   = 3 // sentences
)

// plainDeprecation is the deprecation of a tool that names nothing to use instead.
const plainDeprecation = "deprecated"

// Deprecation returns what a tool says is to be used in its place, "" if it does not say that it is deprecated. It
// reads the field for it, "deprecated" in _meta and in the input schema, the title and the first sentences of the
// description, where servers write it for want of a field: "DEPRECATED: Use read_text_file instead." The answer is
// "deprecated" if no replacement is said. The texts must be clean, as Tool makes them.
func Deprecation(t *tool.Tool) string {
	if t.Deprecated != "" {
		return t.Deprecated
	}
	said, deprecated := deprecationOf(Cut(t.Description, deprecationRead))
	if !deprecated {
		deprecated = isMarkedTitle(t.Title) || t.Annotations != nil && isMarkedTitle(t.Annotations.Title)
	}
	for _, raw := range []json.RawMessage{t.Meta, t.InputSchema} {
		text, ok := deprecatedMember(raw)
		deprecated = deprecated || ok
		if said == "" {
			said = text
		}
	}
	switch {
	case !deprecated:
		return ""
	case said == "":
		return plainDeprecation
	}
	return Clip(said, deprecationSaid)
}

// deprecatedMember reads the member "deprecated" of an object, which is true or a text.
func deprecatedMember(raw json.RawMessage) (said string, ok bool) {
	if !bytes.Contains(raw, []byte(`"deprecated"`)) {
		return "", false
	}
	var o struct {
		Deprecated any `json:"deprecated"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return "", false
	}
	switch v := o.Deprecated.(type) {
	case bool:
		return "", v
	case string:
		text := (&cleaner{t: &tool.Tool{}}).cleanLine("deprecated", v)
		return text, text != ""
	}
	return "", false
}

// isMarkedTitle reports whether a title is marked: "Read File (Deprecated)", "[DEPRECATED] Read file".
func isMarkedTitle(title string) bool {
	title = strings.ToLower(title)
	if !strings.Contains(title, plainDeprecation) {
		return false
	}
	for _, mark := range []string{"(deprecated", "[deprecated", "deprecated:", "- deprecated", "– deprecated"} {
		if strings.Contains(title, mark) {
			return true
		}
	}
	return title == plainDeprecation
}

// deprecationOf reads the first sentences of a description. said is what to use instead, "" if that is not said.
func deprecationOf(text string) (said string, ok bool) {
	if !strings.Contains(text, "eprecated") && !strings.Contains(text, "EPRECATED") {
		return "", false
	}
	all := sentencesOf(text)
	for i, s := range all[:min(len(all), deprecationIn)] {
		rest, found := cutDeprecation(s)
		if !found {
			continue
		}
		if said = remedyIn(rest); said == "" && i+1 < len(all) { // "DEPRECATED. Use x."
			said = remedyIn(all[i+1])
		}
		return said, true
	}
	return "", false
}

// sentencesOf splits a text at line breaks, and behind full stops and the like that white space follows.
func sentencesOf(text string) (out []string) {
	begin := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[begin:end]); s != "" {
			out = append(out, s)
		}
		begin = end
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			add(i)
		case strings.IndexByte(".!?", text[i]) >= 0 && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n'):
			add(i + 1)
		}
	}
	add(len(text))
	return out
}

// cutDeprecation returns what follows the word in a sentence that says that the tool is deprecated, as opposed to one
// about things that are.
func cutDeprecation(s string) (rest string, ok bool) {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	lower := strings.ToLower(s)
	if len(lower) != len(s) { // letters that change their length: positions would not fit
		return "", false
	}
	if tail, found := strings.CutPrefix(lower, plainDeprecation); found {
		return s[len(plainDeprecation):], endsThere(s, tail)
	}
	subject, tail, found := strings.Cut(lower, plainDeprecation)
	words := strings.Fields(subject)
	if !found || len(words) == 0 || len(words) > 6 || !endsThere("", tail) {
		return "", false
	}
	if !slices.Contains([]string{"this", "the", "it", "note", "warning", "tool"}, strings.Trim(words[0], ":,")) ||
		!slices.Contains([]string{"is", "been", "now", "was", "being"}, words[len(words)-1]) {
		return "", false
	}
	return s[len(subject)+len(plainDeprecation):], true
}

// endsThere reports whether a statement ends with the word before tail, or a remedy follows. s is the sentence that
// begins with the word, "" if others come before it; in capitals the word needs no sign behind it.
func endsThere(s, tail string) bool {
	trimmed := strings.TrimLeft(tail, "*_`")
	if trimmed == "" || strings.IndexByte(":.!,;)]", trimmed[0]) >= 0 {
		return true
	}
	next := strings.TrimSpace(trimmed)
	for _, sign := range []string{"-", "–", "—", "(", "|"} {
		if strings.HasPrefix(next, sign) && trimmed[0] == ' ' {
			return true
		}
	}
	word, _, _ := strings.Cut(next, " ")
	if slices.Contains([]string{"use", "in", "since", "as", "please", "see", "and", "because", "prefer", "by"}, word) {
		return true
	}
	after := strings.TrimSpace(s[min(len(s), len(plainDeprecation)):])
	return strings.HasPrefix(s, strings.ToUpper(plainDeprecation)) && after != "" && unicode.IsUpper(rune(after[0]))
}

// remedyIn returns a sentence without the signs around it if it says what to do instead, otherwise "".
func remedyIn(s string) string {
	s = strings.Trim(strings.Join(strings.Fields(s), " "), " :.!,;-–—*_()[]|")
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if slices.Contains([]string{
			"use", "see", "prefer", "instead", "favor", "favour", "replaced", "superseded", "call", "switch", "migrate",
			"removed",
		}, w) {
			return s
		}
	}
	return ""
}
