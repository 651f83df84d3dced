package catalog

import (
	"cmp"
	"testing"
)

// TestCompareID compares tools as their IDs are compared, also where the name of one server begins with another's.
func TestCompareID(t *testing.T) {
	var all []entry
	for _, server := range []string{"a", "a-b", "a.b", "a0", "b", "ab", "é", "a/x"} {
		for _, name := range []string{"x", "", "x/y", "y", "z"} {
			all = append(all, entry{tool: aTool(server, name, "")})
		}
	}
	for _, a := range all {
		for _, b := range all {
			if got, want := compareID(a, b), cmp.Compare(a.tool.ID(), b.tool.ID()); got != want {
				t.Errorf("%s and %s compare as %d, want %d", a.tool.ID(), b.tool.ID(), got, want)
			}
		}
	}
}
