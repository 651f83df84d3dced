package orderedjson

import (
	"strings"
	"testing"

	"tooldex/tool"
)

func TestCheckJSON(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		fits       bool
	}{
		{"nothing", ``, true},
		{"as deep as may be", `[[{"a":1}]]`, true},
		{"one deeper", `[[{"a":[]}]]`, false},
		{"brackets in a string are text", `"[[[[[[[[{{{{{{{{,,,,,,,,,,,,,,,,"`, true},
		{"and after an escaped quote", `"\"[[[[[[[[[["`, true},
		{"but not after an escaped backslash", `["\\",[[[[1]]]]]`, false},
		{"side by side is not deep", `[[],[],[]]`, true},
		{"as many as may be", `[1,2,3,4,5,6,7,8,9,0]`, true},
		{"one more", `[1,2,3,4,5,6,7,8,9,0,1]`, false},
		{"keys count", `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`, false},
		{"100,000 levels", strings.Repeat("[", 100_000), false},
		{"100,000 levels of objects", strings.Repeat(`{"a":`, 100_000), false},
		{"more is closed than was opened", `]]]]`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckBounds([]byte(tt.text), 3, 10)
			if fits := err == nil; fits != tt.fits || !fits && tool.CodeOf(err) != tool.Invalid {
				t.Errorf("%v, want fits %v", err, tt.fits)
			}
		})
	}
}

// FuzzCheckJSON compares the depth that is counted with that which a slower reader counts.
func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"]\\\"["}]}`, `[[[`, `"\\"`, `]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const depth, values = 4, 20
		want := fits(b, depth, values)
		if got := CheckBounds(b, depth, values) == nil; got != want {
			t.Errorf("%q: fits %v, want %v", b, got, want)
		}
	})
}

// fits takes the strings out first, and counts then.
func fits(b []byte, depth, values int) bool {
	var rest strings.Builder
	for i := 0; i < len(b); i++ {
		if b[i] != '"' {
			rest.WriteByte(b[i])
			continue
		}
		for i++; i < len(b) && b[i] != '"'; i++ {
			if b[i] == '\\' {
				i++
			}
		}
	}
	level, count := 0, 0
	for _, c := range rest.String() {
		switch c {
		case '[', '{':
			level, count = level+1, count+1
		case ']', '}':
			level--
		case ',', ':':
			count++
		}
		if level > depth || count > values {
			return false
		}
	}
	return true
}
