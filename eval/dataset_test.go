package eval

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// set makes a set of two files.
func set(tools, queries string) fstest.MapFS {
	return fstest.MapFS{"tools.jsonl": {Data: []byte(tools)}, "queries.jsonl": {Data: []byte(queries)}}
}

const oneTool = `{"name":"a","description":"does a"}` + "\n"

func TestLoadNames(t *testing.T) {
	tests := []struct {
		name, line string
		id         tool.ID
	}{
		{"prefixed", `{"name":"gitlab__create_issue","server":"gitlab"}`, "gitlab/create_issue"},
		{
			"other spelling of the server", `{"name":"Demo_Project__Get","server":"👋 Demo Project"}`,
			"👋 Demo Project/Get",
		},
		{"two underscores within the server", `{"name":"a__b__get","server":"a__b"}`, "a__b/get"},
		{"server respelt around two underscores", `{"name":"a__b__get","server":"A B"}`, "A B/get"},
		{"no prefix", `{"name":"acr_list","server":"azure"}`, "azure/acr_list"},
		{"prefix only begins like the server", `{"name":"gitlab2__x","server":"gitlab"}`, "gitlab/gitlab2__x"},
		{"nothing behind the prefix", `{"name":"gitlab__","server":"gitlab"}`, "gitlab/gitlab__"},
		{"no server", `{"name":"API__function"}`, "set/API__function"},
		{"null server", `{"name":"__init","server":null}`, "set/__init"},
		{"server without letters", `{"name":"__x","server":"!"}`, "!/__x"},
		{"slash in the server", `{"name":"x","server":"me/repo"}`, "me_repo/x"},
		{"slash in the name", `{"name":"a/b","server":"s"}`, "s/a/b"},
		{"spaces and dots", `{"name":"get PM2.5 level"}`, "set/get PM2.5 level"},
		{"other script", `{"name":"天気__取得","server":"天気"}`, "天気/取得"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := LoadFS(set(tt.line, `{"id":"1","query":"q","relevant":[]}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Tools[0].ID(); got != tt.id {
				t.Errorf("ID = %q, want %q", got, tt.id)
			}
			if got := d.Label(tt.id); !strings.Contains(tt.line, `"name":"`+got+`"`) {
				t.Errorf("Label = %q, not the set's name in %s", got, tt.line)
			}
		})
	}
}

func TestLoadDuplicateNames(t *testing.T) {
	d, err := LoadFS(set(strings.Join([]string{
		`{"name":"x","server":"a","description":"one"}`,
		`{"name":"x","server":"a","description":"one"}`,
		`{"name":"x","server":"a","description":"two"}`,
		`{"name":"x","server":"b","description":"three"}`,
		`{"name":"a__x","server":"a","description":"one"}`,
	}, "\n"), `{"id":"1","query":"q","relevant":["x"]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := map[tool.ID]string{}
	for _, tl := range d.Tools {
		got[tl.ID()] = d.Label(tl.ID())
	}
	want := map[tool.ID]string{"a/x": "x", "a/x#2": "x", "b/x": "x", "a/x#3": "a__x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	wantNotes := []string{
		`tools.jsonl:2: "x" repeats line 1, dropped`,
		`tools.jsonl:3: "x" repeats line 1 with other content, kept as "x#2"`,
		`tools.jsonl:5: "a__x" repeats line 1 with other content, kept as "x#3"`,
	}
	if diff := cmp.Diff(wantNotes, d.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if got := d.Label("elsewhere/x"); got != "elsewhere/x" {
		t.Errorf("Label of a stranger = %q", got)
	}
}

func TestLoadTool(t *testing.T) {
	d, err := LoadFS(set("\xef\xbb\xbf"+`{"name":"s__n","server":"s","title":"T","category":"C","description":"D","parameters":{ "type" : "object","n":1e3 },"annotations":{"readOnlyHint":true},"orig_name":"n"}`+
		"\r\n\r\n"+`{"name":"m","parameters":null}`, `{"id":7,"query":"q","relevant":["m","m"]}`))
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := []*tool.Tool{
		{
			Server: "s", Name: "n", Title: "T", Category: "C", Description: "D",
			InputSchema: []byte(`{ "type" : "object","n":1e3 }`), Annotations: &tool.Annotations{ReadOnlyHint: &yes},
		},
		{Server: "set", Name: "m"},
	}
	if diff := cmp.Diff(want, d.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Case{{ID: "7", Query: "q", Relevant: []string{"m"}}}, d.Cases); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
}

var wantCases = []Case{
	{
		ID: "1", Query: "first", Relevant: []string{"a", "b"}, Any: true, Grades: map[string]float64{"a": 2, "b": 1},
		Kind: "goal", Lang: "en", Split: "dev",
	},
	{ID: "q2", Query: "both", Relevant: []string{"a", "b"}, AllOf: [][]string{{"a"}, {"b"}}},
	{ID: "3", Query: "none", Relevant: []string{}, Kind: "no_match", NearMiss: true},
	{ID: "4", Query: "by grade", Relevant: []string{"b"}, Grades: map[string]float64{"a": 0, "b": .5}},
}

const twoTools = oneTool + `{"name":"b"}`

func TestLoadCasesInBothForms(t *testing.T) {
	const lines = `{"id":"1","query":"first","relevant":["a","b"],"mode":"any","grades":{"a":2,"b":1},"kind":"goal","lang":"en","split":"dev"}
{"query":"both","mode":"all","all_of":[["a"],["b","b"]]}
{"id":3,"query":"none","relevant":[],"kind":"no_match","near_miss":true}
{"id":4,"query":"by grade","grades":{"a":0,"b":0.5}}
`
	const list = `
- {id: 1, query: first, relevant: [a, b], mode: any, grades: {a: 2, b: 1}, kind: goal, lang: en, split: dev}
- query: both
  mode: all
  all_of: [[a], [b, b]]
- {id: 3, query: none, relevant: [], kind: no_match, near_miss: true}
- {id: 4, query: by grade, grades: {a: 0, b: 0.5}}
`
	forms := map[string]fstest.MapFS{
		"queries.jsonl": set(twoTools, lines),
		"queries.yaml":  {"tools.jsonl": {Data: []byte(twoTools)}, "queries.yaml": {Data: []byte(list)}},
		"queries.yml":   {"tools.jsonl": {Data: []byte(twoTools)}, "queries.yml": {Data: []byte("queries:" + list)}},
	}
	for name, fsys := range forms {
		t.Run(name, func(t *testing.T) {
			d, err := LoadFS(fsys)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantCases, d.Cases); diff != "" {
				t.Errorf("cases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	query := func(s string) fstest.MapFS { return set(oneTool, "\n"+s) }
	tests := []struct {
		name string
		fsys fstest.MapFS
		want string // part of the error
		code tool.Code
	}{
		{"no tools file", fstest.MapFS{"queries.jsonl": {}}, "tools.jsonl does not exist", tool.NotFound},
		{
			"no queries file",
			fstest.MapFS{"tools.jsonl": {Data: []byte(oneTool)}},
			"queries.jsonl does not exist",
			tool.NotFound,
		},
		{"two queries files", fstest.MapFS{
			"tools.jsonl": {Data: []byte(oneTool)}, "queries.jsonl": {},
			"queries.yml": {},
		}, "set has both queries.jsonl and queries.yml", tool.Invalid},
		{"empty tools", set("\n\n", ""), "tools.jsonl:1: set has no tools", tool.Invalid},
		{"empty queries", set(oneTool, ""), "queries.jsonl:1: set has no requests", tool.Invalid},
		{"malformed tool", set(oneTool+`{"name":`, ""), "tools.jsonl:2: tool cannot be read", tool.Invalid},
		{"tool is a list", set(`[]`, ""), "tools.jsonl:1: tool cannot be read", tool.Invalid},
		{"tool without name", set(`{"description":"x"}`, ""), "tools.jsonl:1: tool has no name", tool.Invalid},
		{
			"line too long", set(`{"name":"`+strings.Repeat("x", maxLine)+`"}`, ""),
			"tools.jsonl:1: line is longer than 16 MiB", tool.Invalid,
		},
		{
			"malformed query", query(`{"id":"1","query":"q","relevant":["a"]`), "queries.jsonl:2: request cannot be read",
			tool.Invalid,
		},
		{
			"id is a list", query(`{"id":[],"query":"q","relevant":["a"]}`),
			"queries.jsonl:2: request cannot be read: id is neither a string nor a number", tool.Invalid,
		},
		{
			"no query", query(`{"id":"1","query":" ","relevant":["a"]}`), "queries.jsonl:2: request has no query",
			tool.Invalid,
		},
		{
			"no relevant", query(`{"id":"1","query":"q","relevent":["a"]}`),
			"queries.jsonl:2: request has no relevant tools", tool.Invalid,
		},
		{
			"unknown tool", query(`{"id":"1","query":"q","relevant":["A"]}`),
			`queries.jsonl:2: no tool of the set is named "A"`, tool.Invalid,
		},
		{
			"unknown tool in a group", query(`{"id":"1","query":"q","relevant":["a"],"all_of":[["z"]]}`),
			`no tool of the set is named "z"`, tool.Invalid,
		},
		{
			"unknown tool with a grade", query(`{"id":"1","query":"q","relevant":["a"],"grades":{"z":1}}`),
			`no tool of the set is named "z"`, tool.Invalid,
		},
		{
			"negative grade", query(`{"id":"1","query":"q","relevant":["a"],"grades":{"a":-1}}`), `grade of "a" is -1`,
			tool.Invalid,
		},
		{
			"unknown mode", query(`{"id":"1","query":"q","relevant":["a"],"mode":"some"}`),
			`mode "some" is neither any nor all`, tool.Invalid,
		},
		{
			"empty group", query(`{"id":"1","query":"q","relevant":["a"],"all_of":[[]]}`), "all_of has an empty group",
			tool.Invalid,
		},
		{
			"groups without relevant", query(`{"id":"1","query":"q","relevant":[],"all_of":[["a"]]}`),
			"relevant is empty, but all_of names tools", tool.Invalid,
		},
		{
			"contradiction", query(`{"id":"1","query":"q","relevant":["a"],"kind":"no_match"}`),
			"marked as one that no tool serves", tool.Invalid,
		},
		{
			"id twice", query(`{"id":"1","query":"q","relevant":["a"]}` + "\n" + `{"id":1,"query":"r","relevant":["a"]}`),
			`queries.jsonl:3: id "1" was given on line 2`, tool.Invalid,
		},
		{"given id equals a made one", query(`{"id":"q2","query":"q","relevant":["a"]}` + "\n" +
			`{"query":"r","relevant":["a"]}`), `queries.jsonl:3: id "q2" was given on line 2`, tool.Invalid},
		{
			"yaml",
			fstest.MapFS{
				"tools.jsonl":  {Data: []byte(oneTool)},
				"queries.yaml": {Data: []byte("- query: q\n  relevant: [a]\n- query: r\n  relevant: [z]\n")},
			},
			`queries.yaml:3: no tool of the set is named "z"`, tool.Invalid,
		},
		{
			"yaml of another kind",
			fstest.MapFS{
				"tools.jsonl":  {Data: []byte(oneTool)},
				"queries.yaml": {Data: []byte("just text")},
			},
			`queries.yaml:1: file is not a list of requests`,
			tool.Invalid,
		},
		{
			"yaml with a wrong type",
			fstest.MapFS{
				"tools.jsonl":  {Data: []byte(oneTool)},
				"queries.yaml": {Data: []byte("- query: q\n  relevant: {a: 1}\n")},
			},
			`queries.yaml:1: request cannot be read`, tool.Invalid,
		},
		{
			"not yaml",
			fstest.MapFS{"tools.jsonl": {Data: []byte(oneTool)}, "queries.yaml": {Data: []byte("a: [")}},
			`queries.yaml:1: file is not YAML`, tool.Invalid,
		},
		{"grade is not a number", fstest.MapFS{
			"tools.jsonl":  {Data: []byte(oneTool)},
			"queries.yaml": {Data: []byte("- {query: q, grades: {a: .nan}}")},
		}, `grade of "a" is NaN`, tool.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := LoadFS(tt.fsys)
			if err == nil {
				t.Fatalf("loaded %d tools and %d requests", len(d.Tools), len(d.Cases))
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
			if got := tool.CodeOf(err); got != tt.code {
				t.Errorf("code %v, want %v", got, tt.code)
			}
			if d != nil {
				t.Error("a set came with the error")
			}
		})
	}
}

func TestLoadSaysWhichFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	_, err := Load(dir)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(),
		filepath.ToSlash(dir)+"/tools.jsonl does not exist") {
		t.Errorf("error = %v", err)
	}
}

func TestLoadCases(t *testing.T) {
	known := tool.NewSet([]*tool.Tool{
		{Server: "github", Name: "create_issue"},
		{Server: "gitlab", Name: "create_issue"},
		{Server: "gitlab", Name: "merge"},
	}, "")
	file := filepath.Join(t.TempDir(), "ours.yaml")
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("- {query: open one, relevant: [github/create_issue, gitlab__create_issue, merge, mcp__gitlab__merge]}")
	d, err := LoadCases(file, known)
	if err != nil {
		t.Fatal(err)
	}
	want := []Case{{ID: "q1", Query: "open one", Relevant: []string{
		"github/create_issue", "gitlab/create_issue",
		"gitlab/merge",
	}}}
	if diff := cmp.Diff(want, d.Cases); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	if d.Name != "ours" || len(d.Tools) != 3 || d.Label("gitlab/merge") != "gitlab/merge" {
		t.Errorf("name %q, %d tools, label %q", d.Name, len(d.Tools), d.Label("gitlab/merge"))
	}
	write("- {query: open one, relevant: [create_issue]}")
	_, err = LoadCases(file, known)
	if err == nil || !strings.Contains(err.Error(), "ours.yaml:1: ") || !strings.Contains(err.Error(), "ambiguous") {
		t.Errorf("error = %v", err)
	}
	if _, err := LoadCases(file+"x", known); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("error = %v", err)
	}
}

// TestLoadRealSets loads every development set and counts what is in it.
func TestLoadRealSets(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	root := os.Getenv("TOOLDEX_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no development data in %s; set TOOLDEX_DATA to its folder", root)
	}
	for dir, want := range map[string][3]int{ // tools, queries, of them without a tool that serves
		"intents":               {1165, 100, 8},
		"little_known":          {2771, 79, 6},
		"sets/mcpproxy_golden":  {45, 47, 0},
		"sets/azure_mcp":        {401, 646, 0},
		"sets/metatool_single":  {199, 20542, 0},
		"sets/bfcl_python":      {982, 900, 0},
		"sets/toolbench_stable": {2479, 765, 0},
		"sets/seal_tools":       {4076, 700, 0},
		"sets/toolalpaca":       {94, 209, 0},
	} {
		t.Run(dir, func(t *testing.T) {
			d, err := Load(filepath.Join(root, dir))
			if err != nil {
				t.Fatal(err)
			}
			none := 0
			for i := range d.Cases {
				none += int(boolScore(d.Cases[i].NoMatch()))
			}
			if got := [3]int{len(d.Tools), len(d.Cases), none}; got != want {
				t.Errorf("tools, queries, no match = %v, want %v", got, want)
			}
			if d.Name != filepath.Base(dir) || len(d.Notes) > 0 {
				t.Errorf("name %q, notes %v", d.Name, d.Notes)
			}
			// Through a Set and back, every tool keeps the set's name.
			s, labels := tool.NewSet(d.Tools, ""), map[string]bool{}
			for _, tl := range s.All() {
				labels[d.Label(tl.ID())] = true
			}
			if len(labels) != len(d.Tools) {
				t.Errorf("%d names came back for %d tools", len(labels), len(d.Tools))
			}
		})
	}
}

// Tools that are written as a set are the same when loaded, with all that a search reads of them.
func TestWriteToolsRoundTrip(t *testing.T) {
	tools := []*tool.Tool{
		{
			Server: "my desk", Name: "send__letter", Title: "Letter", Summary: "Sends it.",
			Description: "Sends <it> & more", Category: "post",
			Keywords: []string{"mail"}, Synonyms: []string{"epistle"},
			Examples:    []tool.Example{{Description: "to my aunt", Invocation: []byte(`{"to":"her"}`)}},
			Utterances:  []tool.Utterance{{Text: "write home", From: tool.Declared}},
			InputSchema: []byte(`{"type":"object"}`),
		},
		{Server: "set", Name: "x/y", NoBorrow: true},
		{Server: "a", Name: "hidden", Disabled: true},
	}
	var b bytes.Buffer
	if err := WriteTools(&b, tools); err != nil {
		t.Fatal(err)
	}
	d, err := LoadFS(set(b.String(), `{"query":"q","relevant":["my desk__send__letter"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tools[:2], d.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if got := d.IDs("my desk__send__letter"); len(got) != 1 || got[0] != tools[0].ID() || d.IDs("nobody") != nil {
		t.Errorf("IDs %v", got)
	}
	if err := WriteTools(fullDisk{}, tools); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

func TestUnreviewed(t *testing.T) {
	d, err := LoadFS(set(twoTools, `{"query":"q","relevant":[],"reviewed":false}`+"\n"+`{"query":"r","relevant":[],"reviewed":true}`+"\n"+`{"query":"s","relevant":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Score(d, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil || r.Unreviewed != 1 || !strings.Contains(text.String(),
		"nobody has reviewed: 1\n") {
		t.Errorf("%d unreviewed, %v:\n%s", r.Unreviewed, err, text.String())
	}
}
