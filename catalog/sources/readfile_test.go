package sources

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/tool"
	"tooldex/upstream"
)

// all reads every tool of a file's sources.
func all(t testing.TB, c *Content) []*tool.Tool {
	t.Helper()
	var out []*tool.Tool
	for _, s := range c.Sources {
		tools, err := s.Tools(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range tools {
			if one.Server != s.Name() {
				t.Errorf("%s is offered by the source %s", one.ID(), s.Name())
			}
		}
		out = append(out, tools...)
	}
	return out
}

func TestReadCatalogueFile(t *testing.T) {
	c, err := ReadFile("testdata/catalogue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	want := []*tool.Tool{
		{
			Server: "notes", Name: "add_note", Title: "Add a note", Summary: "Write a note down", Category: "writing",
			Description: "Adds a note.\nIt keeps the order of lines.\n", Keywords: []string{"memo", "2026"},
			Synonyms: []string{"write down"},
			Examples: []tool.Example{{
				Description: "A short one",
				Invocation:  json.RawMessage(`{"text":"milk","tags":["home"]}`), Output: "the note's number",
			}},
			Utterances: []tool.Utterance{{Text: "remember the milk"}, {Text: "jot this down", From: tool.Learned}},
			InputSchema: json.RawMessage(`{"type":"object","required":["text"],"properties":{"text":{"type":"string","description":"Up to <100> & more"},` +
				`"tags":{"type":"array","items":{"type":"string"}},"zeal":{"type":"number","default":1.50,"maximum":31,"minimum":0.5},` +
				`"more":{"type":"array","items":{"type":"string"}},"when":{"type":"string","default":"2026-11-05","nullable":"yes","enum":["on",true,null]}}}`),
			OutputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &tool.Annotations{
				Title: "Adds", ReadOnlyHint: &no, DestructiveHint: &no,
				IdempotentHint: &yes, OpenWorldHint: &no,
			},
			Related: []tool.ID{"notes/drop_note", "other/tool"}, Always: true,
		},
		{Server: "notes", Name: "drop_note", Category: "destruction", Disabled: true, Deprecated: "use archive_note"},
		{Server: "notes", Name: "old", Category: "writing", Deprecated: "deprecated"},
		{
			Server: "shell", Name: "kill", Category: "system", Meta: json.RawMessage(`{"a":1}`),
			Icons: json.RawMessage(`[]`),
		},
		{Server: "shell", Name: "run", Category: "system"},
	}
	if d := diff(want, all(t, c)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	summary := "Note something"
	overlay := &Overlay{Name: "catalogue", Tools: map[tool.ID]*Patch{"notes/add_note": {
		Summary:  &summary,
		Synonyms: []string{"jot"},
	}}}
	if d := diff(overlay, c.Overlay); d != "" {
		t.Errorf("overlay (-want +got)\n%s", d)
	}
}

func TestReadForms(t *testing.T) {
	const one = `{"name": "run", "description": "Runs <it> \u0026 \"more\".", "inputSchema": { "type":"object" , "x":1.0e2 }, "annotations": {"readOnlyHint": true, "destructiveHint": "no"}, "own": [{"]": "}"}]}`
	yes := true
	want := []*tool.Tool{{
		Server: "shell", Name: "run", Description: `Runs <it> & "more".`,
		InputSchema: json.RawMessage(`{ "type":"object" , "x":1.0e2 }`),
		Annotations: &tool.Annotations{ReadOnlyHint: &yes},
	}}
	for name, c := range map[string]struct{ file, content string }{
		"tools/list": {"shell.json", `{"serverInfo":{"name":"other"},"tools":[` + one + `]}`},
		"JSON-RPC response": {"shell.json", `{"jsonrpc":"2.0","id":1,"result":{"tools":[` + one +
			`],"nextCursor":"x"}}`},
		"list of tools":          {"shell.json", "[" + one + "]"},
		"behind a byte mark":     {"shell.json", "\ufeff[" + one + "]"},
		"no extension":           {"shell", "\n [" + one + "]"},
		"comments, loose commas": {"shell.json", "// a list\n[/* of one */" + one + ", // \"quoted\"\n]"},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := Parse(c.file, []byte(c.content))
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(want, all(t, content)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
	// A catalogue file in JSON keeps schemas byte for byte too, and is as strict as one in YAML.
	content, err := Parse("x.json", []byte(`{"catalogue":1,"tools":[{"server":"shell","name":"run","inputSchema":{ "b":1.0 , "a" : 2},"summary":"Run it"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want = []*tool.Tool{{
		Server: "shell", Name: "run", Summary: "Run it",
		InputSchema: json.RawMessage(`{ "b":1.0 , "a" : 2}`),
	}}
	if d := diff(want, all(t, content)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestReadServers(t *testing.T) {
	want := []upstream.Server{
		{
			Name: "files", Command: "npx", Args: []string{"-y", "server", "${HOME}"},
			Env: map[string]string{"TOKEN": "${TOKEN:-none}"}, Dir: "/tmp", Timeout: 1500 * time.Millisecond,
		},
		{
			Name: "web", Transport: upstream.HTTP, URL: "https://example.com/mcp",
			Headers: map[string]string{"Authorization": "Bearer ${KEY}"}, Disabled: true,
		},
	}
	const files = `"files": {"command": "npx", "args": ["-y", "server", "${HOME}"], "env": {"TOKEN": "${TOKEN:-none}"}, "cwd": "/tmp", "timeout": 1500, "alwaysAllow": []}`
	const web = `"web": {"type": "streamable-http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${KEY}"}, "enabled": false}`
	for name, c := range map[string]struct{ file, content string }{
		"mcpServers":  {"a.json", `{"theme":"dark","mcpServers":{` + web + `,` + files + `}}`},
		"servers":     {"mcp.json", `{"inputs":[],"servers":{` + files + `,` + web + `},}`},
		"mcp.servers": {"settings.json", "{// settings\n" + `"mcp":{"servers":{` + files + `,` + web + `}}}`},
		"other spellings": {"a.json", `{"mcpServers":{` + files +
			`,"web":{"transport":"http","serverUrl":"https://example.com/mcp","headers":{"Authorization":"Bearer ${KEY}"},"disabled":true}}}`},
		"servers as YAML":  {"a.yaml", "mcpServers:\n  files: {command: npx, args: [-y, server, '${HOME}'], env: {TOKEN: '${TOKEN:-none}'}, cwd: /tmp, timeout: 1500}\n  web: {type: http, url: 'https://example.com/mcp', headers: {Authorization: 'Bearer ${KEY}'}, disabled: true}\n"},
		"servers, in YAML": {"a.yaml", "servers:\n  files: {command: npx, args: [-y, server, '${HOME}'], env: {TOKEN: '${TOKEN:-none}'}, cwd: /tmp, timeout: 1500}\n  web: {type: http, url: 'https://example.com/mcp', headers: {Authorization: 'Bearer ${KEY}'}, disabled: true}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(c.file, []byte(c.content))
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(want, got.Servers); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string
		want          []string // parts of the error
	}{
		"empty":      {"a.json", " \n", []string{"a.json", "empty"}},
		"empty YAML": {"a.yaml", "# nothing\n", []string{"a.yaml", "empty"}},
		"malformed JSON": {
			"a.json", "{\n \"tools\": [\n  {\"name\": }\n ]\n}",
			[]string{"a.json:3", "byte 26"},
		},
		"cut off":          {"a.json", `{"tools":[{"name":"x"`, []string{"a.json:1", "malformed JSON"}},
		"more behind it":   {"a.json", "{\"tools\":[]}\n{}", []string{"a.json:2"}},
		"a number":         {"a.json", "17", []string{"a.json", "neither tools nor servers"}},
		"other JSON":       {"a.json", `{"name":"x"}`, []string{"neither tools nor servers", "tools/list"}},
		"a server's error": {"a.json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}`, []string{"no such method"}},
		"malformed YAML":   {"a.yaml", "tools:\n  - name: x\n bad", []string{"a.yaml", "line"}},
		"UTF-16":           {"a.yaml", "\xff\xfet\x00o\x00", []string{"UTF-8"}},
		"no server name":   {".json", `[]`, []string{"name"}},
		"unknown key at the top": {"a.yaml", "catalogue: 1\ntool: []\n", []string{
			"a.yaml:2", `no key "tool"`,
			"tools",
		}},
		"unknown key of a tool": {
			"a.yaml", "tools:\n  - name: x\n    sumary: y\n",
			[]string{"a.yaml:3", `no key "sumary"`, "summary"},
		},
		"unknown key, in JSON": {
			"a.json", "{\"catalogue\":1,\n\"tools\":[{\"name\":\"x\",\n\"inputschema\":{}}]}",
			[]string{"a.json:3", `no key "inputschema"`, "inputSchema"},
		},
		"unknown key of a server": {"a.yaml", "servers:\n  - name: x\n    tols: []\n", []string{"a.yaml:3", "tools"}},
		"unknown annotation": {
			"a.yaml", "tools: [{name: x, annotations: {readOnly: true}}]",
			[]string{"a.yaml:1", "readOnlyHint"},
		},
		"unknown part of examples": {
			"a.yaml", "tools: [{name: x, examples: [{output: y}]}]",
			[]string{`no key "output"`},
		},
		"unknown provenance": {
			"a.yaml", "tools: [{name: x, utterances: [{text: y, from: me}]}]",
			[]string{`"me"`, "learned"},
		},
		"key twice": {
			"a.yaml", "tools:\n  - name: x\n    title: a\n    title: b\n",
			[]string{"title", "line"},
		},
		"tool without a name":   {"a.yaml", "tools:\n  - title: x\n", []string{"a.yaml:2", "no name"}},
		"server without a name": {"a.yaml", "servers:\n  - tools: []\n", []string{"a.yaml:2", "no usable name"}},
		"server with a slash":   {"a.yaml", "server: a/b\ntools: [{name: x}]", []string{"a/b"}},
		"tool of another server": {
			"a.yaml", "servers:\n  - name: a\n    tools: [{server: b, name: x}]\n",
			[]string{"a.yaml:3", `"b"`},
		},
		"text for a list":    {"a.yaml", "tools: [{name: x, keywords: y}]", []string{"list"}},
		"list for text":      {"a.yaml", "tools: [{name: [x]}]", []string{"text"}},
		"text for a boolean": {"a.yaml", "tools: [{name: x, enabled: never}]", []string{"true or false"}},
		"borrowing of a tool": {
			"a.yaml", "tools:\n  - name: x\n    borrow: seldom\n",
			[]string{"a.yaml:3", "true or false"},
		},
		"borrowing of a server": {
			"a.yaml", "servers:\n  - name: x\n    borrow: [1]\n",
			[]string{"a.yaml:3", "true or false"},
		},
		"borrowing, in JSON": {
			"a.json", "{\"catalogue\": 1,\n\"borrow\": 0, \"tools\": []}",
			[]string{"a.json:2", "true or false"},
		},
		"borrowing in an overlay": {
			"a.yaml", "overlay:\n  a/*:\n    borrow: no idea\n",
			[]string{"a.yaml:3", "true or false"},
		},
		"mapping expected":    {"a.yaml", "tools: [x]", []string{"mapping"}},
		"just text":           {"a.yaml", "hello", []string{"mapping"}},
		"newer format":        {"a.yaml", "catalogue: 2\ntools: []", []string{"version", "catalogue: 1"}},
		"nothing in it":       {"a.yaml", "title: x", []string{"neither tools nor servers"}},
		"a number JSON lacks": {"a.yaml", "tools: [{name: x, inputSchema: {default: .inf}}]", []string{".inf"}},
		"binary value": {
			"a.yaml", "tools: [{name: x, inputSchema: {default: !!binary aGk=}}]",
			[]string{"!!binary"},
		},
		"merge key": {
			"a.yaml", "tools: [{name: x, inputSchema: {p: &a {}, q: {<<: *a}}}]",
			[]string{"a.yaml:1", "plain keys"},
		},
		"aliases of aliases": {"a.yaml", bomb(), []string{"too many values"}},
		"nested very deep": {"a.yaml", "tools: [{name: x, inputSchema: " + strings.Repeat("[", 500) +
			strings.Repeat("]", 500) + "}]", []string{"nested too deeply"}},
		"overlay of no tool": {"a.yaml", "overlay:\n  x: {}\n", []string{"a.yaml:2", "server/name"}},
		"overlay, long summary": {
			"a.yaml", "overlay:\n  a/x:\n    summary: " + strings.Repeat("y", 81),
			[]string{"a.yaml:2", "81 characters"},
		},
		"overlay, unknown key": {
			"a.yaml", "overlay:\n  a/x: {description: y}\n",
			[]string{"a.yaml:2", `no key "description"`},
		},
		"server unreachable": {"a.json", `{"mcpServers":{"x":{}}}`, []string{
			"a.json", `"x"`,
			"neither a command nor a url",
		}},
		"server with both":         {"a.json", `{"mcpServers":{"x":{"command":"a","url":"b"}}}`, []string{"both"}},
		"server, wrong transport":  {"a.json", `{"mcpServers":{"x":{"type":"pigeon","url":"b"}}}`, []string{"pigeon"}},
		"server, stdio, no way":    {"a.json", `{"mcpServers":{"x":{"type":"stdio","url":"b"}}}`, []string{"stdio"}},
		"server, http, no way":     {"a.json", `{"mcpServers":{"x":{"type":"sse","command":"b"}}}`, []string{"sse"}},
		"server of a wrong type":   {"a.json", `{"mcpServers":{"x":[]}}`, []string{`"x"`}},
		"server name with a slash": {"a.json", `{"mcpServers":{"a/b":{"command":"x"}}}`, []string{"a/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.file, []byte(c.content))
			if tool.CodeOf(err) != tool.Invalid {
				t.Fatalf("error %v, want Invalid", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %v does not say %q", err, w)
				}
			}
		})
	}
}

// bomb is a short YAML file that stands for 9^9 values.
func bomb() string {
	var b strings.Builder
	b.WriteString("catalogue: 1\na0: &a0 [x]\n")
	for i := range 9 {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll("aN: &aN [*aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP]\n",
			"N", string(rune('1'+i))), "P", string(rune('0'+i))))
	}
	return b.String()
}

func TestReadFileErrors(t *testing.T) {
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none.json")); tool.CodeOf(err) != tool.Invalid ||
		!errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if _, err := ReadFile(t.TempDir()); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("error %v", err)
	}
}

func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }
