package sanitize

import (
	"testing"
)

func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		s    string
		n    int
		want string
	}{
		"shorter":           {"find", 5, "find"},
		"as long":           {"find", 4, "find"},
		"longer":            {"find", 3, "fin"},
		"within a letter":   {"für", 2, "f"},
		"behind a letter":   {"für", 3, "fü"},
		"no room":           {"find", 0, ""},
		"no room for one":   {"日本", 2, ""},
		"only tails of one": {"\x80\x80\x80", 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Cut(c.s, c.n); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
