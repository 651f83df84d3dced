package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

func TestWriteYAML(t *testing.T) {
	v := struct {
		Zeta  string         `json:"zeta"`
		Alpha []any          `json:"alpha"`
		Big   int64          `json:"big"`
		Yes   string         `json:"yes"`
		Empty string         `json:"empty"`
		None  []string       `json:"none"`
		Map   map[string]int `json:"map"`
	}{"ü 😀", []any{1.5, true, nil, "a: b"}, 9007199254740993, "true", "", []string{}, map[string]int{}}
	var b strings.Builder
	if err := writeYAML(&b, v); err != nil {
		t.Fatal(err)
	}
	want := `zeta: "ü \U0001F600"
alpha:
  - 1.5
  - true
  - null
  - 'a: b'
big: 9007199254740993
"yes": "true"
empty: ""
none: []
map: {}
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestObeyedCharactersAreEscaped holds that a terminal obeys nothing in JSON and YAML, and that both read back as what
// they were.
func TestObeyedCharactersAreEscaped(t *testing.T) {
	const text = "a\u009b31mred\u0085b\x7f\u202egnp.exe\u2066\u200f\u061c\x1b[2J\ttab\nline: \\u202e # \"q\""
	v := map[string]any{text: []any{text, json.RawMessage(`{"raw":"\u009b"}`)}, "plain": "данные بيانات"}
	for name, c := range map[string]struct {
		write func(io.Writer, any) error
		read  func([]byte, any) error
	}{
		"json": {writeJSON, json.Unmarshal}, "yaml": {writeYAML, yaml.Unmarshal},
	} {
		var b strings.Builder
		if err := c.write(&b, v); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(b.String(), sanitize.IsObeyed); i >= 0 {
			t.Errorf("%s has %q", name, b.String()[i:])
		}
		var got map[string]any
		if err := c.read([]byte(b.String()), &got); err != nil {
			t.Fatalf("%s: %v in %s", name, err, b.String())
		}
		want := map[string]any{text: []any{text, map[string]any{"raw": "\u009b"}}, "plain": "данные بيانات"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestPrintable(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a b\nc", "a b\nc"},
		{"terminal codes", "\x1b[31mred\x07", "[31mred"},
		{"tab and return", "a\tb\r", "a b"},
		{"bidirectional overrides", "a\u202eb\u2066c\u200f", "abc"},
		{"other scripts stay", "数据 данные بيانات", "数据 данные بيانات"},
	}
	for _, tt := range tests {
		if got := makePrintable(tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("EOF")
	tests := []struct {
		name string
		err  error
		code int
		text string
	}{
		{"none", nil, 0, ""},
		{"plain", cause, 1, "tooldex: EOF\n"},
		{"usage", usageError{"no such flag", "see --help"}, 2, "tooldex: no such flag\nhint: see --help\n"},
		{"silent", silent(3), 3, ""},
		{
			"wrapped, with its hint on its own line", fmt.Errorf("import x: %w",
				&tool.Error{Code: tool.Invalid, Op: "read", Msg: "bad", Hint: "mend it", Err: cause}),
			1, "tooldex: import x: read: bad: EOF\nhint: mend it\n",
		},
		{"not found", &tool.Error{Code: tool.NotFound, Msg: "no tool"}, 3, "tooldex: no tool\n"},
		{"internal", &tool.Error{Msg: "broken"}, 1, "tooldex: broken\n"},
		{"denied", &tool.Error{Code: tool.Denied, Msg: "no"}, 1, "tooldex: no\n"},
		{"unavailable", &tool.Error{Code: tool.Unavailable, Msg: "later"}, 1, "tooldex: later\n"},
		{"timeout", &tool.Error{Code: tool.Timeout, Msg: "late"}, 1, "tooldex: late\n"},
		{
			"several", errors.Join(cause, &tool.Error{Code: tool.NotFound, Msg: "no tool", Hint: "look"}), 3,
			"tooldex: EOF\ntooldex: no tool\nhint: look\n",
		},
		{"control characters of a server", errors.New("a\x1b[2Jb"), 1, "tooldex: a[2Jb\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := exitCode(tt.err); got != tt.code {
				t.Errorf("exit code %d, want %d", got, tt.code)
			}
			var b strings.Builder
			if tt.err != nil {
				printError(&b, tt.err)
			}
			if b.String() != tt.text {
				t.Errorf("printed %q, want %q", b.String(), tt.text)
			}
		})
	}
}
