package clients

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// TestFilesOfClients holds where each client keeps its servers on each platform. Paths are written with slashes.
func TestFilesOfClients(t *testing.T) {
	env := map[string]string{"APPDATA": "/roaming", "XDG_CONFIG_HOME": "/xdg"}
	windows := func(name string) string { return map[string]string{"APPDATA": env["APPDATA"]}[name] }
	xdg := func(name string) string { return map[string]string{"XDG_CONFIG_HOME": env["XDG_CONFIG_HOME"]}[name] }
	moved := func(name string) string {
		return map[string]string{"CODEX_HOME": "/codex", "CLAUDE_CONFIG_DIR": "/claude"}[name]
	}
	tests := []struct {
		os, client string
		getenv     func(string) string
		want       []string
	}{
		{"linux", "claude-desktop", none, []string{"/h/.config/Claude/claude_desktop_config.json"}},
		{"linux", "claude-desktop", xdg, []string{"/xdg/Claude/claude_desktop_config.json"}},
		{
			"linux", "claude-desktop", func(string) string { return "relative" },
			[]string{"/h/.config/Claude/claude_desktop_config.json"},
		},
		{"darwin", "claude-desktop", none, []string{"/h/Library/Application Support/Claude/claude_desktop_config.json"}},
		{"windows", "claude-desktop", windows, []string{"/roaming/Claude/claude_desktop_config.json"}},
		{"windows", "claude-desktop", none, nil},
		{"linux", "claude-code", none, []string{"/h/.claude.json", "/p/.mcp.json"}},
		{"linux", "claude-code", moved, []string{"/claude/.claude.json", "/p/.mcp.json"}},
		{"linux", "cursor", none, []string{"/h/.cursor/mcp.json", "/p/.cursor/mcp.json"}},
		{"linux", "vscode", none, []string{
			"/h/.config/Code/User/mcp.json", "/h/.config/Code/User/settings.json",
			"/p/.vscode/mcp.json",
		}},
		{"darwin", "vscode", none, []string{
			"/h/Library/Application Support/Code/User/mcp.json",
			"/h/Library/Application Support/Code/User/settings.json", "/p/.vscode/mcp.json",
		}},
		{"windows", "vscode", windows, []string{
			"/roaming/Code/User/mcp.json", "/roaming/Code/User/settings.json",
			"/p/.vscode/mcp.json",
		}},
		{"linux", "gemini", none, []string{"/h/.gemini/settings.json", "/p/.gemini/settings.json"}},
		{"linux", "codex", none, []string{"/h/.codex/config.toml"}},
		{"linux", "codex", moved, []string{"/codex/config.toml"}},
		{"linux", "zed", none, []string{"/h/.config/zed/settings.json", "/p/.zed/settings.json"}},
		{"darwin", "zed", none, []string{"/h/.config/zed/settings.json", "/p/.zed/settings.json"}},
		{"windows", "zed", windows, []string{"/roaming/Zed/settings.json", "/p/.zed/settings.json"}},
		{"linux", "cline", none, []string{
			"/h/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
			"/h/.cline/data/settings/cline_mcp_settings.json",
		}},
		{"darwin", "roo", none, []string{
			"/h/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
			"/p/.roo/mcp.json",
		}},
		{"linux", "continue", none, []string{"/h/.continue/config.yaml"}},
		{"linux", "goose", xdg, []string{"/xdg/goose/config.yaml"}},
		{"windows", "goose", windows, []string{"/roaming/Block/goose/config/config.yaml"}},
		{"linux", "opencode", none, []string{
			"/h/.config/opencode/opencode.json", "/h/.config/opencode/opencode.jsonc", "/p/opencode.json",
		}},
		{"windows", "lmstudio", windows, []string{"/h/.lmstudio/mcp.json"}},
		{"linux", "kiro", none, []string{"/h/.kiro/settings/mcp.json", "/p/.kiro/settings/mcp.json"}},
		{"linux", "jetbrains", none, []string{"/h/.junie/mcp/mcp.json", "/p/.junie/mcp/mcp.json"}},
		{"linux", "warp", none, []string{"/h/.warp/.mcp.json", "/p/.warp/.mcp.json"}},
		{"linux", "windsurf", none, []string{"/h/.codeium/windsurf/mcp_config.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.os+" "+tt.client, func(t *testing.T) {
			c, ok := Named(tt.client)
			if !ok {
				t.Fatal("unknown")
			}
			var got []string
			for _, f := range c.Files(Place{OS: tt.os, Home: "/h", Dir: "/p", Getenv: tt.getenv}) {
				got = append(got, filepath.ToSlash(f.Path))
				if f.Client != tt.client {
					t.Errorf("the client is %q", f.Client)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	cursor, _ := Named("cursor")
	if got := cursor.Files(Place{OS: "linux", Home: "/h", Dir: "/h", Getenv: none}); len(got) != 1 || got[0].Project {
		t.Errorf("in the home directory there are %+v", got)
	}
	if _, ok := Named("emacs"); ok || len(Names()) != len(Known()) {
		t.Errorf("names are %q", Names())
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "made", "x.json")
	if err := Write(path, nil, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, nil, []byte("two"), 0o600); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("a file that came meanwhile: %v", err)
	}
	if err := Write(path, []byte("other"), []byte("two"), 0o600); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("a file that changed meanwhile: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if err := Write(filepath.Join(path, "below"), nil, []byte("x"), 0o600); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("below a file: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "made", ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestWriteBehindLinks writes and takes back where a symbolic link leads, whether anything is there yet or not. The
// link stays.
func TestWriteBehindLinks(t *testing.T) {
	for name, tt := range map[string]struct{ before, link string }{
		"to a file":         {"before", "../dot/x.json"},
		"to nothing yet":    {"", "../dot/x.json"},
		"beside a link":     {"", "../dot/y.json"},
		"by its whole path": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			real, path := filepath.Join(dir, "dot", "x.json"), filepath.Join(dir, "moved", "x.json")
			to := tt.link
			if to == "" {
				to = real
			}
			for _, err := range []error{
				os.Mkdir(filepath.Join(dir, "dot"), 0o700), os.Mkdir(filepath.Join(dir, "there"), 0o700),
				os.Symlink("there", filepath.Join(dir, "moved")), os.Symlink(to, path),
				os.Symlink("x.json", filepath.Join(dir, "dot", "y.json")),
			} {
				if err != nil {
					t.Skip(err)
				}
			}
			var was []byte
			if tt.before != "" {
				was = []byte(tt.before)
				if err := os.WriteFile(real, was, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := Write(path, was, []byte("written"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(real); err != nil || string(got) != "written" {
				t.Errorf("behind the link lies %q, %v", got, err)
			}
			done, err := Undo(Change{Path: path, Existed: was != nil, Mode: 0o600, Written: Sum([]byte("written"))},
				was)
			if err != nil || !done {
				t.Error(done, err)
			}
			if got, err := os.ReadFile(real); string(got) != tt.before || (err == nil) != (was != nil) {
				t.Errorf("afterwards %q, %v", got, err)
			}
			if link, err := os.Readlink(path); err != nil || link != to {
				t.Errorf("the link is %q, %v", link, err)
			}
		})
	}
}

// TestKeeperStacks undoes two changes of one file, the later first.
func TestKeeperStacks(t *testing.T) {
	k := Keeper{Dir: t.TempDir()}
	path := filepath.Join(t.TempDir(), "x.json")
	texts := []string{"zero", "one", "two"}
	if err := os.WriteFile(path, []byte(texts[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		before, after := []byte(texts[i]), []byte(texts[i+1])
		if err := k.Keep(Change{Client: "c", Path: path, Existed: true, Mode: 0o600, Written: Sum(after)},
			before); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, before, after, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := k.Last("c", "elsewhere"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("another file: %v", err)
	}
	for i := 1; i >= 0; i-- {
		c, before, err := k.Last("c", path)
		if err != nil {
			t.Fatal(err)
		}
		if done, err := Undo(c, before); !done || err != nil {
			t.Fatalf("%v, %v", done, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != texts[i] {
			t.Errorf("undone to %q, %v; want %q", got, err, texts[i])
		}
		if err := k.Forget(c); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUndoOfWhatIsNotAsWritten leaves alone what somebody else has written since, and brings back what is gone.
func TestUndoOfWhatIsNotAsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	c := Change{Path: path, Existed: true, Mode: 0o600, Written: Sum([]byte("written"))}
	for name, tt := range map[string]struct {
		now, want string
		done      bool
	}{
		"changed since": {"changed", "changed", false},
		"as before":     {"before", "before", true},
		"as written":    {"written", "before", true},
	} {
		if err := os.WriteFile(path, []byte(tt.now), 0o600); err != nil {
			t.Fatal(err)
		}
		done, err := Undo(c, []byte("before"))
		got, readErr := os.ReadFile(path)
		if done != tt.done || err != nil || readErr != nil || string(got) != tt.want {
			t.Errorf("%s: %v, %v, %q", name, done, err, got)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if done, err := Undo(c, []byte("before")); !done || err != nil {
		t.Errorf("gone: %v, %v", done, err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "before" {
		t.Errorf("gone: %q, %v", got, err)
	}
	if done, err := Undo(Change{Path: filepath.Join(filepath.Dir(path), "never")}, nil); !done || err != nil {
		t.Errorf("never there: %v, %v", done, err)
	}
}
