package mcpsrv

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/internal/sanitize"
	"tooldex/tool"
	"tooldex/validate"
)

// explainInvalidArgs adds to an error of wrong arguments what the next try needs: the schema, and after two mistakes in
// a row with the same tool an example that fits. In lazy mode the session lists the tool in full from then on. It
// returns every other error unchanged, and one about a name that is no tool.
func (s *Server) explainInvalidArgs(ctx context.Context, req *mcp.CallToolRequest, name string, err error) error {
	var e *tool.Error
	set := s.currentSet()
	t, unknown := s.resolveTool(set, name)
	if !errors.As(err, &e) || e.Code != tool.Invalid || unknown != nil || name == "" {
		return err
	}
	more := showSchema(e, listedName(set, t), validOr(t.InputSchema, objectSchema))
	if !isStateless(req) {
		// The first mistake gets the schema alone: most models correct the call then, and an example would only cost
		// tokens.
		if s.countMistake(req.Session, t.ID()) >= 2 {
			if example, ok := s.exampleCall(set, t); ok {
				more.Hint += "\nAn example that fits: " + string(example)
			}
		}
		if s.modeOf(req, set) == Lazy && !s.isAlwaysListed(set, t.ID()) {
			s.listInFull(ctx, req.Session, t.ID())
		}
	}
	return more
}

// showSchema returns a copy of e with the tool's schema. The schema replaces the hint if e names the wrong field, and
// follows the hint otherwise. name is the one that the client calls the tool by.
func showSchema(e *tool.Error, name string, schema json.RawMessage) *tool.Error {
	shown := *e
	var mismatch *validate.Mismatch
	if errors.As(e, &mismatch) {
		shown.Msg, shown.Hint = mismatch.Message(name), schemaLabel+schemaHint(schema, mismatch.Field)
	} else {
		shown.Hint += "\n" + schemaLabel + schemaHint(schema, "")
	}
	return &shown
}

// schemaLabel precedes the schema in an error's hint.
const schemaLabel = "input schema: "

// maxSchemaHint bounds the schema in an error, in bytes: about 1,500 tokens. Of a larger schema the error carries the
// part about the wrong field.
const maxSchemaHint = 6000

// schemaHint returns the schema as compact text. Of one longer than maxSchemaHint it returns the part that describes
// field and the required names.
func schemaHint(schema json.RawMessage, field string) string {
	text := orderedjson.Compact(schema)
	if len(text) <= maxSchemaHint {
		return text
	}
	// The part about the outermost property is shown, since a deeper one cannot be read without its context.
	top, _, _ := strings.Cut(field, ".")
	top, _, _ = strings.Cut(top, "[")
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   json.RawMessage            `json:"required,omitempty"`
	}
	if json.Unmarshal(schema, &s) == nil {
		part := struct {
			Properties map[string]json.RawMessage `json:"properties,omitempty"`
			Required   json.RawMessage            `json:"required,omitempty"`
		}{Required: s.Required}
		if p, ok := s.Properties[top]; ok {
			part.Properties = map[string]json.RawMessage{top: p}
		}
		text = string(orderedjson.Encode(part))
	}
	return sanitize.Clip(text, maxSchemaHint) + " (a part; " + describeName + " has all)"
}

// exampleCall returns a call of t that fits its schema: one of the author's examples, or else one made up from the
// schema. It reports false if neither fits.
func (s *Server) exampleCall(set *tool.Set, t *tool.Tool) (json.RawMessage, bool) {
	schema := s.o.Schemas.Of(string(t.ID()), t.InputSchema)
	wrap := func(args json.RawMessage) json.RawMessage {
		return object{jsonMember("name", listedName(set, t)), {Key: "arguments", Value: args}}.Bytes()
	}
	for _, e := range t.Examples {
		if orderedjson.Kind(e.Invocation) == "object" && json.Valid(e.Invocation) && schema.Check(e.Invocation) == nil {
			return wrap(json.RawMessage(orderedjson.Compact(e.Invocation))), true
		}
	}
	// A made-up example is shown only if the checker accepts it: a wrong one would do harm.
	made := exampleValue(t.InputSchema, t.Name, 0)
	if orderedjson.Kind(made) != "object" || schema.Check(made) != nil || orderedjson.Compact(made) == "{}" {
		return nil, false
	}
	return wrap(made), true
}

// exampleSchema holds the keywords that exampleValue reads.
type exampleSchema struct {
	Type       stringList        `json:"type"`
	Properties json.RawMessage   `json:"properties"`
	Required   []string          `json:"required"`
	Items      json.RawMessage   `json:"items"`
	MinItems   int               `json:"minItems"`
	MinLength  int               `json:"minLength"`
	Minimum    json.RawMessage   `json:"minimum"`
	Maximum    json.RawMessage   `json:"maximum"`
	Format     string            `json:"format"`
	Const      json.RawMessage   `json:"const"`
	Default    json.RawMessage   `json:"default"`
	Examples   []json.RawMessage `json:"examples"`
	Enum       []json.RawMessage `json:"enum"`
	AnyOf      []json.RawMessage `json:"anyOf"`
	OneOf      []json.RawMessage `json:"oneOf"`
}

// Bounds of a made-up example: a schema may nest without end, or require a million items.
const (
	maxExampleDepth = 5
	maxExampleItems = 3
)

// exampleValue makes up a value for a property of the given name. It prefers values that the schema itself contains.
// The value holds only what is required, and probably fits the schema; the caller checks it. The result is always valid
// JSON.
func exampleValue(schema json.RawMessage, name string, depth int) json.RawMessage {
	var s exampleSchema
	if depth > maxExampleDepth || json.Unmarshal(schema, &s) != nil {
		return json.RawMessage("null")
	}
	// Values of the author's come first, from the most to the least binding.
	for _, given := range slices.Concat([]json.RawMessage{s.Const}, s.Examples, []json.RawMessage{s.Default}, s.Enum) {
		if len(given) > 0 && orderedjson.Kind(given) != "null" {
			return given
		}
	}
	if either := slices.Concat(s.AnyOf, s.OneOf); len(either) > 0 && len(s.Properties) == 0 {
		return exampleValue(either[0], name, depth+1)
	}
	typ := ""
	if len(s.Type) > 0 {
		typ = s.Type[0]
	}
	switch {
	case typ == "object" || typ == "" && len(s.Properties) > 0:
		return s.exampleObject(depth)
	case typ == "array":
		one := exampleValue(validOr(s.Items, json.RawMessage(`{"type":"string"}`)), name, depth+1)
		list := make([]json.RawMessage, min(max(s.MinItems, 1), maxExampleItems))
		for i := range list {
			list[i] = one
		}
		return joinArray(list)
	case typ == "integer", typ == "number":
		return json.RawMessage(cmp.Or(string(s.Minimum), string(s.Maximum), "1"))
	case typ == "boolean":
		return json.RawMessage("true")
	}
	return orderedjson.Encode(s.exampleText(name))
}

// exampleObject makes up an object of the required properties, in the order of the schema.
func (s *exampleSchema) exampleObject(depth int) json.RawMessage {
	properties, err := orderedjson.ParseObject(validOr(s.Properties, json.RawMessage("{}")))
	if err != nil {
		return json.RawMessage("{}")
	}
	out := object{}
	for _, p := range properties {
		if slices.Contains(s.Required, p.Key) {
			out = append(out, member{Key: p.Key, Value: exampleValue(p.Value, p.Key, depth+1)})
		}
	}
	return out.Bytes()
}

// exampleText makes up a string: a sample of the format if there is one, otherwise the name in angle brackets, long
// enough for minLength.
func (s *exampleSchema) exampleText(name string) string {
	switch s.Format {
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T12:00:00Z"
	case "time":
		return "12:00:00Z"
	case "uri", "url":
		return "https://example.com/"
	case "email":
		return "name@example.com"
	case "uuid":
		return "123e4567-e89b-12d3-a456-426614174000"
	}
	text := "<" + sanitize.Clip(name, 60) + ">"
	if more := min(s.MinLength, 1000) - len(text); more > 0 {
		text += strings.Repeat("x", more)
	}
	return text
}

// maxOutput bounds the structured results that are checked, in bytes: the client waits for the check.
const maxOutput = 1 << 20

// checkOutput logs, once for each output schema, that a structured result does not fit it. The client gets the result
// unchanged: it asked for what the tool returns, not for what the tool promised.
func (s *Server) checkOutput(t *tool.Tool, res *tool.CallResult) {
	if len(t.OutputSchema) == 0 || res.IsError || len(res.Raw) > maxOutput {
		return
	}
	schema := s.outputs.Of(string(t.ID()), t.OutputSchema)
	// checked first, so that a tool that was reported costs nothing from then on
	if schema.Reported() {
		return
	}
	field, reason := "", "structuredContent is missing"
	if o, parseErr := orderedjson.ParseObject(res.Raw); parseErr == nil {
		if failed, ok := o.Lookup("isError"); ok && string(failed) == "true" {
			return
		}
		if value, ok := o.Lookup("structuredContent"); ok {
			mismatch := schema.CheckQuick(value)
			if mismatch == nil {
				return
			}
			field, reason = mismatch.Field, mismatch.Reason
		}
	}
	if schema.MarkReported() {
		s.o.Logger.Warn("a result does not fit the output schema of its tool, and is passed on as it is", "tool",
			t.ID(), "field", field, "reason", reason)
	}
}
