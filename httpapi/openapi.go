package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// The parts of an OpenAPI 3.1 document that are used here.
type (
	document struct {
		OpenAPI    string                          `json:"openapi"`
		Info       info                            `json:"info"`
		Security   []map[string][]string           `json:"security,omitempty"`
		Paths      map[string]map[string]operation `json:"paths"`
		Components components                      `json:"components"`
	}
	info struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
	}
	components struct {
		Schemas   map[string]*jsonschema.Schema `json:"schemas"`
		Responses map[string]content            `json:"responses"`
		Security  map[string]map[string]string  `json:"securitySchemes,omitempty"`
	}
	operation struct {
		ID         string                 `json:"operationId"`
		Summary    string                 `json:"summary"`
		Security   *[]map[string][]string `json:"security,omitempty"`
		Parameters []parameter            `json:"parameters,omitempty"`
		Body       *content               `json:"requestBody,omitempty"`
		Responses  map[string]content     `json:"responses"`
	}
	parameter struct {
		Name        string             `json:"name"`
		In          string             `json:"in"`
		Description string             `json:"description"`
		Required    bool               `json:"required,omitempty"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
	// content is the body of a request or of an answer, or a reference to one.
	content struct {
		Ref         string                  `json:"$ref,omitempty"`
		Description string                  `json:"description,omitempty"`
		Required    bool                    `json:"required,omitempty"`
		Headers     map[string]answerHeader `json:"headers,omitempty"`
		Content     map[string]mediaType    `json:"content,omitempty"`
	}
	answerHeader struct {
		Description string             `json:"description"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
	mediaType struct {
		Schema *jsonschema.Schema `json:"schema"`
	}
)

// describeAPI returns the OpenAPI description of the routes. guarded adds that they need a token.
func describeAPI(routes []route, o Options, guarded bool) ([]byte, error) {
	d := document{
		OpenAPI: "3.1.0",
		Info: info{
			Title: "tooldex", Version: o.Version,
			Description: "Finds the right tool for an agent, and calls it. MCP is served at " + mcpPath + ".",
		},
		Paths:      map[string]map[string]operation{},
		Components: components{Schemas: map[string]*jsonschema.Schema{}, Responses: map[string]content{}},
	}
	if guarded {
		d.Security = []map[string][]string{{"token": {}}}
		d.Components.Security = map[string]map[string]string{"token": {"type": "http", "scheme": "bearer"}}
	}
	problem, err := d.addSchema(reflect.TypeFor[problem]())
	if err != nil {
		return nil, err
	}
	for _, o := range allOutcomes() {
		d.Components.Responses[o.componentName()] = o.describeOutcome(problem)
	}
	for _, r := range routes {
		op, err := d.describeRoute(r, problem)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
		if d.Paths[r.path] == nil {
			d.Paths[r.path] = map[string]operation{}
		}
		d.Paths[r.path][strings.ToLower(r.method)] = op
	}
	return json.MarshalIndent(d, "", " ")
}

// describeRoute describes one route.
func (d *document) describeRoute(r route, problem *jsonschema.Schema) (operation, error) {
	good, err := d.addSchema(r.answer)
	if err != nil {
		return operation{}, err
	}
	op := operation{ID: r.id, Summary: r.summary, Responses: map[string]content{
		"200": {Description: "Done.", Content: map[string]mediaType{"application/json": {good}}},
		"default": {
			Description: "An error, with its reason.",
			Content:     map[string]mediaType{"application/problem+json": {problem}},
		},
	}}
	for _, o := range allOutcomes() {
		if o.of == nil || o.of(r) {
			op.Responses[o.componentName()] = content{Ref: "#/components/responses/" + o.componentName()}
		}
	}
	for _, path := range openPaths {
		if r.path == path {
			op.Security = &[]map[string][]string{}
		}
	}
	if strings.Contains(r.path, "{id}") {
		op.Parameters = append(op.Parameters, parameter{
			Name: "id", In: "path", Required: true, Schema: &jsonschema.Schema{Type: "string"},
			Description: "server/name, with the slash escaped or not, or the name under which clients see it",
		})
	}
	if strings.Contains(r.path, "{server}") {
		op.Parameters = append(op.Parameters, parameter{
			Name: "server", In: "path", Required: true,
			Schema: &jsonschema.Schema{Type: "string"}, Description: "its name",
		})
	}
	for _, p := range r.params {
		op.Parameters = append(op.Parameters, p.describeParam())
	}
	if r.body != nil {
		body, err := d.addSchema(r.body)
		if err != nil {
			return operation{}, err
		}
		op.Body = &content{Required: true, Content: map[string]mediaType{"application/json": {body}}}
	}
	return op, nil
}

// describeParam returns the OpenAPI form of a parameter.
func (p param) describeParam() parameter {
	s := &jsonschema.Schema{Type: p.kind, Enum: p.values}
	if p.kind == "" {
		s.Type = "string"
	}
	if p.list {
		s = &jsonschema.Schema{Type: "array", Items: s}
	}
	return parameter{Name: p.name, In: cmp.Or(p.in, "query"), Description: p.text, Required: p.required, Schema: s}
}

// addSchema adds a type to the components, under its name with a capital, and returns a reference to it. A nil type
// means any object.
func (d *document) addSchema(t reflect.Type) (*jsonschema.Schema, error) {
	if t == nil {
		return &jsonschema.Schema{Type: "object"}, nil
	}
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:] // most of the types are not exported
	if d.Components.Schemas[name] == nil {
		s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[json.RawMessage](): {}, // any JSON
			reflect.TypeFor[stringList](): {AnyOf: []*jsonschema.Schema{
				{Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
			}},
		}})
		if err != nil {
			return nil, err
		}
		d.Components.Schemas[name] = s
	}
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}, nil
}
