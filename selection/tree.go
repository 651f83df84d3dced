package selection

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object whose members keep their order: models read a schema from its beginning.
type object []member

type member struct {
	key   string
	value any // object, []any, string, json.Number, bool or nil
}

func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func (o object) has(key string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.key == key })
}

// with returns o with a member set, in its place if it has one.
func (o object) with(key string, value any) object {
	for i, m := range o {
		if m.key == key {
			o = slices.Clone(o)
			o[i].value = value
			return o
		}
	}
	return append(slices.Clip(o), member{key, value})
}

// without returns o without some members.
func (o object) without(keys ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return slices.Contains(keys, m.key) })
}

var errInvalid = errors.New("not one JSON value")

// parse reads JSON; of equal keys the last wins.
func parse(raw []byte) (any, error) {
	if !json.Valid(raw) { // which also bounds how deep it is
		return nil, errInvalid
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := parseValue(dec)
	if err != nil {
		return nil, err
	}
	return v, nil
}

func parseValue(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := object{}
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
			o = o.put(name, v)
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

// put is with for an object that nobody else holds.
func (o object) put(key string, value any) object {
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	return append(o, member{key, value})
}

// write appends a value as compact JSON.
func write(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(writeText(b, m.key), ':')
			b = write(b, m.value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = write(b, e)
		}
		return append(b, ']')
	case string:
		return writeText(b, v)
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	case json.RawMessage:
		return append(b, v...)
	}
	return append(b, "null"...)
}

// writeText quotes a string without escaping what only HTML minds.
func writeText(b []byte, s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil { // a string always encodes
		return append(b, `""`...)
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// at finds what a local reference, as "#/$defs/name", points to in a document.
func at(root any, ref string) (any, bool) {
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
		case object:
			if !in.has(part) {
				return nil, false
			}
			v = in.get(part)
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

// texts returns the strings of a list; anything else has none.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func listOf(names []string) []any {
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = n
	}
	return out
}
