package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func TestParseProfiles(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[string]Profile
		err  string
	}{
		"nothing": {"", nil, ""},
		"YAML":    {"profiles:\n  review:\n    mode: dynamic\n    servers: [github, gitlab]\n    always: [github__get_issue]\n  all: {}\n", map[string]Profile{"review": {Mode: "dynamic", Servers: []string{"github", "gitlab"}, Always: []string{"github__get_issue"}}, "all": {}}, ""},
		"JSON": {
			`{"profiles":{"review":{"mode":"lazy","summary":"Reviews."}}}`,
			map[string]Profile{"review": {Mode: "lazy", Summary: "Reviews."}},
			"",
		},
		"unknown key":  {"profiles: {a: {servrs: [x]}}", nil, "field servrs not found"},
		"other top":    {"profile: {a: {}}", nil, "field profile not found"},
		"unknown mode": {"profiles: {a: {mode: loud}}", nil, `profile a: unknown mode "loud"`},
		"bad name":     {"profiles: {a/b: {}}", nil, `"a/b" cannot be the name of a profile`},
		"no YAML":      {"profiles: [", nil, "profiles cannot be read"},
		"a list":       {"- a", nil, "profiles cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseProfiles([]byte(c.text))
			if c.err != "" {
				if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want an error with %q", err, c.err)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func FuzzProfiles(f *testing.F) {
	f.Add([]byte("profiles: {a: {mode: full, servers: [x]}}"))
	f.Add([]byte(`{"profiles":{"a":{"always":["b"]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		profiles, err := parseProfiles(b)
		if err != nil && tool.CodeOf(err) != tool.Invalid {
			t.Errorf("an error of code %s: %v", tool.CodeOf(err), err)
		}
		for name, p := range profiles {
			if !profileName.MatchString(name) || p.Mode != "" && !IsMode(p.Mode) {
				t.Errorf("lets through %q %q", name, p.Mode)
			}
		}
	})
}
