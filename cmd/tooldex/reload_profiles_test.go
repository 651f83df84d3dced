package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestProfilesChange narrows, widens and removes profiles under a session that stays: what a profile has no more is at
// once neither listed, found nor called.
func TestProfilesChange(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for looks at files, a second each")
	}
	dir := t.TempDir()
	config, file := filepath.Join(dir, "tooldex.yaml"), filepath.Join(dir, "profiles.yaml")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	data := t.TempDir()
	runCommand(t, data, "import", "demo/filesystem.yaml", "demo/github.yaml")
	const read, commits = "filesystem__read_file", "github__list_commits"
	sees := func(c *client, want ...string) func() bool {
		return func() bool {
			for _, name := range []string{read, commits} {
				there := false
				for _, w := range want {
					there = there || w == name
				}
				listed := strings.Contains(strings.Join(toolNames(t, c.ClientSession), " "), name)
				answer := textOf(c.call(name, map[string]any{}))
				found := strings.Contains(c.text("search_tools", map[string]any{"query": name}), "- "+name)
				if listed != there || found != there || strings.HasPrefix(answer,
					"not_found: no tool is named") == there {
					return false
				}
			}
			return true
		}
	}
	t.Run("in the configuration", func(t *testing.T) {
		write(config, "profiles: {files: {mode: full, servers: [filesystem]}}")
		c, changed := connectWatching(t, data, "serve", "--stdio", "--config", config, "--profile", "files")
		if !sees(c, read)() {
			t.Fatal("the profile does not show what it says")
		}
		for _, step := range []struct {
			text string
			want []string
		}{
			{"profiles: {files: {mode: full, servers: [github]}}", []string{commits}},
			{"profiles: {other: {mode: full}}", nil},
			{"profiles: {files: {mode: full, servers: [filesystem, github]}}", []string{read, commits}},
		} {
			write(config, step.text)
			waitFor(t, changed, sees(c, step.want...))
		}
	})
	t.Run("in a file of their own", func(t *testing.T) {
		write(config, "logLevel: error")
		write(file, "profiles: {files: {mode: full, servers: [filesystem]}}")
		c, changed := connectWatching(t, data, "serve", "--stdio", "--config", config, "--profiles", file, "--profile",
			"files")
		write(file, "profiles: {files: {mode: full, servers: [github]}}")
		waitFor(t, changed, sees(c, commits))
		write(file, "profiles: {files: {mode: none}}") // which cannot be read
		write(config, "logLevel: error\nserve: {always: [list_commits]}")
		write(file, "profiles: {files: {mode: search, servers: [github]}}")
		waitFor(t, changed, func() bool {
			have := strings.Join(toolNames(t, c.ClientSession), " ")
			return strings.Contains(have, "search_tools") && strings.Contains(have, commits) &&
				!strings.Contains(have, "github__create_issue")
		})
	})
	t.Run("over HTTP", func(t *testing.T) {
		write(config, "profiles: {files: {mode: full, servers: [filesystem]}}")
		base := serveHTTP(t, data, "--config", config)
		open := func(path string) (*client, <-chan struct{}, error) {
			changed := make(chan struct{}, 100)
			session, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			}).
				Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + path, MaxRetries: -1},
					&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
			if err == nil {
				t.Cleanup(func() { _ = session.Close() })
			}
			return &client{t: t, ClientSession: session}, changed, err
		}
		c, changed, err := open("/mcp/files")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := open("/mcp/code"); err == nil {
			t.Fatal("a profile that is not there is served")
		}
		write(config, "profiles: {files: {mode: full, servers: [github]}, code: {mode: full, servers: [github]}}")
		waitFor(t, changed, sees(c, commits))
		one, _, err := open("/mcp/code")
		if err != nil || !sees(one, commits)() {
			t.Errorf("a profile that came later is not served: %v", err)
		}
		write(config, "profiles: {code: {mode: full, servers: [github]}}")
		waitFor(t, changed, func() bool {
			_, err := c.ListTools(t.Context(), nil)
			return err != nil
		})
		if _, _, err := open("/mcp/files"); err == nil {
			t.Error("a profile that is gone is served")
		}
		if !sees(one, commits)() {
			t.Error("the session of another profile has suffered")
		}
	})
}
