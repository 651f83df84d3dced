package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxName is the length of the longest name of a tool.
const maxName = 64

// cleanName returns a name of letters, digits, hyphens, dots and underscores, of n bytes at most; "" if nothing is left.
func cleanName(name string, n int) string {
	var b strings.Builder
	gap := false
	for _, r := range name {
		if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' ||
			r == '.') {
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	out := strings.TrimLeft(b.String(), "-._")
	return strings.TrimRight(out[:min(len(out), n)], "-._")
}

// toolName returns the name of an operation: its ID, or its method and path.
func toolName(method, path, id string) string {
	if name := strings.ReplaceAll(cleanName(id, maxName), ".", "_"); name != "" {
		return name
	}
	words := strings.NewReplacer("{", "by_", "}", "").Replace(path)
	name := cleanName(strings.ToLower(method)+" "+words, maxName)
	return strings.ReplaceAll(name, ".", "_")
}

// freeName returns name, or name with a number if it is taken, and takes it. It is never longer than a name may be.
func freeName(name string, taken map[string]bool) string {
	out := name
	for i := 2; taken[out]; i++ {
		end := fmt.Sprintf("_%d", i)
		out = name[:min(len(name), maxName-len(end))] + end
	}
	taken[out] = true
	return out
}

// list returns words for a hint, without names that fill a screen, and none if there are no words.
func list(words []string, none string) string {
	const most = 12
	if len(words) == 0 {
		return none
	}
	if len(words) > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", len(words)-most)
	}
	return strings.Join(words, ", ")
}

// keysOf returns the keys of a map in order.
func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
