package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
				"not accepted here") != reader {
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
