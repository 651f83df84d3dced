package sources

import (
	"maps"
	"slices"
)

// fields says how to read each key that a mapping may have.
type fields map[string]func(n node) error

// read reads a mapping and refuses keys that are not known: a misspelled key would otherwise do nothing, unnoticed.
// What names the mapping in the error.
func (f fields) read(n node, what string) error {
	members, err := n.members()
	if err != nil {
		return err
	}
	for _, m := range members {
		read, ok := f[m.key]
		if !ok {
			known := slices.Sorted(maps.Keys(f))
			return n.d.bad(m.line, nil, "the nearest known key is "+Nearest(m.key, known), "%s has no key %q", what,
				m.key)
		}
		if err := read(m.value); err != nil {
			return err
		}
	}
	return nil
}

// Nearest returns the one of known that takes the fewest edits to get from s, case ignored, the first of several; "" if
// none is known.
func Nearest(s string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if n := edits(s, k); least < 0 || n < least {
			best, least = k, n
		}
	}
	return best
}

// edits is the Levenshtein distance, case ignored for ASCII; what is longer than any key counts by its length.
func edits(a, b string) int {
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

// The readers of simple values.

func text(into *string) func(node) error {
	return func(n node) (err error) {
		*into, err = n.text()
		return err
	}
}

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

func boolean(into **bool) func(node) error {
	return func(n node) error {
		v, err := n.boolean()
		*into = &v
		return err
	}
}
