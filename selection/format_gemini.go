package selection

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tooldex/internal/orderedjson"
)

// geminiKept are the keywords that stay as they are, beside those that are converted.
var geminiKept = []string{
	"title", "description", "nullable", "default", "example", "minItems", "maxItems", "minProperties", "maxProperties",
	"minLength", "maxLength",
	"minimum", "maximum",
}

// geminiFormats lists the formats of each type that are taken.
var geminiFormats = map[string][]string{
	"STRING": {"enum", "date-time"}, "NUMBER": {"float", "double"}, "INTEGER": {"int32", "int64"},
}

// geminiWriter converts schemas to the subset of OpenAPI 3.0 that function declarations take.
type geminiWriter struct {
	// root is the whole schema, in which references are looked up.
	root orderedjson.Tree
	left int // references that may still be replaced
}

// rootParameters converts an input schema; ok is false if it has none, and none may then be declared.
func (g *geminiWriter) rootParameters() (out orderedjson.Tree, ok bool) {
	out = g.convertTyped(g.root, "object", nil).Without("nullable")
	properties, _ := out.Get("properties").(orderedjson.Tree)
	return out, len(properties) > 0
}

// convertSchema converts a schema. Within are the references that are being replaced.
func (g *geminiWriter) convertSchema(v any, within []string) orderedjson.Tree {
	o, _ := v.(orderedjson.Tree) // true, false and nonsense say nothing
	if ref, ok := o.Get("$ref").(string); ok {
		target, _ := orderedjson.Resolve(g.root, ref)
		inner, ok := target.(orderedjson.Tree)
		if !ok || slices.Contains(within, ref) || len(within) >= maxNesting || g.left <= 0 { // it holds itself, or is endless: its inside is left open
			return copyDescription(orderedjson.Tree{{Key: "type", Value: "OBJECT"}}, o)
		}
		g.left--
		// Keywords beside $ref override those of its target; descriptions are often given there.
		return g.convertSchema(joinSchemas(inner, o.Without("$ref")), append(slices.Clip(within), ref))
	}
	if list, ok := o.Get("allOf").([]any); ok {
		return g.convertSchema(g.mergeSchemas(o, list), within)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list, ok := o.Get(keyword).([]any); ok {
			return g.convertAnyOf(o.Without("anyOf", "oneOf"), list, within)
		}
	}
	switch t := o.Get("type").(type) {
	case string:
		return g.convertTyped(o, strings.ToLower(t), within)
	case []any:
		// A declaration has one type each, so a list of types becomes alternatives.
		var list []any
		for _, one := range t {
			if one == "null" {
				list = append(list, orderedjson.Tree{{Key: "type", Value: "null"}})
				continue
			}
			list = append(list, o.Without("description").With("type", one))
		}
		return g.convertAnyOf(orderedjson.Tree{}.With("description", o.Get("description")), list, within)
	}
	return g.convertTyped(o, inferType(o), within)
}

// inferType guesses the type of a schema that does not say.
func inferType(o orderedjson.Tree) string {
	switch {
	case o.Has("properties"), o.Has("additionalProperties"):
		return "object"
	case o.Has("items"), o.Has("prefixItems"):
		return "array"
	}
	v := o.Get("const")
	if list, ok := o.Get("enum").([]any); ok && len(list) > 0 {
		v = list[0]
	}
	switch n := v.(type) {
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(n.String(), ".eE") {
			return "number"
		}
		return "integer"
	}
	return "string"
}

// mergeSchemas joins the parts of allOf: all properties, all that is required.
func (g *geminiWriter) mergeSchemas(o orderedjson.Tree, list []any) orderedjson.Tree {
	out := o.Without("allOf")
	for _, v := range list {
		part, _ := v.(orderedjson.Tree)
		// Each step resolves one reference; maxNesting ends a cycle.
		for n := 0; n < maxNesting; n++ { // a reference may be to another
			ref, ok := part.Get("$ref").(string)
			if !ok {
				break
			}
			target, _ := orderedjson.Resolve(g.root, ref)
			inner, _ := target.(orderedjson.Tree)
			part = joinSchemas(inner, part.Without("$ref"))
		}
		properties, _ := out.Get("properties").(orderedjson.Tree)
		more, _ := part.Get("properties").(orderedjson.Tree)
		required := append(orderedjson.Strings(out.Get("required")), orderedjson.Strings(part.Get("required"))...)
		// What stands beside allOf has precedence over its parts.
		out = joinSchemas(part.Without("properties", "required", "$ref"), out)
		if len(properties)+len(more) > 0 {
			out = out.With("properties", joinSchemas(more, properties))
		}
		if len(required) > 0 {
			out = out.With("required", orderedjson.List(required))
		}
	}
	return out
}

// convertAnyOf converts alternatives. Where they are given, nothing else may stand beside them, so what does goes into
// each.
func (g *geminiWriter) convertAnyOf(o orderedjson.Tree, list []any, within []string) orderedjson.Tree {
	nullable := o.Get("nullable") == true
	var kept []any
	for _, v := range list {
		one, _ := v.(orderedjson.Tree)
		if one.Get("type") == "null" {
			nullable = true
			continue
		}
		kept = append(kept, g.convertSchema(joinSchemas(o, one), within))
	}
	kept = flattenAlternatives(kept)
	// One enum of all values says the same as alternatives that are enums, in fewer tokens.
	if text, ok := sameEnum(kept); ok {
		kept = []any{text}
	}
	one, ok := joinAlternatives(kept).(orderedjson.Tree)
	if ok && !one.Has("anyOf") {
		if len(one) == 0 {
			one = orderedjson.Tree{{Key: "type", Value: "STRING"}}
		}
		if nullable {
			one = one.With("nullable", true)
		}
		return copyDescription(one, o)
	}
	// null cannot be one of several alternatives here, so each of them is marked nullable instead.
	branches, _ := one.Get("anyOf").([]any)
	for i, v := range branches {
		if b, ok := v.(orderedjson.Tree); ok && nullable {
			branches[i] = b.With("nullable", true)
		}
	}
	return orderedjson.Tree{{Key: "anyOf", Value: branches}}
}

// flattenAlternatives puts alternatives that hold alternatives into one list.
func flattenAlternatives(list []any) []any {
	var out []any
	for _, v := range list {
		o, _ := v.(orderedjson.Tree)
		if inner, ok := o.Get("anyOf").([]any); ok {
			out = append(out, inner...)
			continue
		}
		out = append(out, v)
	}
	return out
}

// sameEnum joins alternatives that are each some texts into one.
func sameEnum(list []any) (orderedjson.Tree, bool) {
	var values []any
	for _, v := range list {
		o, _ := v.(orderedjson.Tree)
		one, ok := o.Get("enum").([]any)
		if !ok || o.Get("type") != "STRING" {
			return nil, false
		}
		for _, e := range one {
			if !slices.Contains(values, e) {
				values = append(values, e)
			}
		}
	}
	if len(list) < 2 {
		return nil, false
	}
	return orderedjson.Tree{
		{Key: "type", Value: "STRING"},
		{Key: "format", Value: "enum"},
		{Key: "enum", Value: values},
	}, true
}

// convertTyped converts a schema of one type.
func (g *geminiWriter) convertTyped(o orderedjson.Tree, kind string, within []string) orderedjson.Tree {
	if kind == "null" {
		return copyDescription(orderedjson.Tree{{Key: "type", Value: "STRING"}, {Key: "nullable", Value: true}}, o)
	}
	if !slices.Contains(jsonTypes, kind) {
		kind = "string"
	}
	out := orderedjson.Tree{{Key: "type", Value: strings.ToUpper(kind)}}
	for _, m := range o {
		switch {
		case slices.Contains(geminiKept, m.Key):
			out = append(out, m)
		case m.Key == "format":
			// Formats that the type does not take are dropped; verifyGeminiSchema would refuse them.
			if f, ok := m.Value.(string); ok && slices.Contains(geminiFormats[strings.ToUpper(kind)], f) {
				out = append(out, m)
			}
		case m.Key == "pattern":
			if p, ok := m.Value.(string); ok && kind == "string" {
				// A pattern that Go cannot compile uses syntax that RE2 lacks, such as lookahead.
				if _, err := regexp.Compile(p); err == nil {
					out = append(out, m)
				}
			}
		}
	}
	out = copyLimits(out, o, kind)
	out = copyValues(out, o, kind)
	switch kind {
	case "object":
		return g.convertProperties(out, o, within)
	case "array":
		return out.With("items", g.convertItems(o, within))
	}
	return out
}

// convertProperties adds the converted properties of o to out, and of the required ones those that are left.
func (g *geminiWriter) convertProperties(out, o orderedjson.Tree, within []string) orderedjson.Tree {
	properties, _ := o.Get("properties").(orderedjson.Tree)
	if len(properties) == 0 {
		return out
	}
	converted := make(orderedjson.Tree, 0, len(properties))
	for _, p := range properties {
		converted = append(converted, orderedjson.Member[any]{Key: p.Key, Value: g.convertSchema(p.Value, within)})
	}
	return withRequired(out.With("properties", converted), converted, orderedjson.Strings(o.Get("required")))
}

// convertItems converts what an array holds, which must be said.
func (g *geminiWriter) convertItems(o orderedjson.Tree, within []string) orderedjson.Tree {
	var list []any
	switch items := o.Get("items").(type) {
	case orderedjson.Tree:
		return g.convertSchema(items, within)
	case []any:
		list = items
	}
	if tuple, ok := o.Get("prefixItems").([]any); ok {
		list = tuple
	}
	if len(list) == 0 {
		return orderedjson.Tree{{Key: "type", Value: "STRING"}}
	}
	return g.convertAnyOf(orderedjson.Tree{}, list, within)
}

// copyLimits replaces limits that are excluded themselves by the nearest that are not.
func copyLimits(out, o orderedjson.Tree, kind string) orderedjson.Tree {
	for _, limit := range []struct {
		from, to string
		step     int64
	}{{"exclusiveMinimum", "minimum", 1}, {"exclusiveMaximum", "maximum", -1}} {
		n, ok := o.Get(limit.from).(json.Number)
		if !ok || out.Has(limit.to) {
			continue
		}
		// For integers the next allowed value is exact. For other numbers the bound itself becomes valid, so the
		// declaration is wider than the schema by one value; calls are validated against the schema.
		if whole, err := n.Int64(); err == nil && kind == "integer" {
			n = json.Number(strconv.FormatInt(whole+limit.step, 10))
		}
		out = out.With(limit.to, n)
	}
	return out
}

// copyValues keeps the values that are allowed: as an enum, which only texts may have, or in the description.
func copyValues(out, o orderedjson.Tree, kind string) orderedjson.Tree {
	values, _ := o.Get("enum").([]any)
	if o.Has("const") {
		values = []any{o.Get("const")}
	}
	var kept []any
	for _, v := range values {
		switch {
		case v == nil:
			out = out.With("nullable", true)
		case v == "" || slices.ContainsFunc(kept, func(have any) bool {
			return string(orderedjson.Append(nil, have)) == string(orderedjson.Append(nil, v))
		}):
		default:
			kept = append(kept, v)
		}
	}
	if len(kept) == 0 {
		return out
	}
	isText := func(v any) bool { _, ok := v.(string); return ok }
	if kind == "string" && !slices.ContainsFunc(kept, func(v any) bool { return !isText(v) }) {
		return out.Without("format", "pattern", "minLength", "maxLength").With("format", "enum").With("enum", kept)
	}
	// Other values than strings cannot be declared as an enum. The description is where a model sees them.
	said, _ := out.Get("description").(string)
	note := "One of: " + strings.Trim(string(orderedjson.Append(nil, kept)), "[]") + "."
	return out.With("description", strings.TrimSpace(said+" "+note))
}

// copyDescription gives a schema the description of another where it has none.
func copyDescription(out, from orderedjson.Tree) orderedjson.Tree {
	if text, ok := from.Get("description").(string); ok && !out.Has("description") {
		return out.With("description", text)
	}
	return out
}
