package scan

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"tooldex/internal/orderedjson"
)

// place is the kind of place in a tool at which a text stands. Patterns are limited to some of them.
type place int

const (
	described place = iota // a title, summary or description of the tool itself
	parameter              // the description of a parameter
	value                  // an entry of an enum, a default, an example, and any other string
	key                    // the name of a parameter
	output                 // any string of the output schema
)

// text is one text of a tool with the place at which it stands.
type text struct {
	place place
	field string // as in JSON: "inputSchema.properties.note.description"
	text  string
}

// maxDepth bounds how deep strings of a schema may lie; deeper ones are skipped.
const maxDepth = 64

// walker reads the strings of a JSON value without building the value. It requires valid JSON: it does not check the
// syntax.
type walker struct {
	raw   []byte
	i     int        // how far raw was read
	path  []string   // from the root to the value being read; indexes of arrays are decimal
	under place      // of the strings, where nothing else is known of them
	out   func(text) // receives each string
}

// walk calls out with each string of raw, which must be valid JSON, and with the names of properties. Values of a
// schema that are not meant for readers, such as types and patterns, are left out.
func walk(root string, raw json.RawMessage, under place, out func(text)) {
	w := &walker{raw: raw, path: []string{root}, under: under, out: out}
	w.value(false)
}

// skipped reports whether the value under a key of a schema holds no text for a reader.
func skipped(key string) bool {
	switch key {
	case "type", "format", "$schema", "$id", "$ref", "pattern", "required", "$anchor", "$dynamicRef", "contentEncoding",
		"contentMediaType":
		return true
	}
	return false
}

// space skips white space, and the commas and colons between values: valid JSON makes their places certain.
func (w *walker) space() {
	for w.i < len(w.raw) && (w.raw[w.i] <= ' ' || w.raw[w.i] == ',' || w.raw[w.i] == ':') {
		w.i++
	}
}

// value reads one value. If names is set, the keys of an object are the names of properties.
func (w *walker) value(names bool) {
	if w.space(); w.i >= len(w.raw) {
		return
	}
	switch w.raw[w.i] {
	case '{':
		w.object(names)
	case '[':
		w.i++
		for n := 0; ; n++ {
			if w.space(); w.i >= len(w.raw) || w.raw[w.i] == ']' {
				w.i++
				return
			}
			w.path = append(w.path, strconv.Itoa(n))
			w.value(false)
			w.path = w.path[:len(w.path)-1]
		}
	case '"':
		w.tell(w.under, w.str())
	default:
		for w.i < len(w.raw) && strings.IndexByte(",]} \n\r\t", w.raw[w.i]) < 0 {
			w.i++
		}
	}
}

// object reads an object. A string under a key of a schema other than "description" (a title, a default, a const)
// counts as a value rather than as the description of a parameter.
func (w *walker) object(names bool) {
	schema := w.under != value
	for w.i++; ; {
		if w.space(); w.i >= len(w.raw) || w.raw[w.i] != '"' {
			w.i++
			return
		}
		k := w.str()
		w.path = append(w.path, k)
		w.space()
		switch said := w.i < len(w.raw) && w.raw[w.i] == '"'; {
		case names:
			w.tell(key, k)
			w.value(false)
		case schema && skipped(k):
			out := w.out
			w.out = func(text) {}
			w.value(false)
			w.out = out
		case said && w.under == parameter && k != "description":
			w.tell(value, w.str())
		default:
			w.value(schema && isAny(k, "properties", "patternProperties", "$defs", "definitions"))
		}
		w.path = w.path[:len(w.path)-1]
	}
}

// tell passes a string to out. A string in a list under a parameter belongs to an enum, examples or the like, so its
// place is value.
func (w *walker) tell(at place, s string) {
	if s == "" || len(w.path) > maxDepth {
		return
	}
	if last := w.path[len(w.path)-1]; at == parameter && last != "" && last[0] >= '0' && last[0] <= '9' {
		at = value
	}
	w.out(text{at, strings.Join(w.path, "."), s})
}

func isAny(k string, of ...string) bool {
	for _, o := range of {
		if k == o {
			return true
		}
	}
	return false
}

// str reads a string and returns it decoded; "" where decoding fails.
func (w *walker) str() string {
	in := w.raw[w.i:][:orderedjson.StringLen(w.raw[w.i:])]
	w.i += len(in)
	if len(in) < 2 {
		return ""
	}
	if bytes.IndexByte(in, '\\') < 0 && utf8.Valid(in) {
		return string(in[1 : len(in)-1])
	}
	var s string
	if json.Unmarshal(in, &s) != nil {
		return ""
	}
	return s
}
