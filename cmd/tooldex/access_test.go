package main

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	few := write("few.yaml", fmt.Sprintf("tokens: [{name: few, sha256: %x, profile: files}]",
		sha256.Sum256([]byte("few"))))
	none, other := write("none.yaml", "tokens: []\n"),
		write("other.yaml", fmt.Sprintf("tokens: [{name: few, sha256: %x, profile: others}]",
			sha256.Sum256([]byte("few"))))
	profiles := map[string]profile{"files": {Servers: []string{"filesystem"}}}
	type env = map[string]string
	for name, c := range map[string]struct {
		flags serveFlags
		env   env
		token string
		rate  float64
		fails string
	}{
		"loopback":            {serveFlags{listen: "127.0.0.1:1"}, nil, "", 0, ""},
		"loopback of six":     {serveFlags{listen: "[::1]:1"}, nil, "", 0, ""},
		"loopback by name":    {serveFlags{listen: "localhost:1"}, nil, "", 0, ""},
		"loopback, limited":   {serveFlags{listen: "127.0.0.1:1", rate: 3}, nil, "", 3, ""},
		"open":                {serveFlags{listen: "0.0.0.0:1"}, nil, "", 0, "there is no token"},
		"open, all addresses": {serveFlags{listen: ":1"}, nil, "", 0, "there is no token"},
		"open, of six":        {serveFlags{listen: "[::]:1"}, nil, "", 0, "there is no token"},
		"open by name":        {serveFlags{listen: "tools.example.com:1"}, nil, "", 0, "there is no token"},
		"a name like ours":    {serveFlags{listen: "localhost.example.com:1"}, nil, "", 0, "there is no token"},
		"a token":             {serveFlags{listen: ":1"}, env{"TOOLDEX_TOKEN": "t"}, "t", openRate, ""},
		"a token, unlimited":  {serveFlags{listen: ":1", rate: -1}, env{"TOOLDEX_TOKEN": "t"}, "t", 0, ""},
		"a file": {
			serveFlags{listen: ":1", tokenFile: secret},
			env{"TOOLDEX_TOKEN": "t"},
			"s3cret",
			openRate, "",
		},
		"a file by environment": {serveFlags{listen: ":1"}, env{"TOOLDEX_TOKEN_FILE": secret}, "s3cret", openRate, ""},
		"an empty file": {
			serveFlags{listen: ":1", tokenFile: empty},
			env{"TOOLDEX_TOKEN": "t"},
			"", 0,
			"holds no token",
		},
		"no file":           {serveFlags{listen: ":1", tokenFile: secret + "x"}, nil, "", 0, "tokenx"},
		"tokens":            {serveFlags{listen: ":1", tokens: few}, nil, "", openRate, ""},
		"bad tokens":        {serveFlags{listen: ":1", tokens: secret}, nil, "", 0, "tokens cannot be read"},
		"no tokens":         {serveFlags{listen: ":1", tokens: none}, nil, "", 0, "there is no token"},
		"no file of tokens": {serveFlags{listen: ":1", tokens: secret + "x"}, nil, "", 0, "tokenx cannot be read"},
		"of no profile":     {serveFlags{listen: ":1", tokens: other}, nil, "", 0, `there is no profile "others"`},
		"issuers": {
			serveFlags{listen: "127.0.0.1:1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "https://login.example.com"},
			"", 0, "",
		},
		"issuers, open": {
			serveFlags{listen: ":1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "https://login.example.com"},
			"", 0, "no resource",
		},
		"issuers and resource": {serveFlags{listen: ":1"}, env{
			"TOOLDEX_OAUTH_ISSUERS":  "https://login.example.com",
			"TOOLDEX_OAUTH_RESOURCE": "https://tools.example.com",
		}, "", openRate, ""},
		"a plain issuer": {
			serveFlags{listen: "127.0.0.1:1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "http://login.example.com"},
			"", 0, "does not begin with https",
		},
		"a bad grant": {
			serveFlags{listen: "127.0.0.1:1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "https://login.example.com", "TOOLDEX_OAUTH_GRANTS": "everybody all"},
			"", 0,
			"begins with no condition",
		},
		"a bad address": {
			serveFlags{listen: "127.0.0.1:1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "https://login.example.com", "TOOLDEX_ALLOW_PRIVATE": "10.0.0.1:80"},
			"", 0,
			"neither an address",
		},
		"no address": {serveFlags{listen: "here"}, nil, "", 0, "is not an address"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{
				getenv: func(key string) string { return c.env[key] }, demo: true,
				log: slog.New(slog.DiscardHandler),
			}
			got, err := a.admission(&c.flags, profiles)
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("error %v, want %q", err, c.fails)
			}
			if got.gate.Whole != c.token || got.rate != c.rate {
				t.Errorf("%+v, want token %q at %v", got, c.token, c.rate)
			}
		})
	}
}

// bearing adds a token to each request.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestTokensOverMCP has the built command serve tokens of different reach, and connects with each in both generations
// of the protocol.
func TestTokensOverMCP(t *testing.T) {
	t.Parallel()
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
			session, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, nil).Connect(t.Context(),
				&mcp.StreamableClientTransport{
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
			proposes := textOf(one.call("propose_utterances", map[string]any{"tools": []any{map[string]any{
				"tool":       "x",
				"utterances": []string{"do it"},
			}}}))
			if reader := c.token == "reader" || c.token == "both"; strings.Contains(proposes,
				"not taken here") != reader {
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
