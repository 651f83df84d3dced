package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"tooldex/tool"
)

var update = flag.Bool("update", false, "write the golden files")

// TestSchemaIsPublished holds the schema in the documents to the one of the program.
func TestSchemaIsPublished(t *testing.T) {
	var b bytes.Buffer
	if err := writeJSON(&b, configSchema()); err != nil {
		t.Fatal(err)
	}
	const file = "../../docs/reference/tooldex.schema.json"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("go test ./cmd/tooldex -run Schema -update writes it anew (-published +now):\n%s", diff)
	}
}

// TestSettingsAreComplete wants every flag that configures something, and every variable of the environment that is
// read, among the settings, so that the file can say the same.
func TestSettingsAreComplete(t *testing.T) {
	flags, variables := map[string]bool{}, map[string]bool{configVariable: true}
	for _, s := range settings() {
		flags[s.flag], variables[s.env] = true, true
	}
	a := &app{getenv: func(string) string { return "" }}
	root := newRoot(a)
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	only := []string{"config", "demo", "stdio", "listen"} // what to do now, not how things are
	for _, set := range []*pflag.FlagSet{root.PersistentFlags(), serve.Flags()} {
		set.VisitAll(func(f *pflag.Flag) {
			if !flags[f.Name] && !slices.Contains(only, f.Name) && f.Name != "help" {
				t.Errorf("the flag --%s is no setting", f.Name)
			}
		})
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := regexp.MustCompile(`"(TOOLDEX_[A-Z_]+)"`)
	for _, source := range sources {
		b, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range read.FindAllStringSubmatch(string(b), -1) {
			if !variables[m[1]] && !strings.HasSuffix(source, "_test.go") {
				t.Errorf("%s: the variable %s is no setting", source, m[1])
			}
		}
	}
}

// TestSchemaAgrees holds our own reading of the schema to that of a validator: what one refuses the other must refuse.
func TestSchemaAgrees(t *testing.T) {
	b, err := json.Marshal(configSchema())
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	validator, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		"logLevel: debug": true,
		"logLevel: loud":  false,
		"serve: {threshold: 12, rate: 0.5, learnText: true}":    true,
		"serve: {threshold: 1.5}":                               false,
		"serve: {confirmTimeout: 5}":                            true,
		"serve: {confirmTimeout: 4}":                            false,
		"serve: {confirmTimeout: 300}":                          true,
		"serve: {confirmTimeout: 301}":                          false,
		"serve: {always: [a, 1]}":                               false,
		"serve: []":                                             false,
		"servers: {a: {command: x, args: [y], env: {A: b}}}":    true,
		"servers: {a: {command: x, env: {A: 1}}}":               false,
		"servers: {a: {comand: x}}":                             false,
		"servers: {a: {command: x, start: eager, timeout: 10}}": true,
		"profiles: {p: {servers: [a], mode: full}}":             true,
		"profiles: {p: {server: [a]}}":                          false,
		"profiles: {p: {mode: sideways}}":                       false,
		"nothing: 1":                                            false,
		"borrow: off":                                           true,
	} {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		_, ours := parseConfig("tooldex.yaml", []byte(text), func(string) string { return "" })
		theirs := validator.Validate(v)
		if (ours == nil) != ok || (theirs == nil) != ok {
			t.Errorf("%s: we say %v, the validator %v, want %v", text, ours, theirs, ok)
		}
	}
}

// TestServerKeys wants every key of the schema to be read by the catalogue, so that none is allowed that does nothing.
func TestServerKeys(t *testing.T) {
	base := func(more string) string { return "servers: {a: {" + more + "}}" }
	for key := range serverSchema().properties() {
		value := map[string]string{
			"args": "[x]", "env": "{A: b}", "headers": "{A: b}", "timeout": "5", "idleTimeout": "5", "concurrency": "5",
			"queue": "5", "disabled": "true", "enabled": "false", "trust": "true",
			"type": "stdio", "transport": "stdio", "start": "eager",
		}[key]
		if value == "" {
			value = "x"
		}
		plain, with := "command: c", "command: c, "+key+": "+value
		switch key {
		case "command":
			plain, with = "command: c", "command: other"
		case "url", "serverUrl", "httpUrl":
			plain, with = "url: https://a", key+": https://b"
		case "description":
			continue // for people
		}
		before, err1 := parseConfig("x.yaml", []byte(base(plain)), nil)
		after, err2 := parseConfig("x.yaml", []byte(base(with)), nil)
		if err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v", key, err1, err2)
			continue
		}
		if sameServer(before.servers[0], after.servers[0]) {
			t.Errorf("%s has no effect", key)
		}
	}
}

func TestPathsInConfig(t *testing.T) {
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }
	dir := t.TempDir()
	got, err := parseConfig(filepath.Join(dir, "x.yaml"),
		[]byte("dataDir: ~/d\nserve: {profilesFile: p.yaml, tokensFile: "+filepath.ToSlash(dir)+"/t}"), getenv)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"dataDir": filepath.Join(home, "d"), "serve.profilesFile": filepath.Join(dir, "p.yaml"),
		"serve.tokensFile": filepath.ToSlash(dir) + "/t",
	}
	if diff := cmp.Diff(want, got.values); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReload changes a file as people do: well, badly, and back.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tooldex.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("logLevel: info\nservers: {a: {command: x}}")
	a := &app{getenv: func(string) string { return "" }}
	root := newRoot(a)
	a.config = path
	if err := a.configure(root); err != nil {
		t.Fatal(err)
	}
	names := func() string {
		var out []string
		for _, s := range a.conf.servers() {
			out = append(out, s.Name)
		}
		return strings.Join(out, " ")
	}
	steps := []struct {
		name, text string
		want       reloaded
		bad        bool
		servers    string
	}{
		{"nothing", "logLevel: info\nservers: {a: {command: x}}", reloaded{}, false, "a"},
		{
			"one more", "logLevel: info\nservers: {a: {command: x}, b: {command: y}}",
			reloaded{servers: true},
			false,
			"a b",
		},
		{"a slip", "logLevel: info\nservers: {a: {comand: x}}", reloaded{}, true, "a b"},
		{"the same slip", "logLevel: info\nservers: {a: {comand: x}}", reloaded{}, false, "a b"},
		{"mended, and one less", "logLevel: info\nservers: {b: {command: y}}", reloaded{servers: true}, false, "b"},
		{"the level", "logLevel: debug\nservers: {b: {command: y}}", reloaded{level: "debug"}, false, "b"},
		{"the level as usual", "servers: {b: {command: y}}", reloaded{level: "warn"}, false, "b"},
		{
			"profiles and a mode", "serve: {mode: full}\nprofiles: {p: {}}\nservers: {b: {command: y}}",
			reloaded{profiles: true, ways: true},
			false, "b",
		},
		{
			"others, and what needs a restart", "serve: {mode: lazy, rate: 3}\nservers: {b: {command: y}}",
			reloaded{profiles: true, ways: true, restart: []string{"serve.rate"}},
			false, "b",
		},
		{"which is told once", "serve: {mode: lazy, rate: 4}\nservers: {b: {command: y}}", reloaded{}, false, "b"},
		{"trust, and what is confirmed", "serve: {mode: lazy, rate: 4, confirm: writes}\ntrust: {policy: strict}\nservers: {b: {command: y}}", reloaded{confirm: true, trust: true}, false, "b"},
	}
	for _, step := range steps {
		write(step.text)
		got, err := a.conf.reload()
		if (err != nil) != step.bad || err != nil && tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%s: error %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, got, cmp.AllowUnexported(reloaded{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		if names() != step.servers {
			t.Errorf("%s: servers are %s, want %s", step.name, names(), step.servers)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := a.conf.reload(); err == nil || names() != "b" {
		t.Errorf("without the file: %v, servers %s", err, names())
	}
	a.conf.forget()
	if _, err := a.conf.reload(); err == nil {
		t.Error("when asked again it says nothing")
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, s := range []string{
		"serve: {mode: full, always: [a]}\nservers: {a: {command: x}}", "a: &a [*a]", "x: &x {<<: *x}",
		"servers: &s {a: {url: 'https://h'}}\nmcpServers: *s", "- 1", "1", "serve:", "# nothing",
		"profiles: {p: {servers: [a]}}", "{\"$schema\": \"x\"}", "serve: {rate: .inf}", "servers: {? [a] : {}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseConfig("tooldex.yaml", b, func(string) string { return "" })
		if err != nil {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("error is %v", err)
			}
			return
		}
		for key := range got.values {
			if !slices.ContainsFunc(settings(), func(s setting) bool { return s.key == key && !s.secret }) {
				t.Errorf("%q sets %s", b, key)
			}
		}
	})
}
