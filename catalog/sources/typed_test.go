package sources

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/upstream"
)

func TestNewServer(t *testing.T) {
	for _, tt := range []struct {
		transport string
		typed     []string
		want      upstream.Server // zero if it is refused
	}{
		{"", []string{"a", "https://x.example/mcp"}, upstream.Server{Name: "a", URL: "https://x.example/mcp"}},
		{"sse", []string{"a", "http://x"}, upstream.Server{Name: "a", URL: "http://x", Transport: upstream.SSE}},
		{"", []string{"a", "npx", "-y", "b"}, upstream.Server{Name: "a", Command: "npx", Args: []string{"-y", "b"}}},
		{"", []string{"a", "run"}, upstream.Server{Name: "a", Command: "run"}},
		{
			"stdio",
			[]string{"a", "http://is-a-program"},
			upstream.Server{Name: "a", Command: "http://is-a-program", Transport: upstream.Stdio},
		},
		{"", []string{"a"}, upstream.Server{}},
		{"", []string{"a", "https://x", "more"}, upstream.Server{}},
		{"http", []string{"a", "npx"}, upstream.Server{}},
		{"carrier-pigeon", []string{"a", "npx"}, upstream.Server{}},
	} {
		got, err := NewServer(tt.transport, tt.typed)
		if tt.want.Name == "" {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("%q %q gives %v, %v", tt.transport, tt.typed, got, err)
			}
			continue
		}
		if d := cmp.Diff(tt.want, got); d != "" || err != nil {
			t.Errorf("%q %q: %v (-want +got):\n%s", tt.transport, tt.typed, err, d)
		}
	}
}

func TestParsePairs(t *testing.T) {
	for _, tt := range []struct {
		words []string
		sep   string
		want  map[string]string // nil for none; "bad" as the only name if they are refused
	}{
		{nil, "=", nil},
		{[]string{"A=1", " B = x=y ", "C="}, "=", map[string]string{"A": "1", "B": "x=y", "C": ""}},
		{[]string{"A"}, "=", map[string]string{"A": "${A}"}},
		{[]string{"X-Key: a:b"}, ":", map[string]string{"X-Key": "a:b"}},
		{[]string{"X-Key"}, ":", map[string]string{"bad": ""}},
		{[]string{"=1"}, "=", map[string]string{"bad": ""}},
	} {
		got, err := ParsePairs(tt.words, tt.sep, "pair")
		if _, bad := tt.want["bad"]; bad {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("%q gives %v, %v", tt.words, got, err)
			}
			continue
		}
		if d := cmp.Diff(tt.want, got); d != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", tt.words, err, d)
		}
	}
}
