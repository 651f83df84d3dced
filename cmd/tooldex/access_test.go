package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

func TestAccess(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret, empty := write("token", " s3cret\n"), write("empty", "\n")
	few := write("few.yaml", fmt.Sprintf("tokens: [{name: few, sha256: %x, profile: files}]", sha256.Sum256([]byte("few"))))
	profiles := map[string]profile{"files": {Servers: []string{"filesystem"}}}
	type env = map[string]string
	for name, c := range map[string]struct {
		flags serveFlags
		env   env
		token string
		rate  float64
		fails string
	}{
		"loopback":              {serveFlags{listen: "127.0.0.1:1"}, nil, "", 0, ""},
		"loopback of six":       {serveFlags{listen: "[::1]:1"}, nil, "", 0, ""},
		"loopback by name":      {serveFlags{listen: "localhost:1"}, nil, "", 0, ""},
		"loopback, limited":     {serveFlags{listen: "127.0.0.1:1", rate: 3}, nil, "", 3, ""},
		"open":                  {serveFlags{listen: "0.0.0.0:1"}, nil, "", 0, "there is no token"},
		"open, all addresses":   {serveFlags{listen: ":1"}, nil, "", 0, "there is no token"},
		"open, of six":          {serveFlags{listen: "[::]:1"}, nil, "", 0, "there is no token"},
		"open by name":          {serveFlags{listen: "tools.example.com:1"}, nil, "", 0, "there is no token"},
		"a name like ours":      {serveFlags{listen: "localhost.example.com:1"}, nil, "", 0, "there is no token"},
		"a token":               {serveFlags{listen: ":1"}, env{"TOOLDEX_TOKEN": "t"}, "t", openRate, ""},
		"a token, unlimited":    {serveFlags{listen: ":1", rate: -1}, env{"TOOLDEX_TOKEN": "t"}, "t", 0, ""},
		"a file":                {serveFlags{listen: ":1", tokenFile: secret}, env{"TOOLDEX_TOKEN": "t"}, "s3cret", openRate, ""},
		"a file by environment": {serveFlags{listen: ":1"}, env{"TOOLDEX_TOKEN_FILE": secret}, "s3cret", openRate, ""},
		"an empty file":         {serveFlags{listen: ":1", tokenFile: empty}, env{"TOOLDEX_TOKEN": "t"}, "", 0, "holds no token"},
		"no file":               {serveFlags{listen: ":1", tokenFile: secret + "x"}, nil, "", 0, "tokenx"},
		"tokens":                {serveFlags{listen: ":1", tokens: few}, nil, "", openRate, ""},
		"bad tokens":            {serveFlags{listen: ":1", tokens: secret}, nil, "", 0, "tokens cannot be read"},
		"no address":            {serveFlags{listen: "here"}, nil, "", 0, "is not an address"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.flags.access(func(key string) string { return c.env[key] }, profiles)
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("error %v, want %q", err, c.fails)
			}
			if got.token != c.token || got.rate != c.rate {
				t.Errorf("%+v, want token %q at %v", got, c.token, c.rate)
			}
		})
	}
}

func TestParseTokens(t *testing.T) {
	digest := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	profiles := map[string]profile{"files": {}}
	for name, c := range map[string]struct {
		text  string
		want  []boundToken
		fails string
	}{
		"one": {
			"tokens: [{name: a, sha256: " + digest("a") + ", profile: files, readOnly: true}]",
			[]boundToken{{"a", sha256.Sum256([]byte("a")), view{"files", true}}},
			"",
		},
		"JSON": {
			`{"tokens": [{"sha256": "` + strings.ToUpper(digest("a")) + `"}]}`,
			[]boundToken{{"number 1", sha256.Sum256([]byte("a")), view{}}},
			"",
		},
		"nothing":           {"", nil, "no tokens"},
		"no YAML":           {"{", nil, "cannot be read"},
		"unknown field":     {"tokens: [{secret: a}]", nil, "secret"},
		"secret for a hash": {"tokens: [{name: a, sha256: hunter2}]", nil, "token a: sha256 is not"},
		"short":             {"tokens: [{sha256: abcd}]", nil, "token number 1: sha256 is not"},
		"twice":             {"tokens: [{name: a, sha256: " + digest("a") + "}, {name: b, sha256: " + digest("a") + "}]", nil, "token b: its sha256 is that of token a"},
		"of no secret":      {"tokens: [{name: a, sha256: " + digest("") + "}]", nil, "that of no secret"},
		"unknown profile":   {"tokens: [{name: a, sha256: " + digest("a") + ", profile: fils}]", nil, `there is no profile "fils"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseTokens([]byte(c.text), profiles)
			if c.fails != "" {
				var own *tool.Error
				if !errors.As(err, &own) || own.Code != tool.Invalid || own.Hint == "" || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, want %q", err, c.fails)
				}
				return
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(boundToken{}, view{})); err != nil || d != "" {
				t.Errorf("%v (-want +got)\n%s", err, d)
			}
		})
	}
}

// FuzzParseTokens holds that whatever is read can be told apart and belongs to a profile that there is.
func FuzzParseTokens(f *testing.F) {
	f.Add([]byte("tokens: [{name: a, sha256: " + strings.Repeat("ab", 32) + ", profile: files, readOnly: true}]"))
	f.Add([]byte(`{"tokens": [{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tokens, err := parseTokens(b, map[string]profile{"files": {}})
		if (err == nil) != (len(tokens) > 0) {
			t.Errorf("%d tokens, %v", len(tokens), err)
		}
		seen := map[[sha256.Size]byte]bool{sha256.Sum256(nil): true}
		for _, one := range tokens {
			if seen[one.digest] || one.view.profile != "" && one.view.profile != "files" {
				t.Errorf("%+v", one)
			}
			seen[one.digest] = true
		}
	})
}

// bearing adds a token to each request.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestTokensOverMCP has the built command serve tokens of different reach, and connects with each in both generations of the
// protocol.
func TestTokensOverMCP(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"secret":   "whole",
		"profiles": "profiles: {files: {mode: full, servers: [filesystem]}, code: {mode: full, servers: [github]}}",
		"tokens": fmt.Sprintf("tokens: [{name: f, sha256: %x, profile: files}, {name: r, sha256: %x, readOnly: true}, {name: b, sha256: %x, profile: files, readOnly: true}]",
			sha256.Sum256([]byte("files")), sha256.Sum256([]byte("reader")), sha256.Sum256([]byte("both"))),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := serveHTTP(t, t.TempDir(), "--demo", "--mode", "full", "--profiles", filepath.Join(dir, "profiles"),
		"--tokens", filepath.Join(dir, "tokens"), "--token-file", filepath.Join(dir, "secret"))
	const reads, writes, other = "filesystem__read_file", "filesystem__write_file", "github__list_commits"
	for _, c := range []struct {
		token, path string
		lists       []string // of the three; nil if it may not connect
	}{
		{"whole", "/mcp", []string{reads, writes, other}},
		{"whole", "/mcp/code", []string{other}},
		{"files", "/mcp", []string{reads, writes}},
		{"files", "/mcp/files", []string{reads, writes}},
		{"files", "/mcp/code", nil},
		{"files", "/mcp/full", nil},
		{"reader", "/mcp", []string{reads, other}},
		{"reader", "/mcp/files", []string{reads}},
		{"both", "/mcp", []string{reads}},
		{"both", "/mcp/code", nil},
		{"nobody", "/mcp", nil},
		{"", "/mcp/files", nil},
	} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			session, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: base + c.path, HTTPClient: &http.Client{Transport: bearing(c.token)}, MaxRetries: -1,
			}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if c.lists == nil {
				if err == nil {
					t.Errorf("%s may use %s", c.token, c.path)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s at %s: %v", c.token, c.path, err)
			}
			names := toolNames(t, session)
			one := &client{t: t, ClientSession: session}
			proposes := textOf(one.call("propose_utterances", map[string]any{"tools": []any{map[string]any{"tool": "x", "utterances": []string{"do it"}}}}))
			if reader := c.token == "reader" || c.token == "both"; strings.Contains(proposes, "not taken here") != reader {
				t.Errorf("%s at %s proposes: %s", c.token, c.path, proposes)
			}
			for _, name := range []string{reads, writes, other} {
				want := slices.Contains(c.lists, name)
				if slices.Contains(names, name) != want {
					t.Errorf("%s at %s lists %s: %v, want %v", c.token, c.path, name, !want, want)
				}
				got := textOf(one.call(name, map[string]any{"path": "a", "content": "b", "owner": "o", "repo": "r"}))
				if hidden := strings.HasPrefix(got, "not_found: no tool is named"); hidden == want {
					t.Errorf("%s at %s calls %s: %s", c.token, c.path, name, got)
				}
			}
			_ = session.Close()
		}
	}
}
