package main

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// expand fills in $NAME, ${NAME} and ${NAME:-default}.
func expand(text string, values map[string]string) string {
	return os.Expand(text, func(name string) string {
		name, otherwise, _ := strings.Cut(name, ":-")
		if v := values[name]; v != "" {
			return v
		}
		return otherwise
	})
}

// pairs reads NAME=VALUE NAME=VALUE, as ENV and LABEL have it. Values may be quoted.
func pairs(text string) map[string]string {
	out := map[string]string{}
	for _, word := range words(text) {
		if name, value, ok := strings.Cut(word, "="); ok {
			out[name] = value
		}
	}
	return out
}

// words splits text at spaces outside of double quotes, which go.
func words(text string) []string {
	var out []string
	var word strings.Builder
	quoted, open := false, false
	for _, r := range text {
		switch {
		case r == '"':
			quoted, open = !quoted, true
		case (r == ' ' || r == '\t') && !quoted:
			if open {
				out = append(out, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		out = append(out, word.String())
	}
	return out
}

// environ lists values as a process takes them, in order.
func environ(values map[string]string) []string {
	out := make([]string, 0, len(values))
	for _, k := range slices.Sorted(maps.Keys(values)) {
		out = append(out, k+"="+values[k])
	}
	return out
}
