package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tooldex/cmd/tooldex/clients"
	"tooldex/config"
)

// TestConnectKeepsFilters connects clients that show some tools of a server alone, and starts what their files say then:
// the other tools are neither listed, found nor called. Undoing gives every byte back, and no profile stays.
func TestConnectKeepsFilters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts the command for each client")
	}
	upstream := upstreamCommand(t)
	quoted, err := json.Marshal(upstream)
	if err != nil {
		t.Fatal(err)
	}
	for client, text := range map[string]string{
		"codex":       "[mcp_servers.probe]\ncommand = COMMAND\nenabled_tools = [\"shout\", \"refuse\"]\n",
		"gemini":      `{"mcpServers": {"probe": {"command": COMMAND, "includeTools": ["shout", "refuse", "crash"], "excludeTools": ["crash"]}}}`,
		"windsurf":    `{"mcpServers": {"probe": {"command": COMMAND, "disabledTools": ["add_numbers", "crash", "count_up"]}}}`,
		"goose":       "extensions:\n  probe:\n    cmd: COMMAND\n    type: stdio\n    available_tools: [shout, refuse]\n",
		"opencode":    `{"mcp": {"probe": {"type": "local", "command": [COMMAND]}}, "tools": {"probe_c*": false, "probe_add_numbers": false}}`,
		"claude-code": `{"mcpServers": {"probe": {"command": COMMAND}}}`,
	} {
		t.Run(client, func(t *testing.T) {
			home, data := realTempDir(t), t.TempDir()
			env := []string{"HOME=" + home, "XDG_CONFIG_HOME=", "CODEX_HOME=", "CLAUDE_CONFIG_DIR=", "TOOLDEX_DATA_DIR=" + data}
			place := clients.Place{OS: "linux", Home: home, Getenv: func(string) string { return "" }}
			c, _ := clients.Named(client)
			path := c.Files(place)[0].Path
			before := []byte(strings.ReplaceAll(text, "COMMAND", string(quoted)))
			files := map[string][]byte{path: before}
			if client == "claude-code" {
				files[filepath.Join(home, ".claude", "settings.json")] = []byte(
					`{"permissions": {"deny": ["mcp__probe__add_numbers", "mcp__probe__crash", "mcp__probe__count_up"]}}`)
			}
			for path, text := range files {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run := func(args ...string) string {
				t.Helper()
				cmd := exec.Command(builtCommand(t), args...)
				cmd.Dir, cmd.Env = home, append(os.Environ(), env...)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%q: %v\n%s", args, err, out)
				}
				return string(out)
			}
			if out := run("connect", client, "--yes", "--", "--mode", "full"); !strings.Contains(out,
				"profile "+client+" keeps") {
				t.Errorf("connect says %s", out)
			}
			checkFiltered(t, data, place, c)
			if out := run("connect", client, "--yes", "--", "--mode", "full"); !strings.Contains(out, "connected already") {
				t.Errorf("connected again: %s", out)
			}
			run("connect", client, "--undo")
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
				t.Errorf("%v, undone:\n%s", err, now)
			}
			if _, err := os.Stat(config.ClientProfilesPath(data)); !os.IsNotExist(err) {
				t.Errorf("a profile stays: %v", err)
			}
		})
	}
}

// checkFiltered starts the server that the file of a client has, and wants the tools shout and refuse alone.
func checkFiltered(t *testing.T, data string, place clients.Place, client clients.Client) {
	t.Helper()
	d, err := client.Document(place, false, "")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := d.Servers()
	if err != nil || len(entries) != 1 || entries[0].Name != "tooldex" {
		t.Fatalf("the file has %+v, %v", entries, err)
	}
	s := connectStdio(t, data, entries[0].Server.Args...)
	names := toolNames(t, s.ClientSession)
	for _, name := range []string{"shout", "refuse", "add_numbers", "crash", "count_up"} {
		want := name == "shout" || name == "refuse"
		if slices.Contains(names, name) != want {
			t.Errorf("%s is listed: %v, in %q", name, !want, names)
		}
		found := s.text("search_tools", map[string]any{"query": name})
		if strings.Contains(found, "- "+name) != want {
			t.Errorf("%s is found: %v\n%s", name, !want, found)
		}
		answer := textOf(s.call("invoke_tool", map[string]any{"name": name, "arguments": map[string]any{
			"text": "hey", "a": 1, "b": 2, "to": 1,
		}}))
		if strings.HasPrefix(answer, "not_found") == want {
			t.Errorf("%s answers %s", name, answer)
		}
	}
}
