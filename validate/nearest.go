package validate

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// Nearest returns the name among others that somebody who wrote name most likely meant, or "" if none is close: the
// same but for case and separators, one that holds the other, or one with few other letters.
func Nearest(name string, among []string) string {
	const far = 100
	folded := foldName(name)
	distance := func(other string) int {
		o := foldName(other)
		switch d := editDistance(folded, o); {
		case folded == "" || o == "":
			return far
		case d <= max(1, min(len(folded), len(o))/4):
			return d
		case min(len(folded), len(o)) >= 3 && (strings.Contains(folded, o) || strings.Contains(o, folded)):
			return d + 4
		}
		return far
	}
	best := ""
	for _, other := range slices.Sorted(slices.Values(among)) {
		if d := distance(other); d < far && (best == "" || d < distance(best)) {
			best = other
		}
	}
	return best
}

// foldName drops case and separators. A long name is cut, since the comparison takes the product of the lengths.
func foldName(name string) string {
	folded := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, name[:min(len(name), 200)])
	return folded
}

// editDistance counts the letters to insert, remove or replace to turn a into b, byte by byte.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

// propertyNames lists the top-level properties of a schema, sorted.
func propertyNames(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	out := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Unknown returns what to say of the members of args, an object, that a schema does not name: `limits is not known: did
// you mean limit?`; "" if there are none.
func Unknown(schema, args json.RawMessage) string {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return ""
	}
	known := propertyNames(schema)
	var names []string
	for name := range given {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return unknownNames(names, known, given)
}

// unknownNames says of names that they are not known, and which of the known ones that are not given were meant.
func unknownNames(names, known []string, given map[string]json.RawMessage) string {
	if len(names) == 0 {
		return ""
	}
	free := slices.DeleteFunc(slices.Clone(known), func(name string) bool { _, ok := given[name]; return ok })
	var meant []string
	for _, name := range names {
		if near := Nearest(name, free); near != "" && !slices.Contains(meant, near) {
			meant = append(meant, near)
		}
	}
	text := strings.Join(names, ", ") + isUnknown
	if len(meant) > 0 {
		text += ": did you mean " + strings.Join(meant, ", ") + "?"
	}
	return text
}
