package orderedjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Member is one member of an Object.
type Member[V any] struct {
	Key   string
	Value V
}

// Object is a JSON object whose members keep their order. Its methods return copies and do not change the object.
// Values are shared with the copies.
type Object[V any] []Member[V]

// Raw is an object whose values are the bytes that were read, with the white space in them. [ParseObject] returns one.
type Raw = Object[json.RawMessage]

// Tree is an object whose values are Trees, []any, string, json.Number, bool, nil, or json.RawMessage, which is written
// unchanged. [Parse] returns one.
type Tree = Object[any]

// ParseObject parses exactly one JSON object, with nothing but white space around it. Members of the same name are all
// kept. The result shares no memory with raw.
func ParseObject(raw []byte) (Raw, error) {
	spans := Members(raw)
	if spans == nil || !json.Valid(raw) {
		if json.Valid(raw) {
			return nil, errors.New("not a JSON object")
		}
		return nil, json.Unmarshal(raw, new(json.RawMessage)) // which reports what is wrong
	}
	raw = bytes.Clone(raw) // the object must not change with the caller's buffer
	o := make(Raw, len(spans))
	for i, m := range spans {
		o[i] = Member[json.RawMessage]{m.Key, raw[m.Value:m.End:m.End]}
	}
	return o, nil
}

// Parse parses one JSON value into the types of a Tree. Of members of the same name, the last value is kept, at the
// place of the first.
func Parse(raw []byte) (any, error) {
	if !json.Valid(raw) { // which also bounds how deep it is
		return nil, errors.New("not one JSON value")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return parseValue(dec)
}

// parseValue reads the next value. Of equal keys the last value counts, at the place of the first, as encoding/json
// decodes them.
func parseValue(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := Tree{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := parseValue(dec)
			if err != nil {
				return nil, err
			}
			name, _ := key.(string) // a key is nothing else
			if i := o.indexOf(name); i >= 0 {
				o[i].Value = v
			} else {
				o = append(o, Member[any]{name, v})
			}
		}
		_, err = dec.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := parseValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	}
	return t, nil
}

// indexOf returns the index of the first member of this name, -1 if there is none.
func (o Object[V]) indexOf(key string) int {
	return slices.IndexFunc(o, func(m Member[V]) bool { return m.Key == key })
}

// Lookup returns the value of the first member of this name, and whether it exists.
func (o Object[V]) Lookup(key string) (V, bool) {
	if i := o.indexOf(key); i >= 0 {
		return o[i].Value, true
	}
	var none V
	return none, false
}

// Get returns the value of the first member of this name, nil if none exists.
func (o Object[V]) Get(key string) V {
	v, _ := o.Lookup(key)
	return v
}

// Has reports whether a member of this name exists.
func (o Object[V]) Has(key string) bool { return o.indexOf(key) >= 0 }

// With returns a copy with this value under key: it replaces the values of all members of that name, or is appended.
func (o Object[V]) With(key string, value V) Object[V] {
	out := slices.Clone(o)
	for i := range out {
		if out[i].Key == key {
			out[i].Value = value
		}
	}
	if !o.Has(key) {
		out = append(out, Member[V]{key, value})
	}
	return out
}

// Without returns a copy without the members of these names. It is never nil.
func (o Object[V]) Without(keys ...string) Object[V] {
	out := make(Object[V], 0, len(o))
	for _, m := range o {
		if !slices.Contains(keys, m.Key) {
			out = append(out, m)
		}
	}
	return out
}

// Bytes returns the object as compact JSON; raw values are written unchanged.
func (o Object[V]) Bytes() json.RawMessage { return Append(nil, o) }

// MarshalJSON writes the object with its members in order.
func (o Object[V]) MarshalJSON() ([]byte, error) { return o.Bytes(), nil }

func (o Object[V]) appendTo(b []byte) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(Append(b, m.Key), ':')
		b = Append(b, m.Value)
	}
	return append(b, '}')
}

// Append appends v as compact JSON. It does not escape <, > and &, as encoding/json does: the escapes cost a model
// tokens, and schemas and texts are full of them. What cannot be encoded is written as null.
func Append(b []byte, v any) []byte {
	switch v := v.(type) {
	case interface{ appendTo([]byte) []byte }:
		return v.appendTo(b)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = Append(b, e)
		}
		return append(b, ']')
	case json.RawMessage:
		if v == nil {
			return append(b, "null"...)
		}
		return append(b, v...)
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return append(b, "null"...)
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// Encode returns v as Append writes it.
func Encode(v any) json.RawMessage { return Append(nil, v) }

// Compact removes the white space between tokens. Text that is not JSON is returned unchanged.
func Compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// Kind returns the type of a JSON value by its first character: object, array, string, number, boolean or null; "" if
// raw is empty. It does not validate the value.
func Kind(raw json.RawMessage) string {
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

// Resolve returns the part of a value from Parse that a reference within the document, such as "#/$defs/name", points
// to. It returns false for references to other documents and for ones that point nowhere.
func Resolve(root any, ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	v := root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if part == "" {
			continue
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch in := v.(type) {
		case Tree:
			if v, ok = in.Lookup(part); !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Strings returns the strings in a list; other elements are skipped, and any other value has none.
func Strings(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// List returns names in the form of a list in a Tree.
func List(names []string) []any {
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = n
	}
	return out
}
