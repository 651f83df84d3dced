package selection

import (
	"encoding/json"
	"slices"
	"strings"
)

// The keywords of JSON Schema that hold one schema, several by name, and several in a list.
var (
	oneSchema = []string{
		"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
		"unevaluatedProperties", "unevaluatedItems", "additionalItems",
	}
	namedSchema = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	manySchemas = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
)

// jsonTypes are the values of type.
var jsonTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// rootSchema reads an input schema as an object whose type is object, as every provider wants it. What cannot be read
// takes any arguments.
func rootSchema(raw json.RawMessage) object {
	v, err := parse(raw)
	root, ok := v.(object)
	if err != nil || !ok {
		return object{{"type", "object"}, {"properties", object{}}}
	}
	if root.get("type") != "object" {
		root = append(object{{"type", "object"}}, root.without("type")...)
	}
	return root
}

// flatRoot merges what stands in alternatives at the root of a schema into its properties, since no provider takes them
// there: a property is required if all alternatives require it.
func flatRoot(root object) object {
	properties, _ := root.get("properties").(object)
	required := texts(root.get("required"))
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := root.get(keyword).([]any)
		var shared []string
		for i, v := range list {
			one, _ := v.(object)
			if ref, ok := one.get("$ref").(string); ok {
				target, _ := at(root, ref)
				one, _ = target.(object)
			}
			more, _ := one.get("properties").(object)
			for _, m := range more {
				if !properties.has(m.key) {
					properties = properties.with(m.key, m.value)
				}
			}
			own := texts(one.get("required"))
			switch {
			case keyword == "allOf" || i == 0:
				shared = append(shared, own...)
			default:
				shared = slices.DeleteFunc(shared, func(name string) bool { return !slices.Contains(own, name) })
			}
		}
		required = append(required, shared...)
	}
	if properties == nil {
		properties = object{}
	}
	root = root.without("allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else", "$schema", "$id",
		"id").with("properties", properties)
	return withRequired(root, properties, required)
}

// withRequired sets which of the properties are required, each once.
func withRequired(o, properties object, required []string) object {
	var kept []string
	for _, name := range required {
		if properties.has(name) && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	if len(kept) == 0 {
		return o.without("required")
	}
	return o.with("required", listOf(kept))
}

// mended makes a schema one of the 2020-12 draft that stands by itself: older spellings are brought up to date,
// references to elsewhere than its definitions are replaced by what they refer to.
func mended(root object) object {
	m := &mender{root: root, left: maxSchemas}
	out, _ := m.schema(root, nil).(object) // an object gives an object
	return out
}

type mender struct {
	root object
	left int // references that may still be replaced: a few that hold several others each can make a schema of any size
}

// schema mends one schema. Within are the references that are being replaced.
func (m *mender) schema(v any, within []string) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	if ref, ok := o.get("$ref").(string); ok {
		target, found := at(m.root, ref)
		defined := strings.HasPrefix(ref, "#/$defs/") || strings.HasPrefix(ref, "#/definitions/")
		switch {
		case found && defined:
		case found && !slices.Contains(within, ref) && len(within) < maxNesting && m.left > 0:
			m.left--
			inner, _ := target.(object)
			return m.schema(joined(inner, o.without("$ref")), append(slices.Clip(within), ref))
		default:
			o = o.without("$ref")
		}
	}
	o = currentKeywords(o)
	out := make(object, 0, len(o))
	for _, one := range o {
		switch {
		case slices.Contains(oneSchema, one.key):
			one.value = m.schema(one.value, within)
		case slices.Contains(namedSchema, one.key):
			named, _ := one.value.(object)
			inner := make(object, 0, len(named))
			for _, p := range named {
				inner = append(inner, member{p.key, m.schema(p.value, within)})
			}
			one.value = inner
		case slices.Contains(manySchemas, one.key):
			list, _ := one.value.([]any)
			inner := make([]any, 0, len(list))
			for _, e := range list {
				inner = append(inner, m.schema(e, within))
			}
			if len(inner) == 0 { // must not be empty
				continue
			}
			one.value = inner
		}
		out = append(out, one)
	}
	return out
}

// How deep references are followed, and how many.
const (
	maxNesting = 12
	maxSchemas = 2000
)

// joined returns the members of both; those of over win.
func joined(under, over object) object {
	out := slices.Clone(under)
	for _, m := range over {
		out = out.with(m.key, m.value)
	}
	return out
}

// currentKeywords spells one schema's own keywords as the 2020-12 draft does, and drops those that are wrong in any.
func currentKeywords(o object) object {
	if list, ok := o.get("items").([]any); ok {
		o = o.with("items", alternatives(list)).without("additionalItems")
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if flag, ok := o.get(exclusive).(bool); ok {
			limit := o.get(bound)
			o = o.without(exclusive)
			if flag && limit != nil {
				o = o.without(bound).with(exclusive, limit)
			}
		}
	}
	if o.has("required") {
		if names := texts(o.get("required")); len(names) > 0 {
			slices.Sort(names)
			if len(slices.Compact(names)) < len(texts(o.get("required"))) {
				o = o.with("required", listOf(slices.Compact(names)))
			}
		} else {
			o = o.without("required")
		}
	}
	if list, ok := o.get("enum").([]any); o.has("enum") && (!ok || len(list) == 0) {
		o = o.without("enum")
	}
	return withTypes(o)
}

// withTypes keeps of type what JSON Schema knows.
func withTypes(o object) object {
	known := func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(jsonTypes, s)
	}
	switch t := o.get("type").(type) {
	case string:
		if lower := strings.ToLower(t); known(lower) {
			return o.with("type", lower)
		}
		return o.without("type")
	case []any:
		kept := slices.DeleteFunc(slices.Clone(t), func(v any) bool { return !known(v) })
		if len(kept) > 0 {
			return o.with("type", kept)
		}
	}
	return o.without("type")
}

// alternatives is a schema for any of several: itself where they are equal.
func alternatives(list []any) any {
	var kept []any
	var seen []string
	for _, v := range list {
		if text := string(write(nil, v)); !slices.Contains(seen, text) {
			seen = append(seen, text)
			kept = append(kept, v)
		}
	}
	switch len(kept) {
	case 0:
		return object{}
	case 1:
		return kept[0]
	}
	return object{{"anyOf", kept}}
}
