package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/config"
	"tooldex/tool"
	"tooldex/upstream"
)

// TestFilters reads the lists of tools that clients have, in the ways in which they write them.
func TestFilters(t *testing.T) {
	for name, tt := range map[string]struct {
		client, text string
		only, hidden []string
		stays        bool
	}{
		"Codex": {
			"codex", "[mcp_servers.a]\ncommand = \"x\"\nenabled_tools = [\"read\", \"list\"]\ndisabled_tools = [\"list\"]\n",
			[]string{"read", "list"},
			[]string{"list"},
			false,
		},
		"Codex shows none": {
			"codex", "[mcp_servers.a]\ncommand = \"x\"\nenabled_tools = []\n", nil,
			[]string{"*"},
			false,
		},
		"Codex, settings of a tool": {
			"codex", "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.tools.read]\napproval_mode = \"approve\"\n", nil, nil,
			false,
		},
		"Gemini CLI": {
			"gemini", `{"mcpServers":{"a":{"command":"x","includeTools":["read(path)"],"excludeTools":["write"]}}}`,
			[]string{"read"},
			[]string{"write"},
			false,
		},
		"Windsurf":     {"windsurf", `{"mcpServers":{"a":{"command":"x","disabledTools":["write"]}}}`, nil, []string{"write"}, false},
		"Roo Code":     {"roo", `{"mcpServers":{"a":{"command":"x","alwaysAllow":["read"],"disabledTools":["write"]}}}`, nil, []string{"write"}, false},
		"Kiro":         {"kiro", `{"mcpServers":{"a":{"command":"x","disabledTools":["write"],"autoApprove":["read"]}}}`, nil, []string{"write"}, false},
		"a star":       {"cursor", `{"mcpServers":{"a":{"command":"x","tools":["*"]}}}`, []string{"*"}, nil, false},
		"an odd value": {"cursor", `{"mcpServers":{"a":{"command":"x","disabledTools":"write"}}}`, nil, nil, true},
		"a number":     {"cursor", `{"mcpServers":{"a":{"command":"x","disabledTools":[1]}}}`, nil, nil, true},
		"null":         {"cursor", `{"mcpServers":{"a":{"command":"x","disabledTools":null}}}`, nil, nil, false},
		"Goose":        {"goose", "extensions:\n  a:\n    cmd: x\n    type: stdio\n    available_tools: [read]\n", []string{"read"}, nil, false},
		"Goose, all":   {"goose", "extensions:\n  a:\n    cmd: x\n    type: stdio\n    available_tools: []\n", nil, nil, false},
		"opencode": {
			"opencode", `{"mcp":{"a":{"type":"local","command":["x"]}},"tools":{"a_write":false,"b_read":false,"*":true}}`, nil,
			[]string{"write"},
			false,
		},
		"opencode, a whole server": {
			"opencode", `{"mcp":{"a":{"type":"local","command":["x"]}},"tools":{"a*":false}}`, nil,
			[]string{"*"},
			false,
		},
		"opencode, with exceptions": {
			"opencode", `{"mcp":{"a":{"type":"local","command":["x"]}},"tools":{"a_*":false,"a_read":true}}`, nil,
			[]string{"*"},
			true,
		},
		"opencode, by agent": {
			"opencode", `{"mcp":{"a":{"type":"local","command":["x"]}},"tools":{"a_*":false},"agent":{"review":{"tools":{"a_*":true}}}}`,
			nil, nil, true,
		},
		"none": {"cursor", `{"mcpServers":{"a":{"command":"x"}}}`, nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := Named(tt.client)
			file := client.Files(Place{OS: "linux", Home: t.TempDir(), Getenv: none})[0]
			entries, err := (&Document{File: file, Text: []byte(tt.text), Exists: true}).Servers()
			if err != nil || len(entries) != 1 || entries[0].Err != nil {
				t.Fatalf("%+v, %v", entries, err)
			}
			e := entries[0]
			if (e.Stays != "") != tt.stays {
				t.Errorf("stays: %q", e.Stays)
			}
			if diff := cmp.Diff([][]string{tt.only, tt.hidden}, [][]string{e.Filter.Only, e.Filter.Hidden}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(e.Lost) > 0 && !tt.stays && name != "Roo Code" && name != "Kiro" && !strings.Contains(name, "Codex, s") {
				t.Errorf("%q is reported as lost", e.Lost)
			}
		})
	}
}

// TestPermissions reads which tools Claude Code may not use, in the settings beside the file of its servers.
func TestPermissions(t *testing.T) {
	place := Place{OS: "linux", Home: t.TempDir(), Dir: t.TempDir(), Getenv: none}
	for path, text := range map[string]string{
		place.inHome(".claude.json"):                               `{"mcpServers": {"my files": {"command": "x"}, "other": {"command": "y"}}}`,
		place.inHome(".claude", "settings.json"):                   `{"permissions": {"deny": ["mcp__my_files__write", "Bash(rm)"]}}`,
		filepath.Join(place.Dir, ".claude", "settings.local.json"): `{"permissions": {"deny": ["mcp__other"]}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	client, _ := Named("claude-code")
	d, err := client.Document(place, false, "")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := d.Servers()
	if err != nil || len(entries) != 2 {
		t.Fatalf("%+v, %v", entries, err)
	}
	if diff := cmp.Diff([]Filter{{Hidden: []string{"write"}}, {Hidden: []string{"*"}}},
		[]Filter{entries[0].Filter, entries[1].Filter}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	broken := place.inHome(".claude", "settings.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Document(place, false, ""); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("broken permissions: %v", err)
	}
}

// TestProfileOfClient connects a client twice: its lists of tools are in its profile, which each undo takes back.
func TestProfileOfClient(t *testing.T) {
	data := t.TempDir()
	k := Keeper{Dir: filepath.Join(data, "connect")}
	path := filepath.Join(t.TempDir(), "mcp.json")
	file := File{Client: "cursor", Path: path, Sections: plain}
	texts := []string{
		`{"mcpServers": {"a": {"command": "a", "disabledTools": ["write"]}}}`,
		`{"mcpServers": {"a": {"command": "a", "enabledTools": ["read"]}, "b": {"command": "b", "disabledTools": ["drop"]}}}`,
	}
	want := []map[string]config.Profile{
		{"cursor": {Hidden: []string{"a/write"}}},
		{"cursor": {Tools: []string{"a/read"}, Hidden: []string{"b/drop"}}},
	}
	profiles := func(want map[string]config.Profile) {
		t.Helper()
		got, err := config.ReadClientProfiles(data)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, profiles (-want +got):\n%s", err, diff)
		}
	}
	plan := func(c *config.Config, args ...string) (*Edit, error) {
		t.Helper()
		d, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := Plan([]*Document{d}, nil, PlanOptions{Moving: true})
		if err != nil {
			t.Fatal(err)
		}
		return k.PlanEdit(d, Own{"tooldex", "tooldex", append([]string{"serve"}, args...)}, list, c)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range texts { // the client is connected, gets its servers again by other ways, and is connected again
		write(text)
		for name, other := range map[string]func() (*Edit, error){
			"flag":    func() (*Edit, error) { return plan(&config.Config{}, "--profile", "team") },
			"joined":  func() (*Edit, error) { return plan(&config.Config{}, "--profile=team") },
			"setting": func() (*Edit, error) { return plan(&config.Config{Serve: config.Serve{Profile: "team"}}) },
		} {
			if _, err := other(); tool.CodeOf(err) != tool.Invalid {
				t.Errorf("another profile by %s: %v", name, err)
			}
		}
		e, err := plan(&config.Config{})
		if err != nil || e.Profile != "cursor" || !strings.Contains(string(e.Text), `"--profile"`) {
			t.Fatalf("%v: %+v", err, e)
		}
		e.document.Text = []byte("{}") // as if the file changed between reading and writing
		if _, err := k.Write(e); tool.CodeOf(err) != tool.Unavailable {
			t.Errorf("a file that changed meanwhile: %v", err)
		}
		e.document.Text = []byte(text)
		if i == 0 {
			profiles(map[string]config.Profile{"cursor": want[0]["cursor"]}) // the file may hold the new text: it stays
			if c, _, err := k.Last("cursor", path); err != nil || k.Forget(c) != nil {
				t.Fatal(err)
			}
			profiles(nil)
		} else if c, _, err := k.Last("cursor", path); err != nil || k.Forget(c) != nil {
			t.Fatal(err)
		}
		if _, err := k.Write(e); err != nil {
			t.Fatal(err)
		}
		profiles(want[i])
		if again, err := plan(&config.Config{Profiles: want[i]}); err != nil || again.Changes() {
			t.Errorf("connected again: %v, %s", err, again.Text)
		}
	}
	for i := 1; i >= 0; i-- {
		c, before, err := k.Last("cursor", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Undo(c, before); err != nil {
			t.Fatal(err)
		}
		if err := k.Forget(c); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			profiles(want[0])
		}
	}
	profiles(nil)
	if _, err := os.Stat(config.ClientProfilesPath(data)); !os.IsNotExist(err) {
		t.Errorf("the file of profiles stays: %v", err)
	}
	taken := &config.Config{Profiles: map[string]config.Profile{"cursor": {Mode: "full"}}}
	if e, err := plan(taken); err != nil || e.Profile != "cursor-tools" {
		t.Errorf("beside a profile of that name: %v, %+v", err, e)
	}
}

// TestNamesOfSeveral plans servers of one name with different settings in several files.
func TestNamesOfSeveral(t *testing.T) {
	doc := func(client, command string) *Document {
		return &Document{File: File{Client: client, Path: client, Sections: plain}, Exists: true, Text: []byte(
			`{"mcpServers": {"memory": {"command": "` + command + `"}}}`)}
	}
	for name, tt := range map[string]struct {
		docs   []*Document
		stored string
		o      PlanOptions
		want   string
	}{
		"two clients":         {[]*Document{doc("cursor", "a"), doc("codex", "b")}, "", PlanOptions{}, "memory new, memory-codex new"},
		"alike":               {[]*Document{doc("cursor", "a"), doc("codex", "a")}, "", PlanOptions{}, "memory new, memory known"},
		"three":               {[]*Document{doc("cursor", "a"), doc("codex", "b"), doc("codex", "c")}, "", PlanOptions{}, "memory new, memory-codex new, memory-codex-2 new"},
		"again":               {[]*Document{doc("cursor", "a"), doc("codex", "b")}, "memory=a memory-codex=b", PlanOptions{}, "memory known, memory-codex known"},
		"changed since":       {[]*Document{doc("cursor", "a"), doc("codex", "c")}, "memory=a memory-codex=b", PlanOptions{}, "memory known, memory differs"},
		"stored otherwise":    {[]*Document{doc("codex", "b")}, "memory=a", PlanOptions{}, "memory differs"},
		"moving":              {[]*Document{doc("codex", "b")}, "memory=a", PlanOptions{Moving: true}, "memory-codex new"},
		"moving, taken":       {[]*Document{doc("codex", "c")}, "memory=a memory-codex=b", PlanOptions{Moving: true}, "memory-codex-2 new"},
		"moving in its place": {[]*Document{doc("codex", "b")}, "memory=a", PlanOptions{Moving: true, Replace: true}, "memory replaced"},
		"a file":              {[]*Document{doc("cursor", "a"), doc("my mcp.json", "b")}, "", PlanOptions{}, "memory new, memory-my_mcp new"},
	} {
		var stored []upstream.Server
		for _, one := range strings.Fields(tt.stored) {
			name, command, _ := strings.Cut(one, "=")
			stored = append(stored, upstream.Server{Name: name, Command: command})
		}
		list, _, err := Plan(tt.docs, stored, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range list {
			if f.Server != "memory" || (f.As == "") != (f.Entry.Server.Name == "memory") {
				t.Errorf("%s: %+v", name, f)
			}
			got = append(got, f.Entry.Server.Name+" "+f.State)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
