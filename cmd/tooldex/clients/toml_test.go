package clients

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTOMLStatements takes texts apart at places where a line may look like something else than it is.
func TestTOMLStatements(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string // the path of each statement, tables in brackets
	}{
		"nothing":               {"", nil},
		"only comments":         {"# [a]\n\n  # b = 1\n", nil},
		"keys and tables":       {"a = 1\n[t]\nb.c = 2\n", []string{"a", "[t]", "t/b/c"}},
		"an array of tables":    {"[[t]]\na = 1\n[[t]]\n", []string{"[t]", "t/a", "[t]"}},
		"quoted keys":           {"\"a.b\".'c d' = 1\n[x.\"y]z\"]\n", []string{"a.b/c d", "[x/y]z]"}},
		"blanks around dots":    {"[ a . b ]\nc . d = 1", []string{"[a/b]", "a/b/c/d"}},
		"a table in a text":     {"a = \"\"\"\n[no]\nb = 1\n\"\"\"\nc = 2\n", []string{"a", "c"}},
		"a table in a literal":  {"a = '''\n[no]\n'''\nc = 2\n", []string{"a", "c"}},
		"quotes before the end": {"a = \"\"\"x\"\"\"\"\"\nc = 2\n", []string{"a", "c"}},
		"an escaped quote":      {"a = \"\\\"[no]\"\nc = 2\n", []string{"a", "c"}},
		"an array over lines":   {"a = [\n  \"]\", # ]\n  [1],\n]\nc = 2\n", []string{"a", "c"}},
		"a comment behind":      {"a = 1 # [no]\nc = 2\n", []string{"a", "c"}},
		"carriage returns":      {"a = 1\r\n\r\n[t]\r\nb = 2\r\n", []string{"a", "[t]", "t/b"}},
		"a byte order mark":     {"\ufeff[t]\na = 1\n", []string{"[t]", "t/a"}},
		"no line feed":          {"[t]\nb = 'x'", []string{"[t]", "t/b"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			end := 0
			for _, s := range tomlStatements([]byte(tt.text)) {
				path := strings.Join(s.path, "/")
				if s.header {
					path = "[" + path + "]"
				}
				got = append(got, path)
				if s.start < end || s.end <= s.start || s.end > len(tt.text) {
					t.Errorf("%s is from %d to %d, after %d", path, s.start, s.end, end)
				}
				end = s.end
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTOMLNames writes names and values that need quotes, and reads them back.
func TestTOMLNames(t *testing.T) {
	for _, name := range []string{"plain", "with space", "dot.ted", `quo"te`, "ünï", ""} {
		own := Own{Name: name, Command: `C:\bin\"t".exe`, Args: []string{"serve", "a\tb", "\x7f", "</x> & y"}}
		d := &Document{
			File: File{Path: "x.toml", Format: TOML, Sections: [][]string{{"mcp_servers"}}},
			Text: []byte("a = 1\n"),
		}
		text, err := d.Replace(own, nil)
		if err != nil { // which reads what was written
			t.Errorf("%q: %v in\n%s", name, err, text)
		}
	}
}
