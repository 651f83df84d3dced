package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestServeReadsConfigAgain changes the configuration of a running server: well, badly and on SIGHUP. One session lasts
// through it all, and a server that is configured as before goes on as the same process.
func TestServeReadsConfigAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tooldex.yaml")
	write := func(format string, args ...any) { // in one step, as editors do
		t.Helper()
		if err := os.WriteFile(path+".new", fmt.Appendf(nil, format, args...), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	upstream := upstreamCommand(t)
	write("servers: {probe: {command: %q}}", upstream)
	cmd := servingCommand(t, t.TempDir(), "serve", "--stdio", "--config", path)
	logged, w := io.Pipe()
	cmd.Stderr = w
	lines := make(chan string, 1000)
	go func() {
		for s := bufio.NewScanner(logged); s.Scan(); {
			lines <- s.Text()
		}
	}()
	changed := make(chan struct{}, 100)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	}).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = session.Close(), w.Close() })
	c := &client{t: t, ClientSession: session}
	finds := func(name string) func() bool {
		return func() bool {
			return strings.Contains(c.text("search_tools", map[string]any{"query": "turn a text into capital letters"}),
				name)
		}
	}
	says := func(want string) {
		t.Helper()
		late := time.After(wait)
		for {
			select {
			case line := <-lines:
				if strings.Contains(line, want) {
					return
				}
			case <-late:
				t.Fatalf("nothing is logged of %q", want)
			}
		}
	}
	shouts := func(name string) {
		t.Helper()
		if got := c.text("invoke_tool", map[string]any{
			"name":      name,
			"arguments": map[string]any{"text": "on"},
		}); got != "ON" {
			t.Errorf("%s answers %q", name, got)
		}
	}
	waitFor(t, changed, finds("shout"))

	write("servers: {probe: {command: %q}, second: {command: %[1]q}}", upstream)
	waitFor(t, changed, finds("second__shout"))
	shouts("second__shout")

	write("serve: {mdoe: full}\nservers: {}")
	says("serve has no key")
	shouts("second__shout")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	says("serve has no key") // it was asked, so it says so again
	shouts("probe__shout")

	lists := func(names ...string) func() bool {
		return func() bool {
			have := toolNames(t, session)
			return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(have, name) })
		}
	}
	write("serve: {mode: search, always: [second__shout]}\nservers: {probe: {command: %q}, second: {command: %[1]q}}",
		upstream)
	waitFor(t, changed, lists("search_tools", "second__shout"))
	write("serve: {mode: full, rate: 7}\nservers: {second: {command: %q}}", upstream)
	says("key=serve.rate")
	waitFor(t, changed, lists("shout"))
	waitFor(t, changed, func() bool { return finds("shout")() && !finds("probe__shout")() })
	shouts("shout") // with one server tools keep their names
}
