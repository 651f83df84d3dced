package sanitize

import "unicode/utf8"

// Clip returns s if it has at most n bytes, otherwise Cut(s, n) followed by an ellipsis, which is not counted in n.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Cut(s, n) + "…"
}

// Cut returns at most the first n bytes of s, and never a part of a character. n must not be negative.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
