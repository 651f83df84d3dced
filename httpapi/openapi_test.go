package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// apiDocument is the description as a client reads it.
type apiDocument struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID string
		Parameters  []struct {
			Name, In string
			Schema   json.RawMessage
		}
		RequestBody struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
	}
	Components struct{ Schemas map[string]json.RawMessage }
}

func readDocument(t *testing.T, f *fixture) apiDocument {
	t.Helper()
	var d apiDocument
	if err := json.Unmarshal(f.do("GET", "/openapi.json", "").Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// check validates a value against a schema of the document.
func (d apiDocument) check(t *testing.T, schema json.RawMessage, value []byte) {
	t.Helper()
	components, err := json.Marshal(d.Components.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	whole := fmt.Sprintf(`{"allOf":[%s],"$defs":%s}`, strings.ReplaceAll(string(schema), "#/components/schemas/",
		"#/$defs/"), components)
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(whole), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(v); err != nil {
		t.Errorf("%s does not fit: %v", value, err)
	}
}

// TestEveryRouteIsDescribed holds the router against the description, both ways.
func TestEveryRouteIsDescribed(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.MCP = http.NotFoundHandler() })
	d := readDocument(t, f)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("version %q", d.OpenAPI)
	}
	var described, served []string
	ids := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			described = append(described, strings.ToUpper(method)+" "+route{path: path}.routerPath())
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s %s: operation id %q is missing or not the only one", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
		}
	}
	for _, r := range f.echo.Routes() {
		if !strings.HasPrefix(r.Path, mcpPath) && !strings.HasPrefix(r.Path, ssePath) {
			served = append(served, r.Method+" "+r.Path)
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if diff := gocmp.Diff(served, described); diff != "" {
		t.Errorf("served and described differ (-served +described):\n%s", diff)
	}
}

// TestAnswersFitTheDescription asks every operation, once well and once badly, and holds the answers against it.
func TestAnswersFitTheDescription(t *testing.T) {
	f := newFixture(t, nil)
	f.o.Upstreams = f
	d := readDocument(t, f)
	bodies := map[string]string{
		"searchJSON":      `{"query":["read"],"detail":"schema","explain":true}`,
		"searchToolsJSON": `{"query":"nothing like it"}`, "callTool": `{"arguments":{}}`,
		"selectTools":    `{"message":"read","explicitTools":["files/read_file"]}`,
		"putPreferences": `{"mode":"auto","categories":{"files":"always"}}`,
	}
	queries := map[string]string{
		"search": "?q=read&detail=schema&explain=true", "searchTools": "?q=zzz",
		"listTools": "?include_disabled=true&limit=2",
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			t.Run(op.OperationID, func(t *testing.T) {
				body := bodies[op.OperationID]
				for _, id := range []string{"files/read_file", "files%2Fold"} {
					target := strings.Replace(path, "{id}", id, 1) + queries[op.OperationID]
					if body != "" {
						d.check(t, op.RequestBody.Content["application/json"].Schema, []byte(body))
					}
					w := f.do(strings.ToUpper(method), target, body)
					answer := op.Responses["200"].Content["application/json"].Schema
					if w.Code != http.StatusOK {
						answer = op.Responses["default"].Content["application/problem+json"].Schema
					}
					if len(answer) == 0 {
						t.Fatalf("no schema for the answer of %s", target)
					}
					d.check(t, answer, w.Body.Bytes())
				}
				w := f.do(strings.ToUpper(method), strings.Replace(path, "{id}", "no/such", 1)+"?bad=1", `{"bad":`)
				if w.Code >= 500 {
					t.Errorf("a bad request gives %d", w.Code)
				}
				if w.Code != http.StatusOK {
					d.check(t, op.Responses["default"].Content["application/problem+json"].Schema, w.Body.Bytes())
				}
			})
		}
	}
}

// TestParametersAreTaken holds that each query parameter of the description is one that the operation knows.
func TestParametersAreTaken(t *testing.T) {
	f := newFixture(t, nil)
	for path, methods := range readDocument(t, f).Paths {
		for method, op := range methods {
			for _, p := range op.Parameters {
				if p.In != "query" {
					continue
				}
				value := "1"
				switch p.Name { // names of what does not exist are errors, and so are times in another form
				case "server":
					value = "files"
				case "category":
					value = "other"
				case "since":
					value = "2026-11-20T15:04:05Z"
				}
				if strings.Contains(string(p.Schema), "enum") {
					var s struct{ Enum []string }
					if err := json.Unmarshal(p.Schema, &s); err != nil {
						t.Fatal(err)
					}
					value = s.Enum[0]
				}
				w := f.do(strings.ToUpper(method),
					path+"?"+p.Name+"="+value+map[bool]string{true: "&q=a"}[strings.Contains(path, "search") &&
						p.Name != "q"], map[bool]string{true: "{}"}[method == "put"])
				if w.Code != http.StatusOK {
					t.Errorf("%s %s: parameter %s is not taken: %d %s", method, path, p.Name, w.Code, w.Body)
				}
			}
		}
	}
}

func TestDescriptionTellsOfTheToken(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Access = oneToken("t") })
	var d struct {
		Security   []map[string][]string
		Paths      map[string]map[string]struct{ Security *[]any }
		Components struct{ SecuritySchemes map[string]map[string]string }
	}
	if err := json.Unmarshal(f.spec, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Security) != 1 || d.Components.SecuritySchemes["token"]["scheme"] != "bearer" {
		t.Errorf("%+v", d)
	}
	for _, path := range openPaths {
		if s := d.Paths[path]["get"].Security; s == nil || len(*s) != 0 {
			t.Errorf("%s is not told to be open", path)
		}
	}
}

func TestDescriptionGolden(t *testing.T) {
	golden(t, "openapi.json", string(newFixture(t, nil).spec))
}
