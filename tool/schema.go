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

// schema is the part of JSON Schema that signatures and parameter lists show.
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
	Ref         string            `json:"$ref"`
}

// property is one property of a schema, as the server wrote it.
type property struct {
	name string
	raw  json.RawMessage
}

// orderedProperties keeps properties in the order in which the server wrote them.
type orderedProperties []property

// UnmarshalJSON reads an object; anything else gives no properties, since servers do send arrays and null here.
func (p *orderedProperties) UnmarshalJSON(b []byte) error {
	*p = nil
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
func (t *Tool) Parameters() []Parameter {
	var s schema
	if json.Unmarshal(t.InputSchema, &s) != nil {
		return nil
	}
	out := make([]Parameter, 0, len(s.Properties))
	for _, p := range s.Properties {
		var ps schema
		if json.Unmarshal(p.raw, &ps) != nil { // true, false, or nonsense
			ps = schema{}
		}
		out = append(out, Parameter{
			Name: p.name, Type: typeName(&ps, 0), Description: ps.Description,
			Required: slices.Contains(s.Required, p.name), Default: ps.Default, Enum: ps.Enum,
		})
	}
	return out
}

// maxSignatureEnum is the most alternatives of an enum that a signature spells out.
const maxSignatureEnum = 6

// Signature returns a compact typed call signature: name(required: type, optional?: type). Optional parameters come
// after the required ones.
func (t *Tool) Signature() string {
	params := t.Parameters()
	var b strings.Builder
	b.WriteString(t.Name)
	b.WriteByte('(')
	first := true
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

// typeName gives a schema's type in signature form. It looks at most three levels deep, so a schema that refers to
// itself ends.
func typeName(s *schema, depth int) string {
	if len(s.Enum) > 0 {
		if len(s.Enum) > maxSignatureEnum {
			return joinRaw(s.Enum[:maxSignatureEnum-1]) + "|…"
		}
		return joinRaw(s.Enum)
	}
	if len(s.Const) > 0 {
		return string(s.Const)
	}
	if alternatives := append(slices.Clone(s.AnyOf), s.OneOf...); len(alternatives) > 0 && depth < 3 {
		return alternativeNames(alternatives, depth)
	}
	var one string
	if json.Unmarshal(s.Type, &one) == nil && one != "" {
		if one == "array" {
			return itemName(s.Items, depth) + "[]"
		}
		return one
	}
	var many []string
	if json.Unmarshal(s.Type, &many) == nil && len(many) > 0 {
		return strings.Join(many, "|")
	}
	if len(s.Properties) > 0 {
		return "object"
	}
	return "any"
}

// itemName returns the type of a list's elements, in parentheses where it has alternatives.
func itemName(items json.RawMessage, depth int) string {
	var s schema
	if depth >= 3 || json.Unmarshal(items, &s) != nil {
		return "any"
	}
	name := typeName(&s, depth+1)
	if strings.Contains(name, "|") {
		return "(" + name + ")"
	}
	return name
}

// alternativeNames joins the types of alternatives by |, each once.
func alternativeNames(alternatives []json.RawMessage, depth int) string {
	var names []string
	for _, raw := range alternatives {
		var s schema
		if json.Unmarshal(raw, &s) != nil {
			continue
		}
		if n := typeName(&s, depth+1); !slices.Contains(names, n) {
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
