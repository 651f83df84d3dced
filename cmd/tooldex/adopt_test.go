package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/cmd/tooldex/clients"
	"tooldex/config"
	"tooldex/tool"
	"tooldex/upstream"
)

// TestAdopt takes servers of several files over, of which some are known and some have one name.
func TestAdopt(t *testing.T) {
	doc := func(client, text string) *clients.Document {
		return &clients.Document{File: clients.File{
			Client: client, Path: client + ".json",
			Sections: [][]string{{"mcpServers"}},
		}, Text: []byte(text), Exists: true}
	}
	docs := []*clients.Document{
		doc("one", `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}, "c": {"command": "c"}}}`),
		doc("two", `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "other"}, "x": {}, "t": {"command": "/opt/tooldex-1.2", "args": ["serve"]}}}`),
	}
	stored := []upstream.Server{{Name: "c", Command: "changed"}}
	tests := map[string]struct {
		replace bool
		states  string
		stored  string
	}{
		"as they are": {false, "one/a new, one/b new, one/c differs, two/a known, two/b new, two/t tooldex itself, two/x unusable", "a=a b=b b-two=other"},
		"replacing":   {true, "one/a new, one/b new, one/c replaced, two/a known, two/b new, two/t tooldex itself, two/x unusable", "a=a b=b c=c b-two=other"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			list, servers, err := clients.Plan(docs, stored, clients.PlanOptions{Replace: tt.replace})
			if err != nil {
				t.Fatal(err)
			}
			var states, kept []string
			for _, l := range list {
				states = append(states, l.Client+"/"+l.Server+" "+l.State)
			}
			for _, s := range servers {
				kept = append(kept, s.Name+"="+s.Command)
			}
			if diff := cmp.Diff(tt.states, strings.Join(states, ", ")); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.stored, strings.Join(kept, " ")); diff != "" {
				t.Errorf("to be stored (-want +got):\n%s", diff)
			}
		})
	}
	list, _, err := clients.Plan(append(docs, doc("bad", "{")), nil, clients.PlanOptions{})
	if tool.CodeOf(err) != tool.Invalid || len(list) != 7 {
		t.Errorf("beside a bad file: %d servers, %v", len(list), err)
	}
}

func TestIsOurselves(t *testing.T) {
	for command, want := range map[string]bool{
		"tooldex": true, "/usr/bin/tooldex": true, `C:\bin\tooldex.exe`: true, "/opt/tooldex_1.0_linux_amd64": true,
		"tooldex-dev": true,
		"tooldexter":  false, "/tooldex/other": false, "": false,
	} {
		if got := config.IsTooldex(upstream.Server{Command: command, Args: []string{"-d", "x", "serve"}}); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
	if config.IsTooldex(upstream.Server{Command: "tooldex", Args: []string{"search"}}) {
		t.Error("another verb is taken for a server")
	}
}

// TestAgreed asks without a terminal, where only --yes writes. The transcript of connect asks a person.
func TestAgreed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	text := clients.Diff("x", []byte("a\nb\n"), []byte("a\nc\n"))
	for name, tt := range map[string]struct {
		flags connectFlags
		want  bool
		err   error
	}{
		"nobody":  {connectFlags{}, false, unasked},
		"yes":     {connectFlags{yes: true}, true, nil},
		"dry run": {connectFlags{dryRun: true, yes: true}, false, nil},
	} {
		var out bytes.Buffer
		a := &app{stdin: in, stdout: &out, stderr: &out, format: "table", getenv: func(string) string { return "" }}
		got, err := a.confirmChange(text, "x", &tt.flags)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if diff := cmp.Diff("--- x\n+++ x (new)\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", out.String()); diff != "" {
			t.Errorf("%s shows (-want +got):\n%s", name, diff)
		}
	}
}

func TestOwnEntry(t *testing.T) {
	dir := t.TempDir()
	team := filepath.Join(dir, "team.yaml")
	if err := os.WriteFile(team, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		env  map[string]string
		demo bool
		want []string
	}{
		"as usual": {nil, false, []string{"serve", "--mode", "search"}},
		"other data": {
			map[string]string{"TOOLDEX_DATA_DIR": dir},
			false,
			[]string{"serve", "--data-dir", dir, "--mode", "search"},
		},
		"a config file": {
			map[string]string{"TOOLDEX_CONFIG": team},
			false,
			[]string{"serve", "--config", team, "--mode", "search"},
		},
		"the demo": {
			map[string]string{"TOOLDEX_DATA_DIR": dir},
			true,
			[]string{"serve", "--demo", "--mode", "search"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{getenv: func(key string) string {
				if key == "HOME" || key == "LocalAppData" || key == "AppData" {
					return dir
				}
				return tt.env[key]
			}}
			root := newRoot(a)
			a.demo = tt.demo
			if a.loadConfig(root); a.settingsErr != nil {
				t.Fatal(a.settingsErr)
			}
			if err := a.openLog(); err != nil {
				t.Fatal(err)
			}
			own, err := a.ownEntry(&connectFlags{name: "tooldex", args: []string{"--mode", "search"}})
			if err != nil || !filepath.IsAbs(own.Command) {
				t.Errorf("%q, %v", own.Command, err)
			}
			if diff := cmp.Diff(tt.want, own.Args); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
