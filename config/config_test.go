package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tooldex/confirm"
	"tooldex/mcpsrv"
	"tooldex/tool"
	"tooldex/trust"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

// TestSchemaAgrees holds our own reading of the schema to that of a validator: what one refuses the other must refuse.
func TestSchemaAgrees(t *testing.T) {
	b, err := json.Marshal(Schema())
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
		_, ours := parseFile("tooldex.yaml", []byte(text), func(string) string { return "" })
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
			"args": "[x]", "env": "{A: b}", "headers": "{A: b}", "timeout": "5", "callTimeout": "5", "startTimeout": "5", "idleTimeout": "5", "concurrency": "5",
			"queue": "5", "disabled": "true", "enabled": "false", "trust": "true", "roots": "true", "isolate": "{network: true}",
			"oauth": "{perUser: true}",
			"auth":  "{a: '${B}'}", "tags": "[x]", "paths": "[x]",
			"type": "stdio", "transport": "stdio", "start": "eager",
		}[key]
		if value == "" {
			value = "x"
		}
		plain, with := "command: c", "command: c, "+key+": "+value
		switch key {
		case "command":
			plain, with = "command: c", "command: other"
		case "openapi":
			plain, with = "openapi: a", "openapi: b"
		case "auth", "tags", "paths":
			plain, with = "openapi: a", "openapi: a, "+key+": "+value
		case "oauth":
			plain, with = "url: https://a", "url: https://a, "+key+": "+value
		case "url", "serverUrl", "httpUrl":
			plain, with = "url: https://a", key+": https://b"
		case "description":
			continue // for people
		}
		before, err1 := parseFile("x.yaml", []byte(base(plain)), nil)
		after, err2 := parseFile("x.yaml", []byte(base(with)), nil)
		if err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v", key, err1, err2)
			continue
		}
		if reflect.DeepEqual(before.servers[0], after.servers[0]) {
			t.Errorf("%s has no effect", key)
		}
	}
}

func TestPathsInConfig(t *testing.T) {
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }
	dir := t.TempDir()
	got, err := parseFile(filepath.Join(dir, "x.yaml"),
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
	l, err := Load(Options{Path: path, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	names := func() string {
		var out []string
		for _, s := range l.Config().Servers {
			out = append(out, s.Name)
		}
		return strings.Join(out, " ")
	}
	steps := []struct {
		name, text string
		want       string // what Change reports
		bad        bool
		servers    string
	}{
		{"nothing", "logLevel: info\nservers: {a: {command: x}}", "", false, "a"},
		{"one more", "logLevel: info\nservers: {a: {command: x}, b: {command: y}}", "servers", false, "a b"},
		{"a typo", "logLevel: info\nservers: {a: {comand: x}}", "", true, "a b"},
		{"the same typo", "logLevel: info\nservers: {a: {comand: x}}", "", false, "a b"},
		{"mended, and one less", "logLevel: info\nservers: {b: {command: y}}", "servers", false, "b"},
		{"the level", "logLevel: debug\nservers: {b: {command: y}}", "level debug", false, "b"},
		{"the default level", "servers: {b: {command: y}}", "level warn", false, "b"},
		{
			"profiles and a mode", "serve: {mode: full}\nprofiles: {p: {}}\nservers: {b: {command: y}}",
			"profiles listing", false, "b",
		},
		{
			"others, and what needs a restart", "serve: {mode: lazy, rate: 3}\nservers: {b: {command: y}}",
			"profiles listing restart serve.rate", false, "b",
		},
		{"which is reported once", "serve: {mode: lazy, rate: 4}\nservers: {b: {command: y}}", "nothing", false, "b"},
		{
			"trust, and what is confirmed",
			"serve: {mode: lazy, rate: 4, confirm: writes}\ntrust: {policy: strict}\nservers: {b: {command: y}}",
			"confirmation trust", false, "b",
		},
	}
	for _, step := range steps {
		write(step.text)
		got, err := l.Reload()
		if (err != nil) != step.bad || err != nil && tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%s: error %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, describeChange(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		if names() != step.servers {
			t.Errorf("%s: servers are %s, want %s", step.name, names(), step.servers)
		}
	}
	if rate := l.Config().Serve.Rate; rate != 0 {
		t.Errorf("a setting that needs a restart is %v already", rate)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reload(); err == nil || names() != "b" {
		t.Errorf("without the file: %v, servers %s", err, names())
	}
	l.Invalidate()
	if _, err := l.Reload(); err == nil {
		t.Error("no error when asked again")
	}
}

// describeChange lists what a change reports: "" for none, "nothing" for one of no setting that is live.
func describeChange(c *Change) string {
	if c == nil {
		return ""
	}
	var out []string
	for _, one := range []struct {
		name string
		yes  bool
	}{
		{"servers", c.Servers()},
		{"profiles", c.Profiles()},
		{"listing", c.Listing()},
		{"confirmation", c.Confirmation()},
		{"trust", c.Trust()},
	} {
		if one.yes {
			out = append(out, one.name)
		}
	}
	if c.Before.LogLevel != c.Now.LogLevel {
		out = append(out, "level "+c.Now.LogLevel)
	}
	for _, key := range c.Restart {
		out = append(out, "restart "+key)
	}
	if out == nil {
		return "nothing"
	}
	return strings.Join(out, " ")
}

// TestSettingsHaveFields wants a field for every setting, of the type of its default, and a setting for every field but
// those that are no settings.
func TestSettingsHaveFields(t *testing.T) {
	keys := map[string]bool{}
	for _, s := range Settings() {
		field := fieldOf(&Config{}, s.Key)
		if !field.IsValid() {
			t.Errorf("%s has no field", s.Key)
			continue
		}
		keys[strings.ToLower(s.Key)] = true
		if s.Default != nil && s.assignValue(fieldOf(&Config{}, s.Key), s.Default) != nil {
			t.Errorf("%s cannot have its default %v", s.Key, s.Default)
		}
	}
	var walk func(reflect.Type, string)
	walk = func(of reflect.Type, prefix string) {
		for f := range of.Fields() {
			key := strings.ToLower(prefix + f.Name)
			switch {
			case f.Type.Kind() == reflect.Struct:
				walk(f.Type, key+".")
			case !keys[key] && !slices.Contains([]string{"servers", "profiles", "openaibaseurl", "openaikey"}, key):
				t.Errorf("no setting sets %s", key)
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
}

// TestChoices holds the choices to those of the packages that read them.
func TestChoices(t *testing.T) {
	for name, c := range map[string]struct{ got, want []string }{
		"modes":          {Modes(), texts(mcpsrv.Modes())},
		"confirm modes":  {ConfirmModes(), texts(confirm.Modes())},
		"trust policies": {TrustPolicies(), texts(trust.Policies())},
		"secrets":        {SecretSettings(), texts(trust.SecretSettings())},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	defaults := map[string]any{
		"serve.threshold": mcpsrv.DefaultThreshold, "serve.maxSessions": mcpsrv.DefaultSessions,
		"serve.confirmTimeout": int(confirm.DefaultTime / time.Second),
	}
	for _, s := range Settings() {
		if want, ok := defaults[s.Key]; ok && s.Default != want {
			t.Errorf("the default of %s is %v, want %v", s.Key, s.Default, want)
		}
	}
}

func texts[S ~string](list []S) (out []string) {
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// TestOrder sets one thing in every layer, and takes them away one by one.
func TestOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tooldex.yaml")
	text := "serve: {mode: lazy, always: [a], learnText: yes}\naudit: {on: OFF}\nselect: {lazy: 'No'}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TOOLDEX_MODE": "full", "ALWAYS_AVAILABLE_TOOLS": " b, ,c", "TOOLDEX_AUDIT": "Yes"}
	o := Options{Path: path, Getenv: func(key string) string { return env[key] }}
	check := func(mode string, always []string, audit bool, origin Origin) {
		t.Helper()
		l, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		c := l.Config()
		got := []any{c.Serve.Mode, c.Serve.Always, c.Audit.On, l.Origin("serve.mode"), c.Serve.LearnText, c.Select.Lazy}
		if diff := cmp.Diff([]any{mode, always, audit, origin, true, false}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	o.Flags = map[string]any{"serve.mode": "search", "serve.always": []string{"d"}}
	check("search", []string{"d", "b", "c"}, true, Origin{"flag", "--mode"})
	o.Flags = nil
	check("full", []string{"b", "c"}, true, Origin{"environment", "TOOLDEX_MODE"})
	env = nil
	check("lazy", []string{"a"}, false, Origin{"file", path + ":1"})
}

// TestBadValues gives settings what they cannot be.
func TestBadValues(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want UsageError
	}{
		"choice": {
			map[string]string{"TOOLDEX_MODE": "loud"},
			UsageError{`TOOLDEX_MODE cannot be "loud"`, "use search, dynamic, lazy, full or auto"},
		},
		"boolean": {
			map[string]string{"TOOLDEX_AUDIT": "maybe"},
			UsageError{`TOOLDEX_AUDIT cannot be "maybe"`, "use true or false"},
		},
		"number": {
			map[string]string{"TOOLDEX_CONFIRM_TIMEOUT": "4"},
			UsageError{`TOOLDEX_CONFIRM_TIMEOUT cannot be "4"`, "give a whole number from 5 to 300"},
		},
		"fewer than no tools": {
			map[string]string{"TOOLDEX_MAX_TOOLS": "-1"},
			UsageError{`TOOLDEX_MAX_TOOLS cannot be "-1"`, "give a whole number from 0"},
		},
		"required and off": {
			map[string]string{"TOOLDEX_AUDIT": "off", "TOOLDEX_AUDIT_REQUIRED": "on"},
			UsageError{
				"the audit log is required, and turned off", "set TOOLDEX_AUDIT=true, or TOOLDEX_AUDIT_REQUIRED=false",
			},
		},
	} {
		l, err := Load(Options{NoFile: true, Getenv: func(key string) string { return c.env[key] }})
		if l == nil || l.Config() == nil {
			t.Fatalf("%s: no configuration", name)
		}
		if diff := cmp.Diff(error(c.want), err); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
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
		got, err := parseFile("tooldex.yaml", b, func(string) string { return "" })
		if err != nil {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("error is %v", err)
			}
			return
		}
		for key := range got.values {
			if !slices.ContainsFunc(Settings(), func(s Setting) bool { return s.Key == key && !s.Secret }) {
				t.Errorf("%q sets %s", b, key)
			}
		}
	})
}
