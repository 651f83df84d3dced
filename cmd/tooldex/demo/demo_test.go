package demo

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

// maxSummary is the longest summary, in characters, that catalogue files may declare.
const maxSummary = 80

type catalogueFile struct {
	Server string
	Title  string
	Tools  []*entry
}

type entry struct {
	Name          string
	Title         string
	Summary       string
	Description   string
	Category      string
	Keywords      []string
	Synonyms      []string
	Examples      []example
	Utterances    []string
	InputSchema   map[string]any `yaml:"inputSchema"`
	OutputSchema  map[string]any `yaml:"outputSchema"`
	Annotations   map[string]any
	Related       []string
	Enabled       *bool
	Deprecated    string
	AlwaysInclude bool `yaml:"alwaysInclude"`
}

type example struct {
	Description    string
	Invocation     map[string]any
	ExpectedOutput string `yaml:"expectedOutput"`
}

func (e *entry) enabled() bool { return e.Enabled == nil || *e.Enabled }

type catalogue struct {
	servers map[string]int    // with the number of their tools
	tools   map[string]*entry // by server/name
}

// readCatalogue reads every catalogue file; keys it does not know are errors, so that a misspelled one is not lost.
func readCatalogue(t *testing.T) *catalogue {
	t.Helper()
	names, err := fs.Glob(FS, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := &catalogue{servers: map[string]int{}, tools: map[string]*entry{}}
	for _, name := range names {
		data, err := FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var f catalogueFile
		d := yaml.NewDecoder(bytes.NewReader(data))
		d.KnownFields(true)
		if err := d.Decode(&f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.Server+".yaml" != name || f.Title == "" {
			t.Errorf("%s: server is %q with title %q", name, f.Server, f.Title)
		}
		c.servers[f.Server] = len(f.Tools)
		for _, e := range f.Tools {
			id := f.Server + "/" + e.Name
			if c.tools[id] != nil {
				t.Errorf("%s: %s is there twice", name, id)
			}
			c.tools[id] = e
		}
	}
	return c
}

func TestCatalogueSize(t *testing.T) {
	c := readCatalogue(t)
	if got := len(c.tools); got < 130 {
		t.Errorf("%d tools, want at least 130", got)
	}
	if got := len(c.servers); got < 14 {
		t.Errorf("%d servers, want at least 14: %v", got, c.servers)
	}
	var withExample, withOutput, disabled, deprecated int
	for _, e := range c.tools {
		withExample += count(len(e.Examples) > 0)
		withOutput += count(len(e.OutputSchema) > 0)
		disabled += count(!e.enabled())
		deprecated += count(e.Deprecated != "")
	}
	if withExample*10 < len(c.tools)*8 {
		t.Errorf("%d of %d tools have an example, want 8 in 10", withExample, len(c.tools))
	}
	if withOutput < 5 || disabled < 2 || deprecated < 2 {
		t.Errorf("%d tools with an output schema, %d disabled, %d deprecated; want at least 5, 2 and 2", withOutput,
			disabled, deprecated)
	}
	// What scenarios of the command's tests ask for.
	for _, id := range []string{
		"filesystem/read_file", "filesystem/list_directory", "filesystem/search_files", "shell/execute_command",
		"codebase/find_todos", "github/create_issue", "browser/browser_navigate", "browser/browser_click",
		"browser/browser_fill_form",
	} {
		if e := c.tools[id]; e == nil || !e.enabled() || e.Deprecated != "" {
			t.Errorf("%s is missing or not in use", id)
		}
	}
	if got := c.servers["filesystem"]; got != 12 {
		t.Errorf("filesystem has %d tools, want 12: it is the small server of the command's tests", got)
	}
}

func TestTools(t *testing.T) {
	c := readCatalogue(t)
	for _, id := range sortedKeys(c.tools) {
		e := c.tools[id]
		t.Run(id, func(t *testing.T) {
			if n := utf8.RuneCountInString(e.Summary); n == 0 || n > maxSummary {
				t.Errorf("summary has %d characters, want 1 to %d", n, maxSummary)
			}
			if e.Title == "" || e.Description == "" || e.Category == "" || len(e.Keywords) == 0 {
				t.Error("title, description, category or keywords are missing")
			}
			if n := len(e.Synonyms); n < 2 || n > 6 {
				t.Errorf("%d synonyms, want 2 to 6", n)
			}
			for _, r := range e.Related {
				if c.tools[r] == nil || r == id {
					t.Errorf("related tool %s is not there or is the tool itself", r)
				}
			}
			all := strings.ToLower(strings.Join(append([]string{e.Name, e.Title, e.Summary, e.Description},
				e.Synonyms...), " "))
			for _, word := range []string{"horoscope", "astrolog", "zodiac", "music", "song"} {
				if strings.Contains(all, word) {
					t.Errorf("%q is what no tool of the demo may offer", word)
				}
			}
		})
	}
}

func TestSchemas(t *testing.T) {
	c := readCatalogue(t)
	for _, id := range sortedKeys(c.tools) {
		e := c.tools[id]
		t.Run(id, func(t *testing.T) {
			input := resolve(t, "input schema", e.InputSchema)
			if len(e.OutputSchema) > 0 {
				resolve(t, "output schema", e.OutputSchema)
			}
			for i, x := range e.Examples {
				if x.Description == "" {
					t.Errorf("example %d has no description", i)
				}
				arguments := x.Invocation
				if arguments == nil {
					arguments = map[string]any{}
				}
				if input == nil {
					continue
				}
				if err := input.Validate(throughJSON[any](t, arguments)); err != nil {
					t.Errorf("example %d does not fit the input schema: %v", i, err)
				}
				for _, name := range sortedKeys(arguments) {
					if properties, _ := e.InputSchema["properties"].(map[string]any); properties[name] == nil {
						t.Errorf("example %d gives %q, which the input schema does not have", i, name)
					}
				}
			}
		})
	}
}

// resolve checks that a schema and each object in it say what they are, and returns it ready to validate. Defaults must
// fit their own schema.
func resolve(t *testing.T, what string, raw map[string]any) *jsonschema.Resolved {
	t.Helper()
	if raw["type"] != "object" {
		t.Errorf("%s: type is %v, want object", what, raw["type"])
	}
	checkRequired(t, what, raw)
	schema := throughJSON[jsonschema.Schema](t, raw)
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	return resolved
}

// checkRequired finds required names that are no properties, at any depth.
func checkRequired(t *testing.T, what string, node any) {
	t.Helper()
	switch node := node.(type) {
	case map[string]any:
		properties, isObject := node["properties"].(map[string]any)
		if required, ok := node["required"].([]any); ok && isObject {
			for _, name := range required {
				if s, ok := name.(string); !ok || properties[s] == nil {
					t.Errorf("%s: required %v is not a property", what, name)
				}
			}
		}
		for _, key := range sortedKeys(node) {
			checkRequired(t, what+"/"+key, node[key])
		}
	case []any:
		for _, item := range node {
			checkRequired(t, what, item)
		}
	}
}

// throughJSON turns what YAML made into what JSON would have made.
func throughJSON[T any](t *testing.T, v any) *T {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
