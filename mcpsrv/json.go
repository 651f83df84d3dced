package mcpsrv

import (
	"encoding/json"
	"strings"
	"unicode"

	"tooldex/internal/orderedjson"
)

// object is a JSON object whose members keep their order and their bytes.
type object = orderedjson.Raw

// member is one key of an object with its value as it was written.
type member = orderedjson.Member[json.RawMessage]

// jsonMember returns a member whose value is v, encoded.
func jsonMember(key string, v any) member { return member{Key: key, Value: orderedjson.Encode(v)} }

// joinArray returns a JSON array of values that are JSON already.
func joinArray(list []json.RawMessage) json.RawMessage {
	out := json.RawMessage("[")
	for i, raw := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return append(out, ']')
}

// foldKey returns a key in lower case without separators, so that the spellings of models compare equal: toolName,
// tool_name, tool-name.
func foldKey(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// oneLine collapses white space and control characters, so that text from a server cannot break out of its line of an
// answer.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029
	}), " ")
}
