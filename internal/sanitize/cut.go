package sanitize

import "unicode/utf8"

// Clip is Cut with a mark behind what was cut off, which is not counted.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Cut(s, n) + "…"
}

// Cut returns at most the first n bytes of s, ending at a character's border. n must not be negative.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
