package selection

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// gemini converts schemas to the subset of OpenAPI 3.0 that function declarations take.
type gemini struct {
	root object
	left int // references that may still be replaced
}

// parameters converts an input schema; ok is false if it has none, and none may then be declared.
func (g *gemini) parameters() (out object, ok bool) {
	out = g.typed(g.root, "object", nil).without("nullable")
	properties, _ := out.get("properties").(object)
	return out, len(properties) > 0
}

// schema converts a schema. Within are the references that are being replaced.
func (g *gemini) schema(v any, within []string) object {
	o, _ := v.(object) // true, false and nonsense say nothing
	if ref, ok := o.get("$ref").(string); ok {
		target, _ := at(g.root, ref)
		inner, ok := target.(object)
		if !ok || slices.Contains(within, ref) || len(within) >= maxNesting || g.left <= 0 { // it holds itself, or is endless: its inside is left open
			return describe(object{{"type", "OBJECT"}}, o)
		}
		g.left--
		return g.schema(joined(inner, o.without("$ref")), append(slices.Clip(within), ref))
	}
	if list, ok := o.get("allOf").([]any); ok {
		return g.schema(g.merged(o, list), within)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list, ok := o.get(keyword).([]any); ok {
			return g.anyOf(o.without("anyOf", "oneOf"), list, within)
		}
	}
	switch t := o.get("type").(type) {
	case string:
		return g.typed(o, strings.ToLower(t), within)
	case []any:
		var list []any
		for _, one := range t {
			if one == "null" {
				list = append(list, object{{"type", "null"}})
				continue
			}
			list = append(list, o.without("description").with("type", one))
		}
		return g.anyOf(object{}.with("description", o.get("description")), list, within)
	}
	return g.typed(o, inferred(o), within)
}

// inferred guesses the type of a schema that does not say.
func inferred(o object) string {
	switch {
	case o.has("properties"), o.has("additionalProperties"):
		return "object"
	case o.has("items"), o.has("prefixItems"):
		return "array"
	}
	v := o.get("const")
	if list, ok := o.get("enum").([]any); ok && len(list) > 0 {
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

// merged joins the parts of allOf: all properties, all that is required.
func (g *gemini) merged(o object, list []any) object {
	out := o.without("allOf")
	for _, v := range list {
		part, _ := v.(object)
		for n := 0; n < maxNesting; n++ { // a reference may be to another
			ref, ok := part.get("$ref").(string)
			if !ok {
				break
			}
			target, _ := at(g.root, ref)
			inner, _ := target.(object)
			part = joined(inner, part.without("$ref"))
		}
		properties, _ := out.get("properties").(object)
		more, _ := part.get("properties").(object)
		required := append(texts(out.get("required")), texts(part.get("required"))...)
		out = joined(part.without("properties", "required", "$ref"), out)
		if len(properties)+len(more) > 0 {
			out = out.with("properties", joined(more, properties))
		}
		if len(required) > 0 {
			out = out.with("required", listOf(required))
		}
	}
	return out
}

// anyOf converts alternatives. Where they are given, nothing else may stand beside them, so what does goes into each.
func (g *gemini) anyOf(o object, list []any, within []string) object {
	nullable := o.get("nullable") == true
	var kept []any
	for _, v := range list {
		one, _ := v.(object)
		if one.get("type") == "null" {
			nullable = true
			continue
		}
		kept = append(kept, g.schema(joined(o, one), within))
	}
	kept = flattened(kept)
	if text, ok := sameEnum(kept); ok {
		kept = []any{text}
	}
	one, ok := alternatives(kept).(object)
	if ok && !one.has("anyOf") {
		if len(one) == 0 {
			one = object{{"type", "STRING"}}
		}
		if nullable {
			one = one.with("nullable", true)
		}
		return describe(one, o)
	}
	branches, _ := one.get("anyOf").([]any)
	for i, v := range branches {
		if b, ok := v.(object); ok && nullable {
			branches[i] = b.with("nullable", true)
		}
	}
	return object{{"anyOf", branches}}
}

// flattened puts alternatives that hold alternatives into one list.
func flattened(list []any) []any {
	var out []any
	for _, v := range list {
		o, _ := v.(object)
		if inner, ok := o.get("anyOf").([]any); ok {
			out = append(out, inner...)
			continue
		}
		out = append(out, v)
	}
	return out
}

// sameEnum joins alternatives that are each some texts into one.
func sameEnum(list []any) (object, bool) {
	var values []any
	for _, v := range list {
		o, _ := v.(object)
		one, ok := o.get("enum").([]any)
		if !ok || o.get("type") != "STRING" {
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
	return object{{"type", "STRING"}, {"format", "enum"}, {"enum", values}}, true
}

// typed converts a schema of one type.
func (g *gemini) typed(o object, kind string, within []string) object {
	if kind == "null" {
		return describe(object{{"type", "STRING"}, {"nullable", true}}, o)
	}
	if !slices.Contains(jsonTypes, kind) {
		kind = "string"
	}
	out := object{{"type", strings.ToUpper(kind)}}
	for _, m := range o {
		switch {
		case slices.Contains(geminiKept, m.key):
			out = append(out, m)
		case m.key == "format":
			if f, ok := m.value.(string); ok && slices.Contains(geminiFormats[strings.ToUpper(kind)], f) {
				out = append(out, m)
			}
		case m.key == "pattern":
			if p, ok := m.value.(string); ok && kind == "string" {
				if _, err := regexp.Compile(p); err == nil {
					out = append(out, m)
				}
			}
		}
	}
	out = withLimits(out, o, kind)
	out = withValues(out, o, kind)
	switch kind {
	case "object":
		return g.withProperties(out, o, within)
	case "array":
		return out.with("items", g.items(o, within))
	}
	return out
}

func (g *gemini) withProperties(out, o object, within []string) object {
	properties, _ := o.get("properties").(object)
	if len(properties) == 0 {
		return out
	}
	converted := make(object, 0, len(properties))
	for _, p := range properties {
		converted = append(converted, member{p.key, g.schema(p.value, within)})
	}
	return withRequired(out.with("properties", converted), converted, texts(o.get("required")))
}

// items converts what an array holds, which must be said.
func (g *gemini) items(o object, within []string) object {
	var list []any
	switch items := o.get("items").(type) {
	case object:
		return g.schema(items, within)
	case []any:
		list = items
	}
	if tuple, ok := o.get("prefixItems").([]any); ok {
		list = tuple
	}
	if len(list) == 0 {
		return object{{"type", "STRING"}}
	}
	return g.anyOf(object{}, list, within)
}

// withLimits replaces limits that are excluded themselves by the nearest that are not.
func withLimits(out, o object, kind string) object {
	for _, limit := range []struct {
		from, to string
		step     int64
	}{{"exclusiveMinimum", "minimum", 1}, {"exclusiveMaximum", "maximum", -1}} {
		n, ok := o.get(limit.from).(json.Number)
		if !ok || out.has(limit.to) {
			continue
		}
		if whole, err := n.Int64(); err == nil && kind == "integer" {
			n = json.Number(strconv.FormatInt(whole+limit.step, 10))
		}
		out = out.with(limit.to, n)
	}
	return out
}

// withValues keeps the values that are allowed: as an enum, which only texts may have, or in the description.
func withValues(out, o object, kind string) object {
	values, _ := o.get("enum").([]any)
	if o.has("const") {
		values = []any{o.get("const")}
	}
	var kept []any
	for _, v := range values {
		switch {
		case v == nil:
			out = out.with("nullable", true)
		case v == "" || slices.ContainsFunc(kept, func(have any) bool {
			return string(write(nil,
				have)) == string(write(nil, v))
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
		return out.without("format", "pattern", "minLength", "maxLength").with("format", "enum").with("enum", kept)
	}
	said, _ := out.get("description").(string)
	note := "One of: " + strings.Trim(string(write(nil, kept)), "[]") + "."
	return out.with("description", strings.TrimSpace(said+" "+note))
}

// describe gives a schema the description of another where it has none.
func describe(out, from object) object {
	if text, ok := from.get("description").(string); ok && !out.has("description") {
		return out.with("description", text)
	}
	return out
}
