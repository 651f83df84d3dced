package selection

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// The names that providers take.
var (
	plainName  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	geminiName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$`)
)

// verifyTool reports whether a tool in a provider's form keeps the rules that the provider publishes: those of names,
// of lengths, and of the part of JSON Schema that it takes. The error is of code Invalid and names the rule.
func verifyTool(f Format, raw json.RawMessage) error {
	// The check reads what was written and not an intermediate form, so that mistakes in writing show, too.
	v, err := orderedjson.Parse(raw)
	o, ok := v.(orderedjson.Tree)
	if err != nil || !ok {
		return invalidTool("the tool", "is not a JSON object")
	}
	switch f {
	case FormatAnthropic:
		return verifyAnthropic(o)
	case FormatOpenAI:
		function, ok := o.Get("function").(orderedjson.Tree)
		if o.Get("type") != "function" || !ok {
			return invalidTool("the tool", "is not of type function")
		}
		return verifyOpenAI(function)
	case FormatResponses:
		if _, said := o.Get("strict").(bool); o.Get("type") != "function" || !said {
			return invalidTool("the tool", "is not of type function, or does not say whether it is strict")
		}
		return verifyOpenAI(o)
	case FormatGemini:
		return verifyGemini(o)
	}
	if err := checkName(o, plainName); err != nil {
		return err
	}
	return checkRoot("inputSchema", o.Get("inputSchema"), nil)
}

// invalidTool returns the Invalid error of a tool that a provider would refuse.
func invalidTool(what, why string) error {
	return &tool.Error{Code: tool.Invalid, Op: "verify tool", Msg: what + " " + why}
}

// checkName holds the name of a tool to the pattern of its provider.
func checkName(o orderedjson.Tree, pattern *regexp.Regexp) error {
	if name, _ := o.Get("name").(string); !pattern.MatchString(name) {
		return invalidTool(fmt.Sprintf("the name %.80q", name), "does not match "+pattern.String())
	}
	return nil
}

// checkRoot holds the root of a schema to the type object, without some keywords.
func checkRoot(field string, v any, refused []string) error {
	root, ok := v.(orderedjson.Tree)
	if !ok || root.Get("type") != "object" {
		return invalidTool(field, `is not a schema of type "object"`)
	}
	for _, keyword := range refused {
		if root.Has(keyword) {
			return invalidTool(field, "has "+keyword+" at its root")
		}
	}
	return nil
}

// verifyAnthropic holds a tool to the rules of the Messages API: the pattern of names, an object at the root without
// anyOf, oneOf or allOf, and references that lead somewhere.
func verifyAnthropic(o orderedjson.Tree) error {
	if err := checkName(o, plainName); err != nil {
		return err
	}
	schema := o.Get("input_schema")
	if err := checkRoot("input_schema", schema, []string{"anyOf", "oneOf", "allOf"}); err != nil {
		return err
	}
	root, _ := schema.(orderedjson.Tree)
	properties, _ := root.Get("properties").(orderedjson.Tree)
	for _, p := range properties {
		if !parameterName.MatchString(p.Key) {
			return invalidTool(fmt.Sprintf("the parameter %.80q", p.Key), "does not match "+parameterName.String())
		}
	}
	return walkSchemas(root, func(s orderedjson.Tree) error {
		// A list of items and flags for exclusive bounds belong to older drafts; repairSchema rewrites them.
		if _, tuple := s.Get("items").([]any); tuple {
			return invalidTool("items", "is a list")
		}
		for _, limit := range []string{"exclusiveMinimum", "exclusiveMaximum"} {
			if _, flag := s.Get(limit).(bool); flag {
				return invalidTool(limit, "is not a number")
			}
		}
		if ref, ok := s.Get("$ref").(string); ok {
			if _, found := orderedjson.Resolve(root, ref); !found {
				return invalidTool("$ref", fmt.Sprintf("points to %.80q, which is not there", ref))
			}
		}
		return checkTypes(s)
	})
}

// checkTypes holds the type of a schema to the names that JSON Schema defines.
func checkTypes(s orderedjson.Tree) error {
	list, _ := s.Get("type").([]any)
	if one, ok := s.Get("type").(string); ok {
		list = []any{one}
	}
	for _, t := range list {
		if name, _ := t.(string); !slices.Contains(jsonTypes, name) {
			return invalidTool("type", fmt.Sprintf("is %v", t))
		}
	}
	// an empty list of types would allow nothing
	if s.Has("type") && len(list) == 0 {
		return invalidTool("type", "names none")
	}
	return nil
}

// verifyOpenAI holds a function to the rules of Chat Completions and Responses: the pattern of names, the length of the
// description, an object at the root, and items in every array.
func verifyOpenAI(function orderedjson.Tree) error {
	if err := checkName(function, plainName); err != nil {
		return err
	}
	if text, _ := function.Get("description").(string); utf8.RuneCountInString(text) > maxOpenAIDescription {
		return invalidTool("description", fmt.Sprintf("is longer than %d characters", maxOpenAIDescription))
	}
	schema := function.Get("parameters")
	if err := checkRoot("parameters", schema, []string{"anyOf", "oneOf", "allOf", "enum", "not"}); err != nil {
		return err
	}
	root, _ := schema.(orderedjson.Tree)
	return walkSchemas(root, func(s orderedjson.Tree) error {
		if _, ok := s.Get("items").(orderedjson.Tree); s.Get("type") == "array" && !ok {
			return invalidTool("an array", "does not say what it holds")
		}
		return checkTypes(s)
	})
}

// walkSchemas visits a schema and all within it.
func walkSchemas(o orderedjson.Tree, visit func(orderedjson.Tree) error) error {
	if err := visit(o); err != nil {
		return err
	}
	// Only the values of these keywords are schemas. A default or an enum may hold what looks like one and is none.
	for _, m := range o {
		var inner []any
		switch {
		case slices.Contains(oneSchema, m.Key):
			inner = []any{m.Value}
		case slices.Contains(namedSchema, m.Key):
			named, _ := m.Value.(orderedjson.Tree)
			for _, p := range named {
				inner = append(inner, p.Value)
			}
		case slices.Contains(manySchemas, m.Key):
			inner, _ = m.Value.([]any)
		}
		for _, v := range inner {
			if s, ok := v.(orderedjson.Tree); ok {
				if err := walkSchemas(s, visit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// verifyGemini holds a function declaration to the subset of OpenAPI that generateContent accepts.
func verifyGemini(o orderedjson.Tree) error {
	if err := checkName(o, geminiName); err != nil {
		return err
	}
	if text, _ := o.Get("description").(string); text == "" {
		return invalidTool("description", "is empty")
	}
	if !o.Has("parameters") {
		return nil
	}
	root, _ := o.Get("parameters").(orderedjson.Tree)
	properties, _ := root.Get("properties").(orderedjson.Tree)
	if root.Get("type") != "OBJECT" || len(properties) == 0 {
		return invalidTool("parameters", "is not a schema of type OBJECT with properties")
	}
	return verifyGeminiSchema(root)
}

var geminiTypes = []string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}

// verifyGeminiSchema holds a schema to the fields and values of the Schema of function declarations.
func verifyGeminiSchema(s orderedjson.Tree) error {
	if list, ok := s.Get("anyOf").([]any); ok {
		if len(s) > 1 || len(list) < 2 {
			return invalidTool("anyOf", "is not alone, or holds one schema")
		}
		return verifyGeminiList(list)
	}
	kind, _ := s.Get("type").(string)
	if !slices.Contains(geminiTypes, kind) {
		return invalidTool("type", fmt.Sprintf("is %.80q", kind))
	}
	for _, m := range s {
		switch m.Key {
		case "type", "properties", "items", "required", "enum", "format", "pattern":
		default:
			if !slices.Contains(geminiKept, m.Key) {
				return invalidTool(m.Key, "is not a field of a schema")
			}
		}
	}
	if f, ok := s.Get("format").(string); ok && !slices.Contains(geminiFormats[kind], f) {
		return invalidTool("format", fmt.Sprintf("is %.80q for a %s", f, kind))
	}
	if err := verifyGeminiEnum(s, kind); err != nil {
		return err
	}
	if _, ok := s.Get("items").(orderedjson.Tree); (kind == "ARRAY") != ok {
		return invalidTool("items", "is missing in an array, or stands elsewhere")
	}
	properties, _ := s.Get("properties").(orderedjson.Tree)
	for _, name := range orderedjson.Strings(s.Get("required")) {
		if !properties.Has(name) {
			return invalidTool("required", fmt.Sprintf("names %.80q, which is no property", name))
		}
	}
	var inner []any
	for _, p := range properties {
		inner = append(inner, p.Value)
	}
	if items := s.Get("items"); items != nil {
		inner = append(inner, items)
	}
	return verifyGeminiList(inner)
}

// verifyGeminiEnum holds an enum to strings, none of them empty, of a schema of type STRING.
func verifyGeminiEnum(s orderedjson.Tree, kind string) error {
	if !s.Has("enum") {
		return nil
	}
	list, _ := s.Get("enum").([]any)
	values := orderedjson.Strings(s.Get("enum"))
	if kind != "STRING" || len(values) == 0 || len(values) != len(list) || slices.Contains(values, "") {
		return invalidTool("enum", "is not a list of texts that say something")
	}
	return nil
}

// verifyGeminiList verifies every schema of an anyOf.
func verifyGeminiList(list []any) error {
	for _, v := range list {
		s, ok := v.(orderedjson.Tree)
		if !ok {
			return invalidTool("a schema", "is not an object")
		}
		if err := verifyGeminiSchema(s); err != nil {
			return err
		}
	}
	return nil
}
