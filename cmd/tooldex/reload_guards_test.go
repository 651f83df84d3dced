package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestServeTakesGuardsOver changes whom a running server trusts, and what a person has to confirm.
func TestServeTakesGuardsOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tooldex.yaml")
	upstream := upstreamCommand(t)
	write := func(guards, server string) {
		t.Helper()
		text := fmt.Sprintf("%s\nservers: {probe: {command: %q, args: [turned]%s}}", guards, upstream, server)
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write("serve: {mode: full}", "")
	data := t.TempDir()
	runCommand(t, data, "import", path)
	c, changed := connectWatching(t, data, "serve", "--stdio", "--config", path)
	lists := func(name, text string) func() bool {
		return func() bool {
			list, err := c.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			return slices.Contains(toolNames(t, c.ClientSession), name) && strings.Contains(string(b), text)
		}
	}
	not := func(ok func() bool) func() bool { return func() bool { return !ok() } }
	if !lists("fact", "Warning: this description is not to be trusted")() {
		t.Fatal("a suspicious tool is not listed, with its warning")
	}

	write("serve: {mode: full, confirm: writes}\ntrust: {policy: strict}", "")
	waitFor(t, changed, not(lists("fact", "")))
	if got := textOf(c.call("fact", nil)); !strings.Contains(got, "is held") {
		t.Errorf("a call of a tool that is held now gives %s", got)
	}
	write("serve: {mode: full, confirm: writes}\ntrust: {policy: strict}", ", trust: true")
	waitFor(t, changed, lists("fact", ""))
	if lists("fact", "Warning")() {
		t.Error("a server that is trusted now is warned of")
	}
	if got := textOf(c.call("fact", nil)); !strings.Contains(got, "nothing was called") {
		t.Errorf("a call that a person has to confirm now gives %s", got)
	}
}
