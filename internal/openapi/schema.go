package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// maxSchema is the size in bytes from which a tool's schema is written with less detail.
const maxSchema = 48 << 10

// schemas converts the schemas of an API to JSON Schema. What they refer to is converted once, and written to $defs of
// each tool that needs it, so that cycles end.
type schemas struct {
	all   openapi3.Schemas // of the description
	depth int              // how deep schemas are written, with all in place; 0 means whole, with $defs

	names map[string]string // of $defs, by reference
	taken map[string]bool
	defs  map[string]json.RawMessage
	uses  map[string][]string // which other $defs each refers to
	now   *[]string           // where the names go that are being referred to

	shallow map[shallowKey]any // what was converted to some depth
}

// shallowKey is a schema and how many levels of it are left to be written.
type shallowKey struct {
	of   *openapi3.Schema
	left int
}

func newSchemas(all openapi3.Schemas) *schemas {
	return &schemas{
		all: all, names: map[string]string{}, taken: map[string]bool{}, defs: map[string]json.RawMessage{},
		uses: map[string][]string{}, now: new([]string), shallow: map[shallowKey]any{},
	}
}

// maxNesting bounds how deep schemas are written one in the other.
const maxNesting = 64

// convert returns the JSON Schema of a schema at some nesting.
func (s *schemas) convert(ref *openapi3.SchemaRef, level int) any {
	switch {
	case ref == nil || ref.Value == nil:
		return map[string]any{}
	case level >= maxNesting || s.depth > 0 && level >= s.depth:
		return outline(ref.Value)
	case s.depth > 0:
		key := shallowKey{ref.Value, s.depth - level}
		if _, ok := s.shallow[key]; !ok {
			s.shallow[key] = s.inPlace(ref.Value, level)
		}
		return s.shallow[key]
	case ref.Ref == "":
		return s.inPlace(ref.Value, level)
	}
	// Of what OpenAPI 3.1 allows beside a reference, the description counts.
	target := ref.Value
	if one := s.all[strings.TrimPrefix(ref.Ref, "#/components/schemas/")]; one != nil && one.Value != nil {
		target = one.Value
	}
	name, ok := s.names[ref.Ref]
	if !ok {
		name = freeName(cmp.Or(cleanName(ref.Ref[strings.LastIndexByte(ref.Ref, '/')+1:], maxName), "schema"), s.taken)
		s.names[ref.Ref] = name
		before, uses := s.now, []string{}
		s.now = &uses
		s.defs[name], _ = json.Marshal(s.inPlace(target, level+1)) // of values that were read as JSON
		s.uses[name], s.now = uses, before
	}
	*s.now = append(*s.now, name)
	out := map[string]any{"$ref": "#/$defs/" + name}
	if ref.Value.Description != target.Description {
		out["description"] = ref.Value.Description
	}
	return out
}

// needed returns the $defs that some names lead to, and their size.
func (s *schemas) needed(names []string) (map[string]json.RawMessage, int) {
	out, size := map[string]json.RawMessage{}, 0
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		if _, ok := out[name]; ok {
			continue
		}
		out[name] = s.defs[name]
		size += len(s.defs[name])
		names = append(names, s.uses[name]...)
	}
	return out, size
}

// outline returns the type and the description of a schema, and nothing of what is in it.
func outline(v *openapi3.Schema) map[string]any {
	out := map[string]any{}
	if v.Type != nil && len(*v.Type) == 1 {
		out["type"] = (*v.Type)[0]
	}
	if v.Description != "" {
		out["description"] = v.Description
	}
	return out
}

// inPlace converts a schema where it stands.
func (s *schemas) inPlace(v *openapi3.Schema, level int) any {
	written, err := v.MarshalYAML()
	from, ok := written.(map[string]any)
	if err != nil || !ok {
		if always, is := written.(bool); is {
			return always
		}
		return map[string]any{}
	}
	out := make(map[string]any, len(from))
	for key, value := range from {
		switch value := value.(type) {
		case *openapi3.SchemaRef:
			out[key] = s.convert(value, level+1)
		case openapi3.SchemaRefs:
			list := make([]any, len(value))
			for i, one := range value {
				list[i] = s.convert(one, level+1)
			}
			out[key] = list
		case openapi3.Schemas:
			all := make(map[string]any, len(value))
			for name, one := range value {
				if key != "properties" || !isReadOnly(one) {
					all[name] = s.convert(one, level+1)
				}
			}
			out[key] = all
		case *openapi3.BoolSchema:
			out[key] = s.either(value.Has, value.Schema, level)
		default:
			out[key] = value
		}
	}
	modernise(out, v)
	return out
}

// either converts a keyword that is a boolean or a schema.
func (s *schemas) either(has *bool, ref *openapi3.SchemaRef, level int) any {
	if ref != nil {
		return s.convert(ref, level+1)
	}
	return has == nil || *has
}

// isReadOnly reports whether a property comes only in answers.
func isReadOnly(ref *openapi3.SchemaRef) bool {
	return ref != nil && ref.Value != nil && ref.Value.ReadOnly
}

// modernise rewrites in place what OpenAPI 3.0 spells otherwise than JSON Schema, and removes what says nothing of a
// value.
func modernise(out map[string]any, v *openapi3.Schema) {
	maps.DeleteFunc(out, func(key string, _ any) bool { return strings.HasPrefix(key, "x-") })
	for _, key := range []string{
		"xml", "externalDocs", "discriminator", "example", "nullable", "readOnly", "writeOnly", "allowEmptyValue",
		"$schema", "$id", "$anchor", "$comment", "$defs", "$dynamicRef", "$dynamicAnchor",
	} {
		delete(out, key)
	}
	if v.Example != nil {
		out["examples"] = []any{v.Example}
	}
	bound := func(key, limit string, b openapi3.ExclusiveBound) {
		switch {
		case b.Value != nil:
			out[key] = *b.Value
		case b.Bool != nil && *b.Bool && out[limit] != nil:
			out[key] = out[limit]
			delete(out, limit)
		default:
			delete(out, key)
		}
	}
	bound("exclusiveMinimum", "minimum", v.ExclusiveMin)
	bound("exclusiveMaximum", "maximum", v.ExclusiveMax)
	if isBinary(v) {
		delete(out, "format")
		out["contentEncoding"] = "base64"
	}
	if v.Type != nil && len(*v.Type) > 0 {
		types := slices.Clone(*v.Type)
		if v.Nullable && !slices.Contains(types, "null") {
			types = append(types, "null")
			if len(v.Enum) > 0 && !slices.Contains(v.Enum, nil) {
				out["enum"] = append(slices.Clone(v.Enum), nil)
			}
		}
		out["type"] = types
		if len(types) == 1 {
			out["type"] = types[0]
		}
	}
	if len(v.Required) > 0 {
		needed := slices.DeleteFunc(slices.Clone(v.Required), func(name string) bool {
			return isReadOnly(v.Properties[name])
		})
		out["required"] = needed
		if len(needed) == 0 {
			delete(out, "required")
		}
	}
}

// isBinary reports whether a string holds bytes, which a model writes in base64.
func isBinary(v *openapi3.Schema) bool {
	return v != nil && (v.Format == "binary" || v.ContentMediaType == "application/octet-stream")
}

// encode returns the input schema of an operation. A schema that would be too large is written with less detail.
func (s *schemas) encode(one *operation) (json.RawMessage, error) {
	for _, depth := range []int{0, 2, 1} {
		s.depth, s.now = depth, new([]string)
		properties, required := one.properties(s)
		whole := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
		if len(required) > 0 {
			whole["required"] = required
		}
		defs, size := s.needed(*s.now)
		if len(defs) > 0 {
			whole["$defs"] = defs
		}
		if size > maxSchema {
			continue
		}
		out, err := json.Marshal(whole)
		if err != nil || len(out) <= maxSchema || depth == 1 {
			return out, err
		}
	}
	return nil, errors.New("its schema is too large") // cannot be: the last depth has no $defs
}
