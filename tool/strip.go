package tool

import (
	"encoding/json"
	"strings"
)

// StripHidden returns JSON whose strings have no invisible or direction-changing characters, as texts of tools have
// none. Names of members stay as they are, since calls go by them. JSON that holds none, or is not valid, is returned
// as it is.
func StripHidden(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) || !hides(raw) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out = append(out, raw[i])
			i++
			continue
		}
		end := i + StringLen(raw[i:])
		text := raw[i:end]
		i = end
		for end < len(raw) && raw[end] <= ' ' {
			end++
		}
		var s string
		if end < len(raw) && raw[end] == ':' || json.Unmarshal(text, &s) != nil {
			out = append(out, text...)
			continue
		}
		plain := visible(s)
		if b, err := json.Marshal(plain); err == nil && plain != s {
			text = b
		}
		out = append(out, text...)
	}
	return out
}

// visible returns s without what is hidden in it.
func visible(s string) string {
	selectors := 0
	return strings.Map(func(r rune) rune {
		if selects(r) {
			if selectors++; selectors > 1 {
				return -1
			}
			return r
		}
		selectors = 0
		if hidden(r) {
			return -1
		}
		return r
	}, s)
}

// selects reports whether r chooses how the character before it looks. One does; more of them in a row can only hide
// something.
func selects(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

// selectsTwice reports whether two of them follow one another.
func selectsTwice(raw []byte) bool {
	before := false
	for _, r := range string(raw) {
		if selects(r) && before {
			return true
		}
		before = selects(r)
	}
	return false
}
