package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverVersion is the version of the reference servers that these tests were written against.
const serverVersion = "@2026.8.31"

// npxServers configures three real servers, the first of them over a folder with one file, notes.txt.
func npxServers(t *testing.T) (servers map[string]any, folder string) {
	t.Helper()
	npx := withNpx(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "npm", "view", "@modelcontextprotocol/server-memory"+serverVersion,
		"version").CombinedOutput(); err != nil {
		t.Skipf("npm cannot be reached, so no real server can be run: %v\n%s", err, out)
	}
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("the herring is in the fridge\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	pkg := func(name string, args ...string) map[string]any {
		return map[string]any{"command": npx, "args": append([]string{
			"-y",
			"@modelcontextprotocol/server-" + name + serverVersion,
		}, args...)}
	}
	memory := pkg("memory")
	memory["env"] = map[string]string{"MEMORY_FILE_PATH": filepath.Join(folder, "memory.jsonl")}
	return map[string]any{"filesystem": pkg("filesystem", folder), "memory": memory, "everything": pkg("everything")},
		folder
}

// TestRealServers is what a user does: import three servers, then search, describe and call from a client session, over
// stdio and over HTTP.
func TestRealServers(t *testing.T) {
	servers, folder := npxServers(t)
	config := writeServers(t, servers)
	data := t.TempDir()
	out := runCommand(t, data, "import", config)
	for name := range servers {
		if !strings.Contains(out, name) {
			t.Errorf("import does not tell of %s: %s", name, out)
		}
	}
	t.Run("stdio", func(t *testing.T) {
		useRealServers(t, connectStdio(t, data, "serve", "--stdio"), folder)
	})
	t.Run("http", func(t *testing.T) {
		base := serveHTTP(t, data)
		useRealServers(t, connectClient(t, &mcp.StreamableClientTransport{Endpoint: base + "/mcp"}, nil), folder)
	})
	t.Run("command line", func(t *testing.T) {
		got := runCommand(t, data, "call", "filesystem/read_text_file", "path="+filepath.Join(folder, "notes.txt"))
		if !strings.Contains(got, "the herring is in the fridge") {
			t.Errorf("call prints %q", got)
		}
	})
}

func useRealServers(t *testing.T, c *client, folder string) {
	if got := c.text("search_tools", map[string]any{"query": "what does this text file say"}); !strings.Contains(got,
		"read_text_file") {
		t.Errorf("search finds %s", got)
	}
	if got := c.text("search_tools", map[string]any{"query": "remember a person and what they like"}); !strings.Contains(got, "create_entities") {
		t.Errorf("search finds %s", got)
	}
	if got := c.text("get_tool_description", map[string]any{"name": "filesystem__read_text_file"}); !strings.Contains(got, "path") || !strings.Contains(got, "head") {
		t.Errorf("description is %s", got)
	}
	got := c.text("invoke_tool", map[string]any{
		"name":      "filesystem__read_text_file",
		"arguments": map[string]any{"path": filepath.Join(folder, "notes.txt")},
	})
	if !strings.Contains(got, "the herring is in the fridge") {
		t.Errorf("the file reads %q", got)
	}
	c.text("invoke_tool", map[string]any{"name": "memory__create_entities", "arguments": map[string]any{
		"entities": []any{map[string]any{
			"name": "Ada", "entityType": "person",
			"observations": []string{"likes herring"},
		}},
	}})
	if got := c.text("invoke_tool", map[string]any{
		"name":      "memory__search_nodes",
		"arguments": map[string]any{"query": "Ada"},
	}); !strings.Contains(got, "likes herring") {
		t.Errorf("the memory holds %q", got)
	}
	if got := c.text("everything__echo", map[string]any{"message": "over and out"}); !strings.Contains(got, "over and out") { // by its own name
		t.Errorf("echo answers %q", got)
	}
	wrong := c.call("invoke_tool", map[string]any{
		"name":      "filesystem__read_text_file",
		"arguments": map[string]any{"file": "notes.txt"},
	})
	if text := textOf(wrong); !wrong.IsError || !strings.Contains(text, "path") {
		t.Errorf("wrong arguments give %s", text)
	}
	outside := c.call("invoke_tool", map[string]any{
		"name":      "filesystem__read_text_file",
		"arguments": map[string]any{"path": "/etc/passwd"},
	})
	if !outside.IsError {
		t.Errorf("the server's own error came back as success: %s", textOf(outside))
	}
}
