package sources

import (
	"maps"
	"slices"
)

// fields holds a reader for each key that a mapping may have.
type fields map[string]func(n node) error

// readMapping reads a mapping and refuses unknown keys: a misspelled key would otherwise be ignored unnoticed. What
// names the mapping in the error. It stops at the first error.
func (f fields) readMapping(n node, what string) error {
	members, err := n.members()
	if err != nil {
		return err
	}
	for _, m := range members {
		read, ok := f[m.key]
		if !ok {
			known := slices.Sorted(maps.Keys(f))
			return n.d.invalidAt(m.line, nil, "the nearest known key is "+Nearest(m.key, known), "%s has no key %q",
				what, m.key)
		}
		if err := read(m.value); err != nil {
			return err
		}
	}
	return nil
}

// Nearest returns the element of known with the smallest edit distance to s, case ignored, and the first of several; ""
// if known is empty.
func Nearest(s string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if n := editDistance(s, k); least < 0 || n < least {
			best, least = k, n
		}
	}
	return best
}

// editDistance returns the Levenshtein distance, ignoring the case of ASCII letters. For an a above 100 bytes, longer
// than any key, it returns the length.
func editDistance(a, b string) int {
	if len(a) > 100 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i]|0x20 != b[j]|0x20 {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// The readers of simple values. Each returns a reader that stores the value in its argument.

// text stores a string; numbers and dates of YAML are accepted as they are written.
func text(into *string) func(node) error {
	return func(n node) (err error) {
		*into, err = n.text()
		return err
	}
}

// texts appends a list of strings to its argument.
func texts(into *[]string) func(node) error {
	return func(n node) error {
		list, err := n.list()
		if err != nil {
			return err
		}
		for _, e := range list {
			s, err := e.text()
			if err != nil {
				return err
			}
			*into = append(*into, s)
		}
		return nil
	}
}

// boolean stores a pointer, so that a missing key differs from false.
func boolean(into **bool) func(node) error {
	return func(n node) error {
		v, err := n.boolean()
		*into = &v
		return err
	}
}
