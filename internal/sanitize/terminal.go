package sanitize

import (
	"fmt"
	"strings"
	"unicode"
)

// IsObeyed reports whether a character could rewrite a terminal or reorder a line: control characters but the line
// feed, and the bidirectional overrides.
func IsObeyed(r rune) bool {
	return r != '\n' && unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e ||
		r == 0x200f || r == 0x61c
}

// Printable drops what a terminal would obey. A tab becomes a space.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case IsObeyed(r):
			return -1
		}
		return r
	}, s)
}

// EscapeObeyed replaces what a terminal would obey by its JSON escapes. The text must be JSON, where such characters
// stand in strings alone, or YAML with quotation marks around each string that has one.
func EscapeObeyed(s string) string {
	if strings.IndexFunc(s, IsObeyed) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if IsObeyed(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
