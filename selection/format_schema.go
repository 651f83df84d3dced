package selection

import (
	"encoding/json"
	"slices"
	"strings"

	"tooldex/internal/orderedjson"
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

// rootSchema reads an input schema as an object whose type is object, as every provider requires it. What cannot be
// read takes any arguments.
func rootSchema(raw json.RawMessage) orderedjson.Tree {
	v, err := orderedjson.Parse(raw)
	root, ok := v.(orderedjson.Tree)
	// A tool with a broken schema is still offered, since its server may accept calls all the same.
	if err != nil || !ok {
		return orderedjson.Tree{{Key: "type", Value: "object"}, {Key: "properties", Value: orderedjson.Tree{}}}
	}
	if root.Get("type") != "object" {
		root = append(orderedjson.Tree{{Key: "type", Value: "object"}}, root.Without("type")...)
	}
	return root
}

// flattenRoot merges what stands in alternatives at the root of a schema into its properties, since no provider takes
// them there: a property is required if all alternatives require it.
func flattenRoot(root orderedjson.Tree) orderedjson.Tree {
	// A schema with alternatives at its root, such as "by ID or by name", becomes one with all their properties. It
	// accepts more combinations than the original, against which calls are validated.
	properties, _ := root.Get("properties").(orderedjson.Tree)
	required := orderedjson.Strings(root.Get("required"))
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := root.Get(keyword).([]any)
		var shared []string
		for i, v := range list {
			one, _ := v.(orderedjson.Tree)
			if ref, ok := one.Get("$ref").(string); ok {
				target, _ := orderedjson.Resolve(root, ref)
				one, _ = target.(orderedjson.Tree)
			}
			more, _ := one.Get("properties").(orderedjson.Tree)
			for _, m := range more {
				if !properties.Has(m.Key) {
					properties = properties.With(m.Key, m.Value)
				}
			}
			own := orderedjson.Strings(one.Get("required"))
			// Of anyOf and oneOf only what all alternatives require is required; of allOf everything.
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
		properties = orderedjson.Tree{}
	}
	root = root.Without("allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else", "$schema", "$id",
		"id").With("properties", properties)
	return withRequired(root, properties, required)
}

// withRequired sets which of the properties are required, each once.
func withRequired(o, properties orderedjson.Tree, required []string) orderedjson.Tree {
	var kept []string
	for _, name := range required {
		if properties.Has(name) && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	if len(kept) == 0 {
		return o.Without("required")
	}
	return o.With("required", orderedjson.List(kept))
}

// repairSchema makes a schema one of the 2020-12 draft that stands by itself: older spellings are brought up to date,
// references to elsewhere than its definitions are replaced by what they refer to.
func repairSchema(root orderedjson.Tree) orderedjson.Tree {
	m := &schemaRepairer{root: root, left: maxSchemas}
	out, _ := m.repairSchema(root, nil).(orderedjson.Tree) // an object gives an object
	return out
}

// schemaRepairer replaces the references of one schema by what they point to.
type schemaRepairer struct {
	root orderedjson.Tree
	left int // references that may still be replaced: a few that hold several others each can make a schema of any size
}

// repairSchema mends one schema. Within are the references that are being replaced.
func (m *schemaRepairer) repairSchema(v any, within []string) any {
	o, ok := v.(orderedjson.Tree)
	if !ok {
		return v
	}
	if ref, ok := o.Get("$ref").(string); ok {
		target, found := orderedjson.Resolve(m.root, ref)
		defined := strings.HasPrefix(ref, "#/$defs/") || strings.HasPrefix(ref, "#/definitions/")
		switch {
		case found && defined:
		case found && !slices.Contains(within, ref) && len(within) < maxNesting && m.left > 0:
			m.left--
			inner, _ := target.(orderedjson.Tree)
			return m.repairSchema(joinSchemas(inner, o.Without("$ref")), append(slices.Clip(within), ref))
		default:
			o = o.Without("$ref")
		}
	}
	o = currentKeywords(o)
	out := make(orderedjson.Tree, 0, len(o))
	for _, one := range o {
		switch {
		case slices.Contains(oneSchema, one.Key):
			one.Value = m.repairSchema(one.Value, within)
		case slices.Contains(namedSchema, one.Key):
			named, _ := one.Value.(orderedjson.Tree)
			inner := make(orderedjson.Tree, 0, len(named))
			for _, p := range named {
				inner = append(inner, orderedjson.Member[any]{Key: p.Key, Value: m.repairSchema(p.Value, within)})
			}
			one.Value = inner
		case slices.Contains(manySchemas, one.Key):
			list, _ := one.Value.([]any)
			inner := make([]any, 0, len(list))
			for _, e := range list {
				inner = append(inner, m.repairSchema(e, within))
			}
			if len(inner) == 0 { // must not be empty
				continue
			}
			one.Value = inner
		}
		out = append(out, one)
	}
	return out
}

// How deep references are followed, and how many. Deeper and further references are replaced by a schema that accepts
// anything.
const (
	maxNesting = 12
	maxSchemas = 2000
)

// joinSchemas returns the members of both; those of over win.
func joinSchemas(under, over orderedjson.Tree) orderedjson.Tree {
	out := slices.Clone(under)
	for _, m := range over {
		out = out.With(m.Key, m.Value)
	}
	return out
}

// currentKeywords spells one schema's own keywords as the 2020-12 draft does, and drops those that are wrong in any.
func currentKeywords(o orderedjson.Tree) orderedjson.Tree {
	if list, ok := o.Get("items").([]any); ok {
		o = o.With("items", joinAlternatives(list)).Without("additionalItems")
	}
	// Draft 4 wrote exclusive bounds as flags beside minimum and maximum.
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if flag, ok := o.Get(exclusive).(bool); ok {
			limit := o.Get(bound)
			o = o.Without(exclusive)
			if flag && limit != nil {
				o = o.Without(bound).With(exclusive, limit)
			}
		}
	}
	// Draft 3 wrote required as a flag in each property; only the list is current. Sorting serves to find duplicates,
	// which the list must not have; without any, it keeps its order.
	if o.Has("required") {
		if names := orderedjson.Strings(o.Get("required")); len(names) > 0 {
			slices.Sort(names)
			if len(slices.Compact(names)) < len(orderedjson.Strings(o.Get("required"))) {
				o = o.With("required", orderedjson.List(slices.Compact(names)))
			}
		} else {
			o = o.Without("required")
		}
	}
	if list, ok := o.Get("enum").([]any); o.Has("enum") && (!ok || len(list) == 0) {
		o = o.Without("enum")
	}
	return inferTypes(o)
}

// inferTypes keeps of type what JSON Schema knows.
func inferTypes(o orderedjson.Tree) orderedjson.Tree {
	known := func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(jsonTypes, s)
	}
	switch t := o.Get("type").(type) {
	case string:
		if lower := strings.ToLower(t); known(lower) {
			return o.With("type", lower)
		}
		return o.Without("type")
	case []any:
		kept := slices.DeleteFunc(slices.Clone(t), func(v any) bool { return !known(v) })
		if len(kept) > 0 {
			return o.With("type", kept)
		}
	}
	return o.Without("type")
}

// joinAlternatives is a schema for any of several: itself where they are equal.
func joinAlternatives(list []any) any {
	var kept []any
	var seen []string
	for _, v := range list {
		if text := string(orderedjson.Append(nil, v)); !slices.Contains(seen, text) {
			seen = append(seen, text)
			kept = append(kept, v)
		}
	}
	switch len(kept) {
	case 0:
		return orderedjson.Tree{}
	case 1:
		return kept[0]
	}
	return orderedjson.Tree{{Key: "anyOf", Value: kept}}
}
