package orderedjson

import (
	"strings"
	"testing"

	"tooldex/tool"
)

func TestCheckKeys(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		fits       bool
	}{
		{"nothing", ``, true},
		{"each once", `{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}`, true},
		{"twice", `{"a":1,"a":1}`, false},
		{"spelled otherwise", `{"a":1,"\u0061":1}`, false},
		{"in another case", `{"query":1,"Query":1}`, false},
		{"in another case, within", `{"env":{"path":1,"PATH":1}}`, true},
		{"within an object", `{"a":{"b":1,"c":2,"b":3}}`, false},
		{"within a list", `{"a":[1,[{"b":1,"b":3}]]}`, false},
		{"after a list", `{"a":[],"a":[]}`, false},
		{"in a text", `{"a":"{\"b\":1,\"b\":2}"}`, true},
		{"empty keys", `{"":1,"":2}`, false},
		{"no JSON", `{"a":1,"a`, true},
		{"no JSON after a key", `{"a":}`, true},
		{"words that are none", `{"a":tru,"a":1}`, true},
		{"only the beginning", `[[[[{"a":`, true},
		{"more is closed than was opened", `{"a":1}]]`, true},
		{"a single value", `12`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckKeys([]byte(tt.text))
			if fits := err == nil; fits != tt.fits || !fits && tool.CodeOf(err) != tool.Invalid {
				t.Errorf("%v, want fits %v", err, tt.fits)
			}
		})
	}
	err := CheckKeys([]byte(`{"` + strings.Repeat("k", 5000) + `":1,"` + strings.Repeat("k", 5000) + `":1}`))
	if err == nil || len(err.Error()) > 300 {
		t.Errorf("the error for a long key is %v", err)
	}
}

// FuzzCheckKeys holds that any text is answered.
func FuzzCheckKeys(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"]"}],"a":1}`, `[[[`, `{"`, `]`, `{"a" 1}`, `[}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := CheckBounds(b, MaxDepth, MaxValues); err == nil {
			_ = CheckKeys(b)
		}
	})
}
