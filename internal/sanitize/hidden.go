package sanitize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"tooldex/internal/orderedjson"
)

// printableASCII reports whether s consists of printable ASCII, line breaks and tabs. Most texts do, and need no
// cleaning.
func printableASCII(s string) bool {
	for i := range len(s) {
		if b := s[i]; b >= 0x7f || b < ' ' && b != '\n' && b != '\t' {
			return false
		}
	}
	return true
}

// isHidden reports whether r is invisible and can change or carry meaning: direction overrides, embeddings and
// isolates, zero-width spaces, soft hyphens, fillers, and tag characters. Joiners, and marks of scripts that need them,
// do not count as hidden.
func isHidden(r rune) bool {
	switch {
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // embeddings, overrides, isolates
		return true
	case r == 0x200b, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r == 0x180e, r == 0xad, r == 0x34f: // no width
		return true
	// fillers, and what is obsolete
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0, r >= 0x206a && r <= 0x206f,
		r >= 0xfff9 && r <= 0xfffb:
		return true
	case r == 0x2028 || r == 0x2029: // separators that some clients show as line breaks
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	}
	return false
}

// hasHidden reports whether a schema contains hidden characters, literally or as \u escapes.
func hasHidden(raw []byte) bool {
	if bytes.ContainsFunc(raw, isHidden) || hasRepeatedSelectors(raw) {
		return true
	}
	for rest := raw; ; {
		i := bytes.Index(rest, []byte(`\u`))
		if i < 0 || len(rest) < i+6 {
			return false
		}
		var r rune
		if _, err := fmt.Sscanf(string(rest[i+2:i+6]), "%x", &r); err == nil && isHidden(r) {
			return true
		}
		rest = rest[i+6:]
	}
}

// StripHidden returns JSON with hidden characters removed from its strings. Names of members stay as they are, since
// calls use them. JSON without hidden characters, or that is not valid, is returned unchanged, without a copy.
func StripHidden(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) || !hasHidden(raw) {
		return raw
	}
	return MapStrings(raw, removeHidden)
}

// Strings returns JSON with hidden and control characters, but for line breaks and tabs, removed from its strings.
// Names of members stay. JSON that is not valid, or has none of them, is returned unchanged.
func Strings(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		return raw
	}
	return MapStrings(raw, func(s string) string {
		if printableASCII(s) {
			return s
		}
		return removeHidden(strings.Map(func(r rune) rune {
			if r != '\n' && r != '\t' && r != '\r' && unicode.IsControl(r) {
				return -1
			}
			return r
		}, s))
	})
}

// HasHidden reports whether a text has a control or hidden character.
func HasHidden(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || isHidden(r) })
}

// MapStrings replaces the strings of valid JSON that change maps to others. Names of members stay. If none changes, raw
// is returned.
func MapStrings(raw json.RawMessage, change func(string) string) json.RawMessage {
	var out []byte // nil until something changes
	kept := 0      // how much of raw is in out
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			i++
			continue
		}
		from := i
		i += orderedjson.StringLen(raw[i:])
		end := i
		for end < len(raw) && raw[end] <= ' ' {
			end++
		}
		var s string
		if end < len(raw) && raw[end] == ':' || json.Unmarshal(raw[from:i], &s) != nil {
			continue
		}
		plain := change(s)
		if plain == s {
			continue
		}
		if b, err := json.Marshal(plain); err == nil {
			out = append(append(out, raw[kept:from]...), b...)
			kept = i
		}
	}
	if out == nil {
		return raw
	}
	return append(out, raw[kept:]...)
}

// removeHidden returns s without hidden characters and repeated variation selectors.
func removeHidden(s string) string {
	selectors := 0
	return strings.Map(func(r rune) rune {
		if isVariationSelector(r) {
			if selectors++; selectors > 1 {
				return -1
			}
			return r
		}
		selectors = 0
		if isHidden(r) {
			return -1
		}
		return r
	}, s)
}

// isVariationSelector reports whether r chooses the appearance of the character before it. One suffices for that; more
// in a row can only hide something.
func isVariationSelector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

// hasRepeatedSelectors reports whether two variation selectors follow one another.
func hasRepeatedSelectors(raw []byte) bool {
	before := false
	for _, r := range string(raw) {
		if isVariationSelector(r) && before {
			return true
		}
		before = isVariationSelector(r)
	}
	return false
}
