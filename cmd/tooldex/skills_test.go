package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestServeReadsSkillsAgain changes the skills of a running server: its client is told, and finds what there is now.
func TestServeReadsSkillsAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, description string) {
		t.Helper()
		path := filepath.Join(dir, "skills", name, "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n# Steps\n", name, description)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("haiku", "Writes a haiku about the sea.")
	path := filepath.Join(dir, "tooldex.yaml")
	if err := os.WriteFile(path, []byte("skills: [skills]\nserve: {mode: search}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{}, 100)
	cmd := servingCommand(t, t.TempDir(), "serve", "--stdio", "--config", path)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, &mcp.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { changed <- struct{}{} },
	}).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	c := &client{t: t, ClientSession: session}
	finds := func(query, name string) func() bool {
		return func() bool {
			return strings.Contains(c.text("search_tools", map[string]any{"query": query}), "skill://"+name+"/SKILL.md")
		}
	}
	const most = 5 * time.Second // as long as an answer waits for the skills, which is too short on a busy machine
	if begun := time.Now(); !finds("write a haiku about the sea", "haiku")() && time.Since(begun) < most {
		t.Error("the first search does not wait for the skills")
	}
	put("klingon", "Translates a text into Klingon.")
	waitFor(t, changed, finds("translate a text into Klingon", "klingon"))
	put("klingon", "Bakes bread with sourdough.")
	waitFor(t, changed, finds("bake a sourdough bread", "klingon"))
	if err := os.RemoveAll(filepath.Join(dir, "skills", "klingon")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, changed, func() bool { return !finds("bake a sourdough bread", "klingon")() })
	if !finds("write a haiku about the sea", "haiku")() {
		t.Error("a skill that did not change is gone")
	}
}
