package mcpsrv

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
)

// member is one key of a JSON object with its value as it was written.
type member struct {
	key   string
	value json.RawMessage
}

// object is a JSON object whose members keep their order and their bytes. A map would change both, and clients cache
// listings by their bytes.
type object []member

var errNotObject = errors.New("not a JSON object")

// parseObject reads exactly one JSON object. Values are not decoded.
func parseObject(raw []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if t != json.Delim('{') {
		return nil, errNotObject
	}
	o := object{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		o = append(o, member{key.(string), value}) // the decoder guarantees that a key is a string
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return nil, errors.New("more follows the JSON object")
	}
	return o, nil
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) { return o.bytes(), nil }

// bytes returns the object as compact JSON.
func (o object) bytes() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, encodeJSON(m.key)...)
		b = append(b, ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

// get returns the value of the first member with that key.
func (o object) get(key string) (json.RawMessage, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

// with returns a copy of o in which key has value. A new key goes to the end.
func (o object) with(key string, value json.RawMessage) object {
	out := make(object, 0, len(o)+1)
	found := false
	for _, m := range o {
		if m.key == key {
			m.value, found = value, true
		}
		out = append(out, m)
	}
	if !found {
		out = append(out, member{key, value})
	}
	return out
}

// without returns a copy of o without key.
func (o object) without(key string) object {
	out := make(object, 0, len(o))
	for _, m := range o {
		if m.key != key {
			out = append(out, m)
		}
	}
	return out
}

// encodeJSON writes v as JSON without escaping <, > and &: the escapes cost tokens, and schemas and texts are full of
// these characters. It returns null for what cannot be encoded, which no value built here is.
func encodeJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// compactJSON removes the white space between tokens, to save a model's tokens. It returns what is not JSON as it is.
func compactJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// jsonKind returns the JSON type of a value: object, array, string, number, boolean or null; "" for an empty one. It
// looks at the first character only.
func jsonKind(raw json.RawMessage) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// foldKey makes keys comparable across the spellings that models use: toolName, tool_name, tool-name.
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
		return r <= ' ' || r == 0x7f || r == 0x85 ||
			r == 0x2028 || r == 0x2029
	}), " ")
}
