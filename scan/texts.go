package scan

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"tooldex/internal/orderedjson"
)

// place says what kind of text one is.
type place int

const (
	described place = iota // what the tool says of itself: its description, its title
	parameter              // what it says of a parameter
	value                  // an entry of an enum, a default, an example, and all that is in no such place
	key                    // the name of a parameter
	output                 // of what it answers
)

// text is one text of a tool, and where it stands.
type text struct {
	place place
	field string // as in JSON: "inputSchema.properties.note.description"
	text  string
}

// maxDepth bounds how deep objects of a schema may lie; what is deeper is passed over.
const maxDepth = 64

// walker reads the strings of a JSON value without building it.
type walker struct {
	raw   []byte
	i     int
	path  []string
	under place // of all that is read
	out   func(text)
}

// walk calls out with each string of raw, which is valid JSON, and with the names of properties.
func walk(root string, raw json.RawMessage, under place, out func(text)) {
	w := &walker{raw: raw, path: []string{root}, under: under, out: out}
	w.value(false)
}

// skipped reports whether there is nothing for a reader under a key of a schema.
func skipped(key string) bool {
	switch key {
	case "type", "format", "$schema", "$id", "$ref", "pattern", "required", "$anchor", "$dynamicRef", "contentEncoding",
		"contentMediaType":
		return true
	}
	return false
}

func (w *walker) space() {
	for w.i < len(w.raw) && (w.raw[w.i] <= ' ' || w.raw[w.i] == ',' || w.raw[w.i] == ':') {
		w.i++
	}
}

// value reads one value. Names says that the keys of an object are names of properties.
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

// tell hands out a string. That of a list under a parameter is an enum, an example or the like.
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

// str reads a string.
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
