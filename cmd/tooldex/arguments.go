package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tooldex/tool"
)

// parseArguments builds the arguments object of a call from key=value words. The parameter's type decides how a value
// is read: where the schema requires a string it stays one, elsewhere it is JSON if it parses as JSON. key:=value must
// be JSON. A key that is given twice makes a list.
func parseArguments(t *tool.Tool, words []string) (json.RawMessage, error) {
	types := map[string]string{}
	for _, p := range t.Parameters() {
		types[p.Name] = p.Type
	}
	values := map[string]any{}
	seen := map[string]int{}
	for _, w := range words {
		key, raw, ok := strings.Cut(w, "=")
		if !ok || key == "" {
			return nil, usageError{fmt.Sprintf("argument %q is not of the form key=value", w), "give key=value, " +
				"key:=JSON, or --json with the whole object"}
		}
		strict := strings.HasSuffix(key, ":")
		key = strings.TrimSuffix(key, ":")
		v, err := argumentValue(types[key], raw, strict)
		if err != nil {
			return nil, usageError{fmt.Sprintf("argument %s: %s is not JSON", key, raw), "quote it for the shell, or " +
				"use key=value for a string"}
		}
		seen[key]++
		values[key] = appendValue(values[key], v, seen[key])
	}
	for key, v := range values {
		if _, list := v.([]any); !list && seen[key] == 1 && strings.HasSuffix(types[key], "[]") {
			values[key] = []any{v}
		}
	}
	return json.Marshal(values)
}

// argumentValue reads one value for a parameter of a type as signatures write it, such as "string|null" or
// "integer[]". If strict, the value must be JSON, and that is the only error.
func argumentValue(typ, raw string, strict bool) (any, error) {
	alternatives := strings.Split(typ, "|")
	text := slices.ContainsFunc(alternatives, func(s string) bool { return s == "string" || strings.HasPrefix(s, `"`) })
	if !strict && (text || typ == "string[]" && !strings.HasPrefix(raw, "[")) {
		return raw, nil
	}
	var v json.RawMessage
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		if strict {
			return nil, err
		}
		return raw, nil
	}
	if strings.HasSuffix(typ, "[]") {
		var list []any
		if json.Unmarshal(v, &list) == nil {
			return list, nil
		}
	}
	return v, nil
}

// appendValue adds the nth value of a key to those before it. The first is kept bare, so that one value makes no list.
func appendValue(have, v any, n int) any {
	switch {
	case n == 1:
		return v
	case n == 2:
		return []any{have, v}
	}
	list, _ := have.([]any)
	return append(list, v)
}
