package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// upstreamCommand is a path at which this test program is the program "upstream".
func upstreamCommand(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "upstream")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// connectWatching is connectStdio with a channel that receives each announcement of a changed list.
func connectWatching(t *testing.T, dataDir string, args ...string) (*client, <-chan struct{}) {
	t.Helper()
	changed := make(chan struct{}, 100)
	cmd := servingCommand(t, dataDir, args...)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	}).Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &client{t: t, ClientSession: s}, changed
}

// waitFor waits until the client has been told of a change after which ok holds.
func waitFor(t *testing.T, changed <-chan struct{}, ok func() bool) {
	t.Helper()
	late := time.After(wait)
	for !ok() {
		select {
		case <-changed:
		case <-late:
			t.Fatal("the change was not announced")
		}
	}
}

// TestServeSeesOthers wants a running server to notice what another process imports and removes.
func TestServeSeesOthers(t *testing.T) {
	data := t.TempDir()
	c, changed := connectWatching(t, data, "serve", "--stdio")
	if got := c.text("search_tools", map[string]any{"query": "turn a text into capital letters"}); strings.Contains(got,
		"shout") {
		t.Fatalf("an empty catalogue finds %s", got)
	}
	config := writeServers(t, map[string]any{
		"probe": map[string]any{"command": upstreamCommand(t)}, "second": map[string]any{"command": upstreamCommand(t)},
	})
	runCommand(t, data, "import", config)
	found := func() bool {
		return strings.Contains(c.text("search_tools", map[string]any{"query": "turn a text into capital letters"}),
			"probe__shout")
	}
	waitFor(t, changed, found)
	if got := c.text("invoke_tool", map[string]any{
		"name":      "probe__shout",
		"arguments": map[string]any{"text": "new"},
	}); got != "NEW" {
		t.Errorf("the new server's tool answers %q", got)
	}
	runCommand(t, data, "servers", "remove", "probe")
	waitFor(t, changed, func() bool { return !found() })
}

// TestHangingUpstream wants initialize, tools/list and search to be answered while a server hangs, and a call of its
// tools to fail in time.
func TestHangingUpstream(t *testing.T) {
	data := t.TempDir()
	good, hangs := upstreamCommand(t), upstreamCommand(t)
	runCommand(t, data, "import", writeServers(t, map[string]any{
		"probe": map[string]any{"command": good},
		"stuck": map[string]any{"command": good},
	}))
	config := writeServers(t, map[string]any{"stuck": map[string]any{"command": hangs, "args": []string{"hang"}}})

	c := connectStdio(t, data, "serve", "--stdio", "--config", config)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) < 5 {
		t.Fatalf("tools/list gives %v, %v", list, err)
	}
	if got := c.text("search_tools", map[string]any{"query": "turn a text into capital letters"}); !strings.Contains(got, "stuck__shout") {
		t.Errorf("what is stored of a server that hangs is not found: %s", got)
	}
	if got := c.text("invoke_tool", map[string]any{
		"name":      "probe__shout",
		"arguments": map[string]any{"text": "on"},
	}); got != "ON" {
		t.Errorf("another server's tool answers %q", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	cmd := exec.CommandContext(ctx, builtCommand(t), "call", "-d", data, "-c", config, "--timeout", "500ms",
		"stuck/shout", "text=x")
	out, err := cmd.CombinedOutput()
	if err == nil || ctx.Err() != nil || !strings.Contains(string(out), "stuck") {
		t.Errorf("a call of a server that hangs gives %v: %s", err, out)
	}
}

// TestTwoServers lets two clients share the data, as two windows of an editor do.
func TestTwoServers(t *testing.T) {
	data := t.TempDir()
	up := upstreamCommand(t)
	runCommand(t, data, "import", writeServers(t, map[string]any{
		"probe": map[string]any{"command": up},
		"other": map[string]any{"command": up},
	}))
	first, second := connectStdio(t, data, "serve", "--stdio"), connectStdio(t, data, "serve", "--stdio")
	for _, c := range []*client{first, second} {
		if got := c.text("probe__shout", map[string]any{"text": "both"}); got != "BOTH" {
			t.Errorf("answers %q", got)
		}
	}
	var list []listed
	if err := json.Unmarshal([]byte(runCommand(t, data, "list", "-o", "json")), &list); err != nil || len(list) != 10 {
		t.Errorf("%d tools, want 10 (%v)", len(list), err)
	}
}

// TestServeReadsNewServers wants tools of servers that were only ever named in a configuration to be found, once the
// server has read them.
func TestServeReadsNewServers(t *testing.T) {
	config := writeServers(t, map[string]any{
		"probe":  map[string]any{"command": upstreamCommand(t)},
		"broken": map[string]any{"command": upstreamCommand(t), "args": []string{"gone"}},
		"far":    map[string]any{"command": upstreamCommand(t), "args": []string{"noisy"}},
	})
	c, changed := connectWatching(t, t.TempDir(), "serve", "--stdio", "-c", config)
	waitFor(t, changed, func() bool {
		got := c.text("search_tools", map[string]any{"query": "turn a text into capital letters"})
		return strings.Contains(got, "probe__shout") && strings.Contains(got, "far__shout")
	})
	if got := c.text("far__shout", map[string]any{"text": "out"}); got != "OUT" {
		t.Errorf("answers %q", got)
	}
}

// TestNewToolIsFound wants a tool that a server has just got to be found by the first search after the client was told
// of the change, and by those of another process.
func TestNewToolIsFound(t *testing.T) {
	data := t.TempDir()
	runCommand(t, data, "import", writeServers(t, map[string]any{
		"grows": map[string]any{"command": upstreamCommand(t), "args": []string{"growing"}},
		"stays": map[string]any{"command": upstreamCommand(t)},
	}))
	c, changed := connectWatching(t, data, "serve", "--stdio", "--mode", "search")
	finds := func() bool {
		return strings.Contains(c.text("search_tools", map[string]any{"query": "write a text backwards"}),
			"grows__reverse_text")
	}
	if finds() {
		t.Fatal("the tool is there already")
	}
	c.text("grows__learn", nil)
	waitFor(t, changed, finds)
	var list []listed
	if err := json.Unmarshal([]byte(runCommand(t, data, "list", "-o", "json")), &list); err != nil || len(list) != 12 {
		t.Errorf("%d tools are stored, want 12 (%v)", len(list), err)
	}
}
