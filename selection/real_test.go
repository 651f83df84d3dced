package selection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"tooldex/catalog/sources"
	"tooldex/cmd/tooldex/demo"
	"tooldex/internal/sanitize"
	"tooldex/selection"
	"tooldex/tool"
)

// demoTools are those of the demo catalogue.
func demoTools(t testing.TB) []*tool.Tool {
	t.Helper()
	files, err := fs.Glob(demo.FS, "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var out []*tool.Tool
	for _, name := range files {
		b, err := demo.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, toolsOf(t, name, b)...)
	}
	return out
}

func toolsOf(t testing.TB, name string, b []byte) []*tool.Tool {
	t.Helper()
	content, err := sources.Parse(name, b)
	if err != nil {
		t.Fatal(err)
	}
	var out []*tool.Tool
	for _, src := range content.Sources {
		tools, err := src.Tools(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range tools {
			if _, err := sanitize.Tool(one); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, tools...)
	}
	return out
}

// dataDir is where sets that are not part of the repository lie.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("TOOLDEX_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "catalogue")); err != nil {
		t.Skipf("no real catalogue in %s: set TOOLDEX_DATA", dir)
	}
	return dir
}

// realTools are those of the real servers.
func realTools(t testing.TB) []*tool.Tool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dataDir(t), "catalogue", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var out []*tool.Tool
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, toolsOf(t, filepath.Base(name), b)...)
	}
	return out
}

// TestEveryDemoTool and TestEveryRealTool write each tool for each provider, and hold it against rules of their own.
func TestEveryDemoTool(t *testing.T) { writeAll(t, demoTools(t), 200) }

func TestEveryRealTool(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	writeAll(t, realTools(t), 1165)
}

func writeAll(t *testing.T, tools []*tool.Tool, least int) {
	if len(tools) < least {
		t.Errorf("only %d tools", len(tools))
	}
	set := tool.NewSet(tools, "")
	for _, f := range selection.Formats() {
		t.Run(string(f), func(t *testing.T) {
			for _, one := range set.All() {
				w, err := selection.WriteTool(one, set.Exposed(one.ID()), f)
				if err != nil {
					t.Errorf("%v\n%s", err, w.JSON)
					continue
				}
				if err := independent(f, one, w); err != nil {
					t.Errorf("%s: %v\n%s", one.ID(), err, w.JSON)
				}
				if found, err := set.Resolve(w.Name); err != nil || found.ID() != one.ID() {
					t.Errorf("%s does not lead back to %s: %v", w.Name, one.ID(), err)
				}
			}
		})
	}
}

// independent checks with other means than those that write: encoding/json, and a validator of schemas.
func independent(f selection.Format, t *tool.Tool, w selection.WrittenTool) error {
	var v map[string]any
	if err := json.Unmarshal(w.JSON, &v); err != nil {
		return err
	}
	field := map[selection.Format]string{
		selection.FormatMCP: "inputSchema", selection.FormatAnthropic: "input_schema",
		selection.FormatResponses: "parameters", selection.FormatGemini: "parameters",
	}[f]
	if f == selection.FormatOpenAI {
		v, _ = v["function"].(map[string]any)
		field = "parameters"
	}
	if v["name"] != w.Name {
		return fmt.Errorf("the name is %v", v["name"])
	}
	schema, _ := v[field].(map[string]any)
	for _, p := range t.Parameters() {
		properties, _ := schema["properties"].(map[string]any)
		if properties[p.Name] == nil && len(w.Renamed) == 0 {
			return fmt.Errorf("the parameter %s is lost", p.Name)
		}
	}
	if f == selection.FormatGemini {
		return geminiFields(schema)
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	if f != selection.FormatAnthropic { // of MCP it is the server's own, which may be of another draft; that of OpenAI is made in the same way
		return nil
	}
	_, err = s.Resolve(nil)
	return err
}

// geminiFields checks that a schema has no other fields than the reference of the API lists for one.
func geminiFields(schema map[string]any) error {
	for key, v := range schema {
		switch key {
		case "title", "description", "nullable", "default", "example", "minItems", "maxItems", "minProperties",
			"maxProperties",
			"minLength", "maxLength", "minimum", "maximum", "type", "format", "enum", "required", "pattern":
			if _, list := v.([]any); list && key == "type" {
				return fmt.Errorf("the type is %v", v)
			}
		case "items", "properties", "anyOf":
			inner := []any{v}
			if named, ok := v.(map[string]any); ok && key == "properties" {
				inner = slices.Collect(maps.Values(named))
			} else if list, ok := v.([]any); ok {
				inner = list
			}
			for _, one := range inner {
				s, ok := one.(map[string]any)
				if !ok {
					return fmt.Errorf("%s holds %v", key, one)
				}
				if err := geminiFields(s); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("%s is left", key)
		}
	}
	return nil
}
