package mcpsrv

import (
	"encoding/json"
	"slices"
	"strings"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
	"tooldex/validate"
)

// The spellings, folded, under which models send the two parameters of invoke_tool.
var (
	nameKeys      = [...]string{"name", "toolname", "tool"}
	argumentsKeys = [...]string{"arguments", "args", "parameters", "params", "input"}
)

// maxNesting is how many times a model may name invoke_tool inside itself and still be understood.
const maxNesting = 4

// unwrapInvocation reads the arguments of invoke_tool and returns the name and the arguments of the tool to call. It
// accepts other spellings of the parameters, arguments in a string, arguments beside the name instead of below it, and
// invoke_tool inside itself. The name it returns is never invoke_tool's. With an error it may still return the name of
// the tool that was meant.
func (s *Server) unwrapInvocation(m metaTool, raw json.RawMessage) (string, json.RawMessage, error) {
	// Each round removes one invoke_tool around the real call.
	for range maxNesting {
		name, args, err := readInvocation(raw)
		if err != nil {
			return name, nil, err
		}
		if inner, ok := s.metaTool(name); !ok || inner.Name != m.Name {
			return name, args, nil
		}
		raw = args
	}
	return "", nil, invalidInvocation("name", "is "+m.Name+" itself")
}

// readInvocation reads one level of invoke_tool's arguments. Where several spellings are present, the order of nameKeys
// and argumentsKeys decides. Members beside the name count as arguments if there are no others.
func readInvocation(raw json.RawMessage) (string, json.RawMessage, error) {
	raw, err := objectArguments(raw)
	if err != nil {
		return "", nil, err
	}
	o, err := orderedjson.ParseObject(raw)
	if err != nil {
		return "", nil, invalidInvocation("arguments", err.Error())
	}
	nameKey, hasName := findSpelling(o, nameKeys[:], func(v json.RawMessage) bool {
		return orderedjson.Kind(v) == "string"
	})
	argsKey, hasArgs := findSpelling(o, argumentsKeys[:], holdsObject)
	if !hasName && hasArgs { // {"arguments": {"name": …, "arguments": …}}
		inner, _ := o.Lookup(argsKey)
		inner, err = objectArguments(inner)
		if o, err2 := orderedjson.ParseObject(inner); err == nil && err2 == nil {
			if _, ok := findSpelling(o, nameKeys[:], func(v json.RawMessage) bool {
				return orderedjson.Kind(v) == "string"
			}); ok {
				return readInvocation(inner)
			}
		}
	}
	if !hasName {
		return "", nil, invalidInvocation("name", "is missing or not a string")
	}
	var name string
	value, _ := o.Lookup(nameKey)
	if json.Unmarshal(value, &name) != nil || strings.TrimSpace(name) == "" {
		return "", nil, invalidInvocation("name", "is empty")
	}
	rest := o.Without(nameKey)
	// Members beside the name are the arguments. A member "arguments" of another type is a mistake, unless it is null
	// or empty.
	if !hasArgs {
		if value, ok := rest.Lookup("arguments"); ok && len(rest) == 1 && orderedjson.Kind(value) != "null" &&
			string(value) != `""` {
			return name, nil, invalidInvocation("arguments", "is not an object")
		}
		if value, ok := rest.Lookup("arguments"); ok && (orderedjson.Kind(value) == "null" || string(value) == `""`) {
			rest = rest.Without("arguments")
		}
		return name, rest.Bytes(), nil
	}
	value, _ = rest.Lookup(argsKey)
	args, err := objectArguments(value)
	if err != nil {
		return name, nil, err
	}
	if rest = rest.Without(argsKey); len(rest) > 0 && orderedjson.Compact(args) == "{}" {
		args = rest.Bytes()
	}
	return name, args, nil
}

// invalidInvocation returns the Invalid error about a parameter of invoke_tool itself, with the right form as its hint.
func invalidInvocation(field, what string) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "call", Msg: field + " of " + invokeName + " " + what,
		Hint: `give {"name": "a tool's name", "arguments": {…}}`,
	}
}

// findSpelling returns the first member of o whose folded key is in keys and whose value is wanted.
func findSpelling(o object, keys []string, wanted func(json.RawMessage) bool) (string, bool) {
	for _, key := range keys {
		for _, m := range o {
			if foldKey(m.Key) == key && wanted(m.Value) {
				return m.Key, true
			}
		}
	}
	return "", false
}

// holdsObject reports whether v is an object, or a string that holds one.
func holdsObject(v json.RawMessage) bool {
	switch orderedjson.Kind(v) {
	case "object":
		return true
	case "string":
		var text string
		return json.Unmarshal(v, &text) == nil && orderedjson.Kind(json.RawMessage(text)) == "object" &&
			json.Valid([]byte(text))
	}
	return false
}

// objectArguments returns arguments as an object. Missing arguments and null become {}, and a string that holds an
// object becomes that object. Any other value is an Invalid error.
func objectArguments(raw json.RawMessage) (json.RawMessage, error) {
	switch orderedjson.Kind(raw) {
	case "", "null":
		return json.RawMessage("{}"), nil
	case "object":
		return raw, nil
	case "string":
		var text string
		if json.Unmarshal(raw, &text) == nil {
			if text = strings.TrimSpace(text); text == "" {
				return json.RawMessage("{}"), nil
			}
			if holdsObject(raw) {
				return json.RawMessage(text), nil
			}
		}
	}
	return nil, &tool.Error{
		Code: tool.Invalid, Op: "call", Msg: "arguments is not an object but " + orderedjson.Kind(raw),
		Hint: "give an object, {} if there are none",
	}
}

// forgiveSpelling returns arguments that fit the schema: args unchanged if they fit, otherwise the first likely
// correction that fits. It returns args and false if none does. A schema that cannot be checked accepts everything. A
// correction is applied only if the corrected arguments fit the schema, so that it cannot change the meaning of
// arguments that were right.
func forgiveSpelling(checker *validate.Schema, schema, args json.RawMessage) (json.RawMessage, bool) {
	if checker.Check(args) == nil {
		return args, true
	}
	for _, candidate := range likelyArguments(schema, args) {
		if checker.Check(candidate) == nil {
			return candidate, true
		}
	}
	return args, false
}

// likelyArguments returns what a model may have meant by arguments that do not fit, the smallest change first. Types
// are corrected only where the schema states them plainly; nesting is undone by one level.
func likelyArguments(schema, args json.RawMessage) []json.RawMessage {
	o, err := orderedjson.ParseObject(args)
	if err != nil {
		return nil
	}
	types := propertyTypes(schema)
	var out []json.RawMessage
	if c, changed := coerceArguments(o, types); changed {
		out = append(out, c.Bytes())
	}
	// One level too deep: {"arguments": {…}}, perhaps with the tool's name beside it.
	key, ok := findSpelling(o, argumentsKeys[:], holdsObject)
	_, named := findSpelling(o, nameKeys[:], func(v json.RawMessage) bool { return orderedjson.Kind(v) == "string" })
	if ok && (len(o) == 1 || len(o) == 2 && named) {
		value, _ := o.Lookup(key)
		inner, err := objectArguments(value)
		if err != nil {
			return out
		}
		out = append(out, inner)
		if o, err := orderedjson.ParseObject(inner); err == nil {
			if c, changed := coerceArguments(o, types); changed {
				out = append(out, c.Bytes())
			}
		}
	}
	return out
}

// property is the part of a parameter's schema that coerceArguments uses.
type property struct {
	types    []string // empty if the schema does not state them plainly
	required bool
}

// propertyTypes reads the properties of a schema, by name. It returns nil for a schema that it cannot read.
func propertyTypes(schema json.RawMessage) map[string]property {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	out := make(map[string]property, len(s.Properties))
	for name, raw := range s.Properties {
		var p struct {
			Type stringList `json:"type"`
		}
		if json.Unmarshal(raw, &p) == nil {
			out[name] = property{p.Type, slices.Contains(s.Required, name)}
		}
	}
	return out
}

// coerceArguments corrects the values whose type plainly differs from the schema's: JSON in a string, a number or
// boolean where a string is wanted, one value where a list is wanted, and null for an optional property, which it
// drops. Digits stay as they were written. It reports whether it changed anything.
func coerceArguments(o object, types map[string]property) (object, bool) {
	out := make(object, 0, len(o))
	changed := false
	for _, m := range o {
		p, known := types[m.Key]
		if !known || len(p.types) == 0 || p.acceptsValue(m.Value) {
			out = append(out, m)
			continue
		}
		// many models send null for what they leave out
		if orderedjson.Kind(m.Value) == "null" && !p.required {
			changed = true
			continue
		}
		if value, ok := p.coerceValue(m.Value); ok {
			m.Value, changed = value, true
		}
		out = append(out, m)
	}
	return out, changed
}

// acceptsValue reports whether v has one of the property's types. Every number counts as an integer, since the schema
// is checked after the repair.
func (p property) acceptsValue(v json.RawMessage) bool {
	k := orderedjson.Kind(v)
	return slices.Contains(p.types, k) || k == "number" && slices.Contains(p.types, "integer")
}

// coerceValue converts v to one of the property's types. It reports false if no conversion is obvious.
func (p property) coerceValue(v json.RawMessage) (json.RawMessage, bool) {
	var text string
	switch orderedjson.Kind(v) {
	case "string":
		// the bytes of the string become the value, so that large numbers keep their digits
		if json.Unmarshal(v, &text) == nil && json.Valid([]byte(text)) && p.acceptsValue(json.RawMessage(text)) {
			return json.RawMessage(strings.TrimSpace(text)), true
		}
	case "number", "boolean":
		if slices.Contains(p.types, "string") {
			return orderedjson.Encode(string(v)), true
		}
	}
	if slices.Contains(p.types, "array") {
		return slices.Concat(json.RawMessage("["), v, json.RawMessage("]")), true
	}
	return nil, false
}
