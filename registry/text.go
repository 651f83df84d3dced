package registry

import (
	"fmt"
	"slices"
	"strings"
)

// Rows returns name, version, how it runs and description of each entry, for a table.
func (f *Found) Rows() [][]string {
	rows := make([][]string, len(f.Entries))
	for i := range f.Entries {
		e := &f.Entries[i]
		how := "not usable here"
		if l, err := e.Launch(); err == nil {
			how = l.String()
		}
		if e.Deprecated {
			how += " (deprecated)"
		}
		rows[i] = []string{e.Name, e.Version, how, e.Description}
	}
	return rows
}

// String returns the command or address of the server.
func (l *Launch) String() string {
	if l.Server.URL != "" {
		return l.Server.URL
	}
	return strings.Join(append([]string{l.Server.Command}, l.Server.Args...), " ")
}

// Question says what a person must know before the server is added: what runs, who publishes it, and which variables it
// reads. Set reports whether a variable of the environment is set.
func (e *Entry) Question(l *Launch, set func(variable string) bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n  runs: %s\n", e.Name, e.Version, e.Description, l)
	if e.Source != "" {
		fmt.Fprintf(&b, "  source: %s\n", e.Source)
	}
	wants := slices.SortedFunc(slices.Values(l.Wants), func(x, y Want) int {
		return strings.Compare(x.Variable, y.Variable)
	})
	for _, w := range wants {
		state := "not set"
		if set(w.Variable) {
			state = "set"
		}
		fmt.Fprintf(&b, "  reads %s from the environment (%s): %s\n", w.Variable, state, w.About)
	}
	if e.Deprecated {
		b.WriteString("  its publisher has deprecated it\n")
	}
	return b.String()
}
