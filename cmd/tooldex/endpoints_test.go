package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestProfilesOverHTTP connects, in both generations, to endpoints of one process: each has its own tools, mode and
// sessions, and what a profile hides can be neither found nor called there.
func TestProfilesOverHTTP(t *testing.T) {
	file := filepath.Join(t.TempDir(), "profiles.yaml")
	if err := os.WriteFile(file, []byte("profiles: {files: {mode: dynamic, servers: [filesystem], always: [filesystem__edit_file]}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := serveHTTP(t, t.TempDir(), "--demo", "--profiles", file)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for path, want := range map[string]struct{ lists, lacks string }{
			"/mcp":         {"search_tools", "filesystem__edit_file"},
			"/mcp/files":   {"filesystem__edit_file", "filesystem__read_file"},
			"/mcp/full":    {"filesystem__read_file", "search_tools"},
			"/mcp/lazy":    {"filesystem__read_file", "load_server_tools"},
			"/mcp/search/": {"search_tools", "filesystem__read_file"},
		} {
			t.Run(revision+" "+path, func(t *testing.T) {
				session, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, nil).
					Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + path},
						&mcp.ClientSessionOptions{ProtocolVersion: revision})
				if err != nil {
					t.Fatal(err)
				}
				c := &client{t: t, ClientSession: session}
				t.Cleanup(func() { _ = session.Close() })
				names := toolNames(t, session)
				if !slices.Contains(names, want.lists) || slices.Contains(names, want.lacks) {
					t.Errorf("lists %v, want %s and not %s", names, want.lists, want.lacks)
				}
				hidden := path == "/mcp/files"
				found := c.text("search_tools", map[string]any{"query": "list the commits of a branch"})
				if strings.Contains(found, "- github__") == hidden {
					t.Errorf("a search finds %s", found)
				}
				res := c.call("github__list_commits", map[string]any{"owner": "a", "repo": "b"})
				if got := textOf(res); !res.IsError || strings.HasPrefix(got, "not_found: no tool is named") != hidden {
					t.Errorf("a call answers %q", got)
				}
			})
		}
	}
	res, err := http.Post(base+"/mcp/nothing", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("a profile that does not exist answers %d", res.StatusCode)
	}
}

func toolNames(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()
	var names []string
	for one, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, one.Name)
	}
	return names
}

// TestDynamicOverHTTP has a client at a profile search, hear of it, and see what it found, and another not.
func TestDynamicOverHTTP(t *testing.T) {
	base := serveHTTP(t, t.TempDir(), "--demo")
	connect := func() *client {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, nil).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/mcp/dynamic"},
				&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		return &client{t: t, ClientSession: session}
	}
	first, second := connect(), connect()
	before := toolNames(t, second.ClientSession)
	first.text("search_tools", map[string]any{"query": "move or rename a file", "limit": 1})
	if names := toolNames(t, first.ClientSession); !slices.Contains(names, "filesystem__move_file") {
		t.Errorf("what was found is not listed: %v", names)
	}
	if diff := cmp.Diff(before, toolNames(t, second.ClientSession)); diff != "" {
		t.Errorf("another session's list changed (-before +after):\n%s", diff)
	}
}
