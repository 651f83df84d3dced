package selection

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"tooldex/tool"
)

// The names that providers take.
var (
	plainName  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	geminiName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$`)
)

// Verify reports whether a tool in a provider's form keeps the rules that the provider publishes: those of names, of
// lengths, and of the part of JSON Schema that it takes. The error is of code Invalid and names the rule.
func Verify(f Format, raw json.RawMessage) error {
	v, err := parse(raw)
	o, ok := v.(object)
	if err != nil || !ok {
		return broken("the tool", "is not a JSON object")
	}
	switch f {
	case FormatAnthropic:
		return verifyAnthropic(o)
	case FormatOpenAI:
		function, ok := o.get("function").(object)
		if o.get("type") != "function" || !ok {
			return broken("the tool", "is not of type function")
		}
		return verifyOpenAI(function)
	case FormatResponses:
		if _, said := o.get("strict").(bool); o.get("type") != "function" || !said {
			return broken("the tool", "is not of type function, or does not say whether it is strict")
		}
		return verifyOpenAI(o)
	case FormatGemini:
		return verifyGemini(o)
	}
	if err := checkName(o, plainName); err != nil {
		return err
	}
	return checkRoot("inputSchema", o.get("inputSchema"), nil)
}

func broken(what, why string) error {
	return &tool.Error{Code: tool.Invalid, Op: "verify tool", Msg: what + " " + why}
}

func checkName(o object, pattern *regexp.Regexp) error {
	if name, _ := o.get("name").(string); !pattern.MatchString(name) {
		return broken(fmt.Sprintf("the name %.80q", name), "does not match "+pattern.String())
	}
	return nil
}

// checkRoot holds the root of a schema to the type object, without some keywords.
func checkRoot(field string, v any, refused []string) error {
	root, ok := v.(object)
	if !ok || root.get("type") != "object" {
		return broken(field, `is not a schema of type "object"`)
	}
	for _, keyword := range refused {
		if root.has(keyword) {
			return broken(field, "has "+keyword+" at its root")
		}
	}
	return nil
}

func verifyAnthropic(o object) error {
	if err := checkName(o, plainName); err != nil {
		return err
	}
	schema := o.get("input_schema")
	if err := checkRoot("input_schema", schema, []string{"anyOf", "oneOf", "allOf"}); err != nil {
		return err
	}
	root, _ := schema.(object)
	properties, _ := root.get("properties").(object)
	for _, p := range properties {
		if !parameterName.MatchString(p.key) {
			return broken(fmt.Sprintf("the parameter %.80q", p.key), "does not match "+parameterName.String())
		}
	}
	return eachSchema(root, func(s object) error {
		if _, tuple := s.get("items").([]any); tuple {
			return broken("items", "is a list")
		}
		for _, limit := range []string{"exclusiveMinimum", "exclusiveMaximum"} {
			if _, flag := s.get(limit).(bool); flag {
				return broken(limit, "is not a number")
			}
		}
		if ref, ok := s.get("$ref").(string); ok {
			if _, found := at(root, ref); !found {
				return broken("$ref", fmt.Sprintf("points to %.80q, which is not there", ref))
			}
		}
		return checkTypes(s)
	})
}

func checkTypes(s object) error {
	list, _ := s.get("type").([]any)
	if one, ok := s.get("type").(string); ok {
		list = []any{one}
	}
	for _, t := range list {
		if name, _ := t.(string); !slices.Contains(jsonTypes, name) {
			return broken("type", fmt.Sprintf("is %v", t))
		}
	}
	if s.has("type") && len(list) == 0 {
		return broken("type", "names none")
	}
	return nil
}

func verifyOpenAI(function object) error {
	if err := checkName(function, plainName); err != nil {
		return err
	}
	if text, _ := function.get("description").(string); utf8.RuneCountInString(text) > maxOpenAIDescription {
		return broken("description", fmt.Sprintf("is longer than %d characters", maxOpenAIDescription))
	}
	schema := function.get("parameters")
	if err := checkRoot("parameters", schema, []string{"anyOf", "oneOf", "allOf", "enum", "not"}); err != nil {
		return err
	}
	root, _ := schema.(object)
	return eachSchema(root, func(s object) error {
		if _, ok := s.get("items").(object); s.get("type") == "array" && !ok {
			return broken("an array", "does not say what it holds")
		}
		return checkTypes(s)
	})
}

// eachSchema visits a schema and all within it.
func eachSchema(o object, visit func(object) error) error {
	if err := visit(o); err != nil {
		return err
	}
	for _, m := range o {
		var inner []any
		switch {
		case slices.Contains(oneSchema, m.key):
			inner = []any{m.value}
		case slices.Contains(namedSchema, m.key):
			named, _ := m.value.(object)
			for _, p := range named {
				inner = append(inner, p.value)
			}
		case slices.Contains(manySchemas, m.key):
			inner, _ = m.value.([]any)
		}
		for _, v := range inner {
			if s, ok := v.(object); ok {
				if err := eachSchema(s, visit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func verifyGemini(o object) error {
	if err := checkName(o, geminiName); err != nil {
		return err
	}
	if text, _ := o.get("description").(string); text == "" {
		return broken("description", "is empty")
	}
	if !o.has("parameters") {
		return nil
	}
	root, _ := o.get("parameters").(object)
	properties, _ := root.get("properties").(object)
	if root.get("type") != "OBJECT" || len(properties) == 0 {
		return broken("parameters", "is not a schema of type OBJECT with properties")
	}
	return verifyGeminiSchema(root)
}

var geminiTypes = []string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}

// verifyGeminiSchema holds a schema to the fields and values of the Schema of function declarations.
func verifyGeminiSchema(s object) error {
	if list, ok := s.get("anyOf").([]any); ok {
		if len(s) > 1 || len(list) < 2 {
			return broken("anyOf", "is not alone, or holds one schema")
		}
		return eachGemini(list)
	}
	kind, _ := s.get("type").(string)
	if !slices.Contains(geminiTypes, kind) {
		return broken("type", fmt.Sprintf("is %.80q", kind))
	}
	for _, m := range s {
		switch m.key {
		case "type", "properties", "items", "required", "enum", "format", "pattern":
		default:
			if !slices.Contains(geminiKept, m.key) {
				return broken(m.key, "is not a field of a schema")
			}
		}
	}
	if f, ok := s.get("format").(string); ok && !slices.Contains(geminiFormats[kind], f) {
		return broken("format", fmt.Sprintf("is %.80q for a %s", f, kind))
	}
	if err := verifyGeminiEnum(s, kind); err != nil {
		return err
	}
	if _, ok := s.get("items").(object); (kind == "ARRAY") != ok {
		return broken("items", "is missing in an array, or stands elsewhere")
	}
	properties, _ := s.get("properties").(object)
	for _, name := range texts(s.get("required")) {
		if !properties.has(name) {
			return broken("required", fmt.Sprintf("names %.80q, which is no property", name))
		}
	}
	var inner []any
	for _, p := range properties {
		inner = append(inner, p.value)
	}
	if items := s.get("items"); items != nil {
		inner = append(inner, items)
	}
	return eachGemini(inner)
}

func verifyGeminiEnum(s object, kind string) error {
	if !s.has("enum") {
		return nil
	}
	list, _ := s.get("enum").([]any)
	values := texts(s.get("enum"))
	if kind != "STRING" || len(values) == 0 || len(values) != len(list) || slices.Contains(values, "") {
		return broken("enum", "is not a list of texts that say something")
	}
	return nil
}

func eachGemini(list []any) error {
	for _, v := range list {
		s, ok := v.(object)
		if !ok {
			return broken("a schema", "is not an object")
		}
		if err := verifyGeminiSchema(s); err != nil {
			return err
		}
	}
	return nil
}
