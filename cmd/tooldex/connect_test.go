package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tooldex/cmd/tooldex/clients"
	"tooldex/config"
)

// oddJSON are files as editors, people and other programs leave them. KEY stands for what the client calls its servers.
var oddJSON = map[string]string{
	"plain":               "{\n  \"theme\": \"dark\",\n  \"KEY\": {\n    \"a\": {\"command\": \"echo\", \"args\": [\"x\"]},\n    \"b\": {\"url\": \"https://b.example/mcp\"}\n  },\n  \"z\": [1, 2.50, 1e3, 9007199254740993]\n}\n",
	"no final line feed":  "{\n  \"KEY\": {\"a\": {\"command\": \"echo\"}}\n}",
	"one line":            `{"KEY":{"a":{"command":"echo"}},"x":null}`,
	"tabs":                "{\n\t\"KEY\": {\n\t\t\"a\": {\"command\": \"echo\"}\n\t}\n}\n",
	"carriage returns":    "{\r\n  \"KEY\": {\r\n    \"a\": {\"command\": \"echo\"}\r\n  }\r\n}\r\n",
	"byte order mark":     "\ufeff{\"KEY\": {\"a\": {\"command\": \"echo\"}}}\n",
	"comments":            "// top\n{\n  /* a */ \"KEY\": { // b\n    \"a\": {\"command\": \"echo\"}, // c\n    // d\n  }, // e\n}\n// end\n",
	"escapes":             `{"KEY":{"\u0061b":{"command":"echo","args":["\ud83d\ude00 \u00e9 \/"]},"é":{"command":"echo"}},"\u0078":"\u0000"}`,
	"a key twice":         `{"KEY":{"a":{"command":"echo"},"a":{"command":"cat"}}}`,
	"servers twice":       `{"KEY":{"a":{"command":"echo"}},"KEY":{"b":{"command":"echo"}}}`,
	"empty":               "",
	"blank":               " \n\t\n",
	"no servers":          "{}",
	"empty servers":       "{\n  \"KEY\": {\n  }\n}\n",
	"none, as null":       "{\n  \"KEY\": null, // yet\n  \"x\": 1\n}\n",
	"itself":              `{"KEY":{"tooldex":{"command":"tooldex","args":["serve"]},"a":{"command":"echo"}}}`,
	"another of its name": `{"KEY":{"tooldex":{"command":"echo"}}}`,
	"not all are servers": `{"KEY":{"a":"echo","b":{"command":"echo"},"c":{"command":5},"d":{},"e/f":{"command":"echo"},"":{"command":"echo"}}}`,
	"disabled":            `{"KEY":{"a":{"command":"echo","disabled":true},"b":{"command":"cat","enabled":false}}}`,
	"very deep": `{"x":` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) +
		`,"KEY":{"a":{"command":"echo"}}}`,
}

var oddTOML = map[string]string{
	"plain":              "model = \"o3\"\n\n[mcp_servers.a]\ncommand = \"echo\"\nargs = [\"x\"]\n\n[mcp_servers.a.env]\nK = \"v\"\n\n[tui]\ntheme = \"dark\"\n",
	"no final line feed": "[mcp_servers.a]\ncommand = \"echo\"",
	"carriage returns":   "model = \"o3\"\r\n[mcp_servers.a]\r\ncommand = \"echo\"\r\n",
	"byte order mark":    "\ufeff[mcp_servers.a]\ncommand = \"echo\"\n",
	"comments":           "# top\n[mcp_servers.a] # here\ncommand = \"echo\" # x\n# end\n",
	"quoted names":       "[mcp_servers.\"a.b c\"]\ncommand = 'echo'\n[mcp_servers.\"\\u00e9\"]\ncommand=\"echo\"\n",
	"inline":             "[mcp_servers]\na = { command = \"echo\", args = [\"x\"] }\n",
	"dotted":             "mcp_servers.a.command = \"echo\"\n",
	"a table in a text":  "[mcp_servers.a]\ncommand = \"echo\"\nargs = [\"\"\"\n[mcp_servers.fake]\n\"\"\"]\n",
	"arrays of tables":   "[[profiles]]\nname = \"x\"\n[mcp_servers.a]\ncommand=\"echo\"\n[[profiles]]\nname=\"y\"\n",
	"itself":             "[mcp_servers.tooldex]\ncommand = \"tooldex\"\nargs = [\"serve\"]\n",
	"empty":              "",
}

// oddYAML are files of Goose.
var oddYAML = map[string]string{
	"plain":               "MODEL: x\nextensions:\n  a:\n    cmd: echo\n    args: [x]\n    type: stdio\n  b:\n    uri: https://b.example/mcp\n    type: streamable_http\nMODE: auto\n",
	"no final line feed":  "extensions:\n  a:\n    cmd: echo\n    type: stdio",
	"no section":          "MODEL: x",
	"carriage returns":    "MODEL: x\r\nextensions:\r\n  a:\r\n    cmd: echo\r\n    type: stdio\r\n",
	"byte order mark":     "\ufeffextensions:\n  a:\n    cmd: echo\n    type: stdio\n",
	"comments":            "# top\nextensions: # here\n  # a\n  a: # b\n    cmd: echo # c\n    # d\n    type: stdio\n  # e\n# end\n",
	"block scalars":       "extensions:\n  a:\n    cmd: echo\n    type: stdio\n    description: |\n      extensions:\n        fake:\n          cmd: never\n\n      more\n\nX: 'it''s'\n",
	"indented by four":    "extensions:\n    a:\n        cmd: echo\n        type: stdio\n    dev:\n        type: builtin\n        name: dev\n",
	"quoted names":        "\"extensions\":\n  'a b': {cmd: echo, type: stdio}\n  \"é\":\n    cmd: echo\n    type: stdio\n",
	"anchors":             "x: &x [one]\nextensions:\n  a:\n    cmd: echo\n    type: stdio\n    args: *x\n",
	"empty":               "",
	"only a comment":      "# none yet\n",
	"nothing":             "extensions: {} # none\nMODEL: x\n",
	"nothing, unsaid":     "extensions:\nMODEL: x\n",
	"nothing, as null":    "MODEL: x\nextensions: null",
	"itself":              "extensions:\n  tooldex:\n    cmd: tooldex\n    args: [serve]\n    type: stdio\n",
	"another of its name": "extensions:\n  tooldex:\n    cmd: echo\n    type: stdio\n",
	"disabled":            "extensions:\n  a:\n    cmd: echo\n    type: stdio\n    enabled: false\n",
}

// oddList are files of Continue.
var oddList = map[string]string{
	"plain":              "name: Mine\nmcpServers:\n  - name: a\n    command: echo\n    args:\n    - x\n  - name: b\n    url: https://b.example/mcp\nrules: []\n",
	"flush":              "mcpServers:\n- name: a\n  command: echo\n- uses: some/block\n",
	"no final line feed": "mcpServers:\n- command: echo\n  name: a",
	"carriage returns":   "mcpServers:\r\n  - name: a\r\n    command: echo\r\n",
	"byte order mark":    "\ufeffmcpServers:\n  - name: a\n    command: echo\n",
	"comments":           "# top\nmcpServers: # here\n  # a\n  - name: a # b\n    # c\n    command: echo\n# end\n",
	"empty":              "",
	"nothing":            "mcpServers: [] # none\nname: Mine\n",
	"no section":         "name: Mine\n",
}

// TestConnectAndUndo connects every client whatever its file looks like, and takes that back to the byte. What cannot
// be edited safely is refused, and stays.
func TestConnectAndUndo(t *testing.T) {
	if testing.Short() {
		t.Skip("edits hundreds of files, one after another")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// for whom every file is tried, and a few for the others
	whole := map[string]bool{
		"claude-code": true, "vscode": true, "codex": true, "zed": true, "opencode": true, "goose": true, "continue": true,
	}
	for _, client := range clients.Known() {
		home := t.TempDir()
		env := map[string]string{
			"HOME": home, "USERPROFILE": home, "APPDATA": home, "LocalAppData": home,
			"AppData": home, "LOCALAPPDATA": home, "TOOLDEX_DATA_DIR": filepath.Join(home, "data"),
		}
		a := &app{getenv: func(key string) string { return env[key] }}
		file := client.Files(a.clientPlace())[0]
		odd := oddJSON
		switch {
		case file.Format == clients.TOML:
			odd = oddTOML
		case file.Dialect == clients.Continue:
			odd = oddList
		case file.Format == clients.YAML:
			odd = oddYAML
		}
		if err := os.MkdirAll(filepath.Dir(file.Path), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range odd {
			if few := []string{
				"plain", "comments", "byte order mark", "carriage returns",
				"empty",
			}; !whole[client.Name] && !slices.Contains(few, name) {
				continue
			}
			before := []byte(strings.ReplaceAll(text, "KEY", file.Sections[0][0]))
			if err := os.WriteFile(file.Path, before, 0o640); err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			do := func(args ...string) int {
				t.Helper()
				said.Reset()
				one := &app{stdin: strings.NewReader(""), stdout: &said, stderr: &said, getenv: a.getenv}
				return run(t.Context(), one, append([]string{
					"connect", client.Name, "--yes", "--no-import",
					"--replace",
				}, args...))
			}
			holds := func() []byte {
				t.Helper()
				b, err := os.ReadFile(file.Path)
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			if code := do(); code != exitDone {
				t.Errorf("%s, %s: exit code %d: %s", client.Name, name, code, said.String())
				continue
			}
			connected := holds()
			d, err := clients.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			entries, err := d.Servers()
			ours := 0
			for _, e := range entries {
				if e.Err == nil && (e.Server.Command == self || config.IsTooldex(e.Server)) {
					ours++
				}
			}
			if err != nil || ours != 1 {
				t.Errorf("%s, %s: tooldex is there %d times, %v:\n%s", client.Name, name, ours, err, connected)
			}
			if code := do(); code != exitDone || !bytes.Equal(connected, holds()) ||
				!strings.Contains(said.String(), "connected already") {
				t.Errorf("%s, %s: connected again: %d %s", client.Name, name, code, said.String())
			}
			if code := do("--undo"); code != exitDone || !bytes.Equal(before, holds()) {
				t.Errorf("%s, %s: %d %s, undone:\n%q, was\n%q", client.Name, name, code, said.String(), holds(), before)
			}
			if info, err := os.Stat(file.Path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%s, %s: the file's mode is %v, %v", client.Name, name, info.Mode(), err)
			}
		}
	}
}
