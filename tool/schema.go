package tool

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Parameter is one top-level property of a tool's input schema.
type Parameter struct {
	Name        string            `json:"name"`
	Type        string            `json:"type"` // as in a signature: string, integer, "a"|"b", string[], object, any
	Description string            `json:"description,omitempty"`
	Required    bool              `json:"required"`
	Default     json.RawMessage   `json:"default,omitempty"`
	Enum        []json.RawMessage `json:"enum,omitempty"`
}

// schema holds the keywords of JSON Schema that parameters and signatures show. Others are ignored.
type schema struct {
	Type        json.RawMessage   `json:"type"`
	Description string            `json:"description"`
	Properties  orderedProperties `json:"properties"`
	Required    []string          `json:"required"`
	Default     json.RawMessage   `json:"default"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	Items       json.RawMessage   `json:"items"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	AllOf       []json.RawMessage `json:"allOf"`
	Ref         string            `json:"$ref"`

	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// property is one property with its schema as the server wrote it.
type property struct {
	name string
	raw  json.RawMessage
}

// orderedProperties keeps properties in the order in which the server wrote them.
type orderedProperties []property

// UnmarshalJSON reads an object; anything else gives no properties, since servers do send arrays and null here.
func (p *orderedProperties) UnmarshalJSON(b []byte) error {
	*p = nil
	// A map would lose the order of the properties, which authors choose for their readers.
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		name, ok := key.(string)
		if ok {
			*p = append(*p, property{name, raw})
		}
	}
	return nil
}

// Parameters lists the top-level properties of the input schema, in its order. A schema that cannot be read gives none.
func (t *Tool) Parameters() []Parameter { return t.parameters(false) }

// parameters is Parameters; with shapes the types of objects show what is in them.
func (t *Tool) parameters(shapes bool) []Parameter {
	var s schema
	if json.Unmarshal(t.InputSchema, &s) != nil {
		return nil
	}
	w := typeWriter{root: &s, shapes: shapes}
	out := make([]Parameter, 0, len(s.Properties))
	for _, p := range s.Properties {
		ps := w.read(p.raw)
		out = append(out, Parameter{
			Name: p.name, Type: w.typeName(ps, 0), Description: ps.Description,
			Required: slices.Contains(s.Required, p.name), Default: ps.Default, Enum: ps.Enum,
		})
	}
	return out
}

// maxSignatureEnum is the most alternatives of an enum that a signature spells out.
const maxSignatureEnum = 6

// maxShape bounds the type of an object that a signature spells out, in bytes: about 40 tokens. A larger one is shown
// as object.
const maxShape = 160

// Signature returns a compact typed call signature: name(required: type, optional?: type). Optional parameters come
// after the required ones. Small objects are spelled out: {name: string, tags?: string[]}.
func (t *Tool) Signature() string {
	params := t.parameters(true)
	var b strings.Builder
	b.WriteString(t.Name)
	b.WriteByte('(')
	first := true
	// required parameters first, each group in the order of the schema
	for _, required := range []bool{true, false} {
		for _, p := range params {
			if p.Required != required {
				continue
			}
			if !first {
				b.WriteString(", ")
			}
			first = false
			b.WriteString(p.Name)
			if !required {
				b.WriteByte('?')
			}
			b.WriteString(": ")
			b.WriteString(p.Type)
		}
	}
	b.WriteByte(')')
	return b.String()
}

// typeWriter writes types in signature form. It looks at most three levels deep, so a schema that refers to itself
// ends.
type typeWriter struct {
	root   *schema // whose definitions are referred to
	shapes bool    // objects are spelled out
}

const maxTypeDepth = 3

// read decodes a schema, and adds what it refers to. What the schema says beside the reference comes first. One that
// cannot be read, such as true, is empty.
func (w *typeWriter) read(raw json.RawMessage) *schema {
	s := &schema{}
	if json.Unmarshal(raw, s) != nil {
		return &schema{}
	}
	// A reference and the parts of allOf describe the same value, so their members are combined.
	more := s.AllOf
	if target := w.lookUp(s.Ref); target != nil {
		more = append([]json.RawMessage{target}, more...)
	}
	for _, raw := range more {
		var other schema
		if json.Unmarshal(raw, &other) != nil {
			continue
		}
		if other.Ref != "" { // a definition that is another name for one
			if target := w.lookUp(other.Ref); target == nil || json.Unmarshal(target, &other) != nil {
				continue
			}
		}
		s.add(&other)
	}
	return s
}

// lookUp returns the definition that a reference within the schema names, nil if there is none.
func (w *typeWriter) lookUp(ref string) json.RawMessage {
	if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
		return w.root.Defs[name]
	}
	if name, ok := strings.CutPrefix(ref, "#/definitions/"); ok {
		return w.root.Definitions[name]
	}
	return nil
}

// add fills in what s does not say.
func (s *schema) add(o *schema) {
	if len(s.Type) == 0 {
		s.Type = o.Type
	}
	if s.Description == "" {
		s.Description = o.Description
	}
	if len(s.Enum) == 0 {
		s.Enum = o.Enum
	}
	if len(s.Const) == 0 {
		s.Const = o.Const
	}
	if len(s.Items) == 0 {
		s.Items = o.Items
	}
	if len(s.AnyOf)+len(s.OneOf) == 0 {
		s.AnyOf, s.OneOf = o.AnyOf, o.OneOf
	}
	s.Properties, s.Required = append(s.Properties, o.Properties...), append(s.Required, o.Required...)
}

// typeName gives a schema's type.
func (w *typeWriter) typeName(s *schema, depth int) string {
	if len(s.Enum) > 0 {
		if len(s.Enum) > maxSignatureEnum {
			return joinRaw(s.Enum[:maxSignatureEnum-1]) + "|…"
		}
		return joinRaw(s.Enum)
	}
	if len(s.Const) > 0 {
		return string(s.Const)
	}
	// beyond the depth, alternatives fall through to the type
	if alternatives := append(slices.Clone(s.AnyOf), s.OneOf...); len(alternatives) > 0 && depth < maxTypeDepth {
		return w.alternativeNames(alternatives, depth)
	}
	var one string
	if json.Unmarshal(s.Type, &one) == nil && one != "" {
		switch one {
		case "array":
			return w.itemName(s.Items, depth) + "[]"
		case "object":
			return w.objectName(s, depth)
		}
		return one
	}
	var many []string
	if json.Unmarshal(s.Type, &many) == nil && len(many) > 0 {
		return strings.Join(many, "|")
	}
	if len(s.Properties) > 0 {
		return w.objectName(s, depth)
	}
	return "any"
}

// objectName spells a small object out.
func (w *typeWriter) objectName(s *schema, depth int) string {
	if !w.shapes || len(s.Properties) == 0 || depth >= maxTypeDepth {
		return "object"
	}
	var b strings.Builder
	for i, p := range s.Properties {
		b.WriteString([]string{"{", ", "}[min(i, 1)] + p.name)
		if !slices.Contains(s.Required, p.name) {
			b.WriteByte('?')
		}
		b.WriteString(": " + w.typeName(w.read(p.raw), depth+1))
		if b.Len() >= maxShape {
			return "object"
		}
	}
	b.WriteByte('}')
	return b.String()
}

// itemName returns the type of a list's elements, in parentheses where it has alternatives.
func (w *typeWriter) itemName(items json.RawMessage, depth int) string {
	if depth >= maxTypeDepth || len(items) == 0 {
		return "any"
	}
	name := w.typeName(w.read(items), depth+1)
	if plain := strings.HasPrefix(name, "{") && !strings.Contains(name, "}|"); strings.Contains(name, "|") && !plain {
		return "(" + name + ")"
	}
	return name
}

// alternativeNames joins the types of alternatives by |, each once.
func (w *typeWriter) alternativeNames(alternatives []json.RawMessage, depth int) string {
	var names []string
	for _, raw := range alternatives {
		if n := w.typeName(w.read(raw), depth+1); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "any"
	}
	return strings.Join(names, "|")
}

// joinRaw joins JSON values by |, as they are written.
func joinRaw(list []json.RawMessage) string {
	parts := make([]string, len(list))
	for i, raw := range list {
		parts[i] = string(raw)
	}
	return strings.Join(parts, "|")
}
