package clients

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/upstream"
)

var update = flag.Bool("update", false, "write the golden files")

// fixtures are files as the clients have them, with the part of Client.Files that says how they are read.
func fixtures(t *testing.T) map[string]File {
	t.Helper()
	files := map[string]File{}
	add := func(fixture, client string, n int) {
		c, ok := Named(client)
		if !ok {
			t.Fatalf("no client %s", client)
		}
		files[fixture] = c.Files(Place{OS: "linux", Home: "/home/ana", Dir: "/home/ana/shop", Getenv: none})[n]
	}
	add("claude-desktop.json", "claude-desktop", 0)
	add("claude-code.json", "claude-code", 0)
	add("cursor.json", "cursor", 0)
	add("vscode.json", "vscode", 0)
	add("vscode-settings.json", "vscode", 1)
	add("gemini.json", "gemini", 0)
	add("codex.toml", "codex", 0)
	add("windsurf.json", "windsurf", 0)
	for _, fixture := range []string{
		"zed.json", "cline.json", "roo.json", "continue.yaml", "goose.yaml", "opencode.json", "lmstudio.json", "kiro.json",
		"jetbrains.json", "warp.json",
	} {
		add(fixture, strings.TrimSuffix(fixture, filepath.Ext(fixture)), 0)
	}
	return files
}

func none(string) string { return "" }

var own = Own{Name: "tooldex", Command: "/opt/bin/tooldex", Args: []string{"serve"}}

// usable are the servers that can be taken over.
func usable(t *testing.T, d *Document) []Entry {
	t.Helper()
	all, err := d.Servers()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(e Entry) bool { return e.Err != nil })
}

// copyOf puts a fixture where it may be changed, with a mode of its own.
func copyOf(t *testing.T, fixture string, f File) *Document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", fixture))
	if err != nil {
		t.Fatal(err)
	}
	f.Path = filepath.Join(t.TempDir(), filepath.Base(f.Path))
	if err := os.WriteFile(f.Path, text, 0o640); err != nil {
		t.Fatal(err)
	}
	d, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestReplace holds what becomes of each client's file, and that undoing gives every byte and the mode back.
func TestReplace(t *testing.T) {
	for fixture, f := range fixtures(t) {
		t.Run(fixture, func(t *testing.T) {
			d := copyOf(t, fixture, f)
			gone := usable(t, d)
			text, err := d.Replace(own, gone)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "connected", fixture)
			if *update {
				if err := os.WriteFile(golden, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(text)); diff != "" {
				t.Errorf("connected (-want +got):\n%s", diff)
			}
			undo(t, d, text, gone)
		})
	}
}

// undo writes a change, and takes it back.
func undo(t *testing.T, d *Document, text []byte, gone []Entry) {
	t.Helper()
	k := Keeper{Dir: t.TempDir()}
	c := Change{Client: d.Client, Path: d.Path, Existed: true, Mode: 0o640, Own: own.Name, Written: Sum(text)}
	for _, e := range gone {
		c.Gone = append(c.Gone, Taken{e.Section, e.Name})
	}
	if err := k.Keep(c, d.Text); err != nil {
		t.Fatal(err)
	}
	if err := Write(d.Path, d.Text, text, 0o600); err != nil {
		t.Fatal(err)
	}
	last, before, err := k.Last(d.Client, "")
	if err != nil {
		t.Fatal(err)
	}
	if done, err := Undo(last, before); !done || err != nil {
		t.Fatalf("undone %v, %v", done, err)
	}
	got, err := os.ReadFile(d.Path)
	if err != nil || !bytes.Equal(got, d.Text) {
		t.Errorf("%v: undone to\n%q, it was\n%q", err, got, d.Text)
	}
	if info, err := os.Stat(d.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if err := k.Forget(last); err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Last(d.Client, ""); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("after the last: %v", err)
	}
}

// TestRestore changes each file after it was connected, as its client would, and puts the servers back all the same.
func TestRestore(t *testing.T) {
	for fixture, f := range fixtures(t) {
		t.Run(fixture, func(t *testing.T) {
			before := copyOf(t, fixture, f)
			gone := usable(t, before)
			text, err := before.Replace(own, gone)
			if err != nil {
				t.Fatal(err)
			}
			var changed []byte
			switch f.Format {
			case TOML:
				changed = append([]byte("later = true\n"), text...)
			case YAML:
				changed = append([]byte("later: true\n"), text...)
			case JSON:
				var ok bool
				if changed, ok = jsonInsert(text, []string{"added"}, "later", true); !ok {
					t.Fatal("not changed")
				}
			}
			after := &Document{File: before.File, Text: changed, Exists: true}
			back, err := after.Restore(own.Name, before, gone)
			if err != nil {
				t.Fatal(err)
			}
			got := usable(t, &Document{File: before.File, Text: back})
			if diff := cmp.Diff(gone, got); diff != "" {
				t.Errorf("servers (-before +restored):\n%s", diff)
			}
			if !bytes.Contains(back, []byte("later")) || bytes.Contains(back, []byte(own.Command)) {
				t.Errorf("restored to\n%s", back)
			}
		})
	}
}

func TestServersOfClients(t *testing.T) {
	type line struct{ Name, Target, Lost string } // Lost with the keys of the filter
	want := map[string][]line{
		"claude-desktop.json": {{"filesystem", "npx", ""}, {"memory", "npx", ""}},
		"claude-code.json": {
			{"asana", "https://mcp.asana.com/sse", ""},
			{"sentry", "https://mcp.sentry.dev/mcp", ""},
			{"shop-db", "uvx", ""},
		},
		"cursor.json":          {{"linear", "https://mcp.linear.app/mcp", ""}, {"playwright", "npx", ""}},
		"vscode.json":          {{"github", "https://api.githubcopilot.com/mcp/", ""}, {"perplexity", "npx", ""}},
		"vscode-settings.json": {{"fetch", "uvx", ""}},
		"gemini.json":          {{"python", "python", "includeTools"}, {"stream", "https://api.example.com/mcp", ""}},
		"codex.toml": {
			{"context7", "npx", ""},
			{"figma", "https://mcp.figma.com/mcp", "enabled_tools"},
			{"figma dev", "https://mcp.figma.com/mcp", ""},
		},
		"zed.json": {
			{"figma", "https://mcp.figma.com/mcp", ""},
			{"older", "uvx", "settings"},
			{"postgres", "npx", ""},
		},
		"cline.json":    {{"docs", "https://docs.example.com/mcp", ""}, {"github", "npx", "autoApprove"}},
		"roo.json":      {{"browser", "cmd", "alwaysAllow disabledTools"}, {"search", "https://search.example.com/sse", ""}},
		"continue.yaml": {{"Issues", "https://issues.example.com/mcp", ""}, {"SQLite", "npx", ""}},
		"goose.yaml": {
			{"figma", "https://mcp.figma.com/mcp", "available_tools"},
			{"memory-graph", "npx", "available_tools"},
		},
		"opencode.json":  {{"playwright", "npx", ""}, {"sentry", "https://mcp.sentry.dev/mcp", ""}},
		"lmstudio.json":  {{"hf-mcp-server", "https://huggingface.co/mcp", ""}},
		"kiro.json":      {{"aws-docs", "uvx", "autoApprove disabledTools"}},
		"jetbrains.json": {{"context7", `C:\Program Files\nodejs\npx.cmd`, ""}},
		"warp.json":      {{"files", "npx", ""}, {"linear", "https://mcp.linear.app/mcp", ""}},
		"windsurf.json":  {{"figma", "https://mcp.figma.com/mcp", ""}, {"github-mcp-server", "docker", "disabledTools"}},
	}
	for fixture, f := range fixtures(t) {
		t.Run(fixture, func(t *testing.T) {
			all, err := copyOf(t, fixture, f).Servers()
			if err != nil {
				t.Fatal(err)
			}
			var got []line
			for _, e := range all {
				if e.Err != nil {
					t.Errorf("%s: %v", e.Name, e.Err)
				}
				lost := slices.Sorted(slices.Values(slices.Concat(e.Lost, e.Filter.Keys)))
				got = append(got, line{e.Name, e.Server.Command + e.Server.URL, strings.Join(lost, " ")})
			}
			if diff := cmp.Diff(want[fixture], got); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDialects holds what is read of entries that are not written in the usual way.
func TestDialects(t *testing.T) {
	want := map[string]upstream.Server{
		"zed.json": {Name: "older", Command: "uvx", Args: []string{"mcp-server-fetch"}, Env: map[string]string{}},
		"cline.json": {
			Name: "github", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-github"},
			Env: map[string]string{"GITHUB_PERSONAL_ACCESS_TOKEN": "${GITHUB_TOKEN}"}, Timeout: 2 * time.Minute,
		},
		"roo.json": {
			Name: "browser", Command: "cmd", Args: []string{"/c", "npx", "-y", "@playwright/mcp@latest"},
			Timeout: 5 * time.Minute,
		},
		"continue.yaml": {
			Name: "Issues", Transport: upstream.HTTP, URL: "https://issues.example.com/mcp",
			Headers:      map[string]string{"Authorization": "Bearer ${ISSUES_TOKEN}"},
			StartTimeout: 20 * time.Second,
		},
		"goose.yaml": {
			Name: "memory-graph", Transport: upstream.Stdio, Command: "npx",
			Args: []string{"-y", "@modelcontextprotocol/server-memory"},
			Env:  map[string]string{"MEMORY_FILE": "/home/ana/memory.json"}, Timeout: 5 * time.Minute,
		},
		"opencode.json": {
			Name: "playwright", Transport: upstream.Stdio, Command: "npx", Args: []string{"-y", "@playwright/mcp@latest"},
			Env: map[string]string{"PWDEBUG": "0"}, Timeout: 10 * time.Second,
		},
		"warp.json": {
			Name: "files", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "."},
			Dir: "/home/ana/shop",
		},
	}
	for fixture, f := range fixtures(t) {
		server, ok := want[fixture]
		if !ok {
			continue
		}
		for _, e := range usable(t, copyOf(t, fixture, f)) {
			if diff := cmp.Diff(server, e.Server); e.Name == server.Name && diff != "" {
				t.Errorf("%s (-want +got):\n%s", fixture, diff)
			}
		}
	}
}

func TestSmallEdits(t *testing.T) {
	jsonFile := File{Path: "x.json", Sections: [][]string{{"mcpServers"}}}
	tomlFile := File{Path: "x.toml", Format: TOML, Sections: [][]string{{"mcp_servers"}}}
	tests := map[string]struct {
		file       File
		text, want string
	}{
		"nothing":      {jsonFile, "", "{\n  \"mcpServers\": {\n    \"t\": {\n      \"command\": \"c\",\n      \"args\": []\n    }\n  }\n}\n"},
		"empty object": {jsonFile, "{}", "{\n  \"mcpServers\": {\n    \"t\": {\n      \"command\": \"c\",\n      \"args\": []\n    }\n  }\n}"},
		"one line": {
			jsonFile, `{"a":1,"mcpServers":{"x":{"command":"y"}}}`,
			`{"a":1,"mcpServers":{"t": {"command":"c","args":[]}}}`,
		},
		"one line, empty": {
			jsonFile, `{"mcpServers":{}, "a":1}`,
			`{"mcpServers":{"t": {"command":"c","args":[]}}, "a":1}`,
		},
		"null": {
			jsonFile, "{\n  \"a\": 1,\n  \"mcpServers\": null // none\n}\n",
			"{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"t\": {\n      \"command\": \"c\",\n      \"args\": []\n    }\n  } // none\n}\n",
		},
		"null, on one line": {jsonFile, `{"mcpServers":null}`, `{"mcpServers":{"t": {"command":"c","args":[]}}}`},
		"only a comment": {
			jsonFile, "{\n  // none yet\n}\n",
			"{\n  \"mcpServers\": {\n    \"t\": {\n      \"command\": \"c\",\n      \"args\": []\n    }\n  }\n  // none yet\n}\n",
		},
		"itself, twice": {
			jsonFile, `{"mcpServers":{"t":{"command":"old"},"t":{"command":"older"}}}`,
			`{"mcpServers":{"t": {"command":"c","args":[]}}}`,
		},
		"a comma in a note": {
			jsonFile, "{\"mcpServers\":{\n  \"x\":{\"command\":\"y\"} // a, b\n}}",
			"{\"mcpServers\":{\n  \"t\": {\n    \"command\": \"c\",\n    \"args\": []\n  }\n  // a, b\n}}",
		},
		"toml, nothing":    {tomlFile, "", "[mcp_servers.t]\ncommand = \"c\"\nargs = []\n"},
		"toml, no newline": {tomlFile, "a = 1", "a = 1\n\n[mcp_servers.t]\ncommand = \"c\"\nargs = []\n"},
		"toml, inline": {
			tomlFile, "[mcp_servers]\nx = {command = \"y\"}\nz = {command = \"y\"} # two\n",
			"[mcp_servers]\n\n[mcp_servers.t]\ncommand = \"c\"\nargs = []\n",
		},
		"toml, dotted": {
			tomlFile, "mcp_servers.x.command = \"y\"\nb = 2\n",
			"b = 2\n\n[mcp_servers.t]\ncommand = \"c\"\nargs = []\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := &Document{File: tt.file, Text: []byte(tt.text), Exists: true}
			got, err := d.Replace(Own{Name: "t", Command: "c"}, usable(t, d))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefused wants an error, and never a file that says something else, where an edit is not safe.
func TestRefused(t *testing.T) {
	tests := map[string]struct {
		format  Format
		section string
		text    string
	}{
		"not JSON":            {JSON, "mcpServers", "{"},
		"a list":              {JSON, "mcpServers", "[]"},
		"servers are a list":  {JSON, "mcpServers", `{"mcpServers": []}`},
		"servers are nothing": {JSON, "mcpServers", `{"mcpServers": "null"}`},
		"not TOML":            {TOML, "mcp_servers", "[["},
		"one inline table":    {TOML, "mcp_servers", "mcp_servers = {x = {command = \"y\"}}\n"},
		"more than one value": {JSON, "mcpServers", "{} {}"},
		"UTF-16":              {JSON, "mcpServers", "\xff\xfe{\x00}\x00"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := &Document{
				File: File{Path: "f", Format: tt.format, Sections: [][]string{{tt.section}}},
				Text: []byte(tt.text), Exists: true,
			}
			gone, _ := d.Servers()
			if got, err := d.Replace(own, gone); tool.CodeOf(err) != tool.Invalid ||
				strings.Contains(err.Error(), "Go value") {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// fuzzReplace holds that an edit neither panics nor takes away more than it should: Replace itself checks the latter.
func fuzzReplace(f *testing.F, file File) {
	f.Fuzz(func(t *testing.T, text []byte) {
		d := &Document{File: file, Text: text, Exists: true}
		all, err := d.Servers()
		if err != nil {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("error is %v", err)
			}
			return
		}
		got, err := d.Replace(own, all)
		if err != nil {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("error is %v", err)
			}
			return
		}
		left, err := (&Document{File: file, Text: got}).Servers()
		if err != nil || len(left) != 1 || left[0].Name != own.Name {
			t.Errorf("%q becomes %q: %v, %v", text, got, left, err)
		}
	})
}

func FuzzReplaceJSON(f *testing.F) {
	for _, s := range []string{
		`{"mcpServers":{"a":{"command":"x"}}}`, "{\"mcpServers\":{//c\n\"a\":{},\"b\":{},},}",
		`{"a":1,"mcpServers":{"a":1,"a":2}}`, `{"mcpServers":null}`,
		"\ufeff{\r\n\t\"mcpServers\": {\r\n\t}\r\n}", `{"a" /*,*/ : /*"*/ 1 /*}*/ , }`,
	} {
		f.Add([]byte(s))
	}
	fuzzReplace(f, File{Path: "f.json", Sections: [][]string{{"mcpServers"}}})
}

func FuzzReplaceYAML(f *testing.F) {
	for _, s := range []string{
		"extensions:\n  a:\n    cmd: x\n    description: |\n      b:\n# c\nd: 1\n", "extensions: {}\n", "{extensions: {a: {cmd: x}}}",
		"extensions:\r\n    a: {cmd: x}\r\n", "\ufeffextensions: ~", "a: [\n]\n---\nb: 1\n", "extensions:\n  ? a\n  : {cmd: x}\n",
	} {
		f.Add([]byte(s))
	}
	fuzzReplace(f, File{Path: "f.yaml", Format: YAML, Sections: [][]string{{"extensions"}}, Dialect: Goose})
}

func FuzzReplaceTOML(f *testing.F) {
	for _, s := range []string{
		"[mcp_servers.a]\ncommand = \"x\"\n# c\n[mcp_servers.a.env]\nA = '''\n[b]'''\n[c]\n",
		"mcp_servers.a = {command = \"x\", args = [\"]\", # ]\n]}", "[[mcp_servers.a]]\n",
		"a = \"\"\"\"\"\"\"\"\n[mcp_servers]\n\"x.y\".command = '\\'\n",
	} {
		f.Add([]byte(s))
	}
	fuzzReplace(f, File{Path: "f.toml", Format: TOML, Sections: [][]string{{"mcp_servers"}}})
}
