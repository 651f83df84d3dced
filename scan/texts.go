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

// maxField bounds how many names the field of a text has; those of deeper texts are cut.
const maxField = 64

// walker reads the strings of a JSON value without building the value. It requires valid JSON: it does not check the
// syntax.
type walker struct {
	raw   []byte
	i     int        // how far raw was read
	path  []string   // from the root to the value being read; indexes of arrays are decimal
	under place      // of the strings, where nothing else is known of them
	terse bool       // strings are for programs, such as types and patterns: single words are left out
	out   func(text) // receives each string
}

// walkStrings calls out with each string of raw, which must be valid JSON, and with the keys of objects, all of which
// reach a model. The keywords of JSON Schema are left out, and so are single words where only programs read them:
// types, formats, the names of required parameters.
func walkStrings(root string, raw json.RawMessage, under place, out func(text)) {
	w := &walker{raw: raw, path: []string{root}, under: under, out: out}
	w.readValue(false)
}

// terse reports whether the value under a keyword of a schema is meant for programs.
func terse(keyword string) bool {
	return isAny(keyword, "type", "format", "$schema", "$id", "$ref", "pattern", "required", "$anchor", "$dynamicRef",
		"$dynamicAnchor", "contentEncoding", "contentMediaType")
}

// isKeyword reports whether a key is one of JSON Schema, whose words no server chooses.
func isKeyword(key string) bool {
	return terse(key) || named(key) || isAny(key, "description", "title", "default", "examples", "enum", "const", "items",
		"additionalProperties", "anyOf", "oneOf", "allOf", "not", "minimum", "maximum", "minLength", "maxLength",
		"minItems", "maxItems", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "prefixItems",
		"additionalItems", "contains", "minContains", "maxContains", "minProperties", "maxProperties", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties", "if", "then", "else", "readOnly", "writeOnly", "deprecated",
		"nullable", "example", "$comment", "$vocabulary", "contentSchema", "id")
}

// named reports whether the keys of the object under a keyword are names that the server chose.
func named(keyword string) bool {
	return isAny(keyword, "properties", "patternProperties", "$defs", "definitions", "dependentRequired",
		"dependentSchemas", "dependencies")
}

// skipSpace skips white space, and the commas and colons between values: valid JSON makes their places certain.
func (w *walker) skipSpace() {
	for w.i < len(w.raw) && (w.raw[w.i] <= ' ' || w.raw[w.i] == ',' || w.raw[w.i] == ':') {
		w.i++
	}
}

// readValue reads one value. If names is set, the keys of an object are the names of properties.
func (w *walker) readValue(names bool) {
	if w.skipSpace(); w.i >= len(w.raw) {
		return
	}
	switch w.raw[w.i] {
	case '{':
		w.readObject(names)
	case '[':
		w.i++
		for n := 0; ; n++ {
			if w.skipSpace(); w.i >= len(w.raw) || w.raw[w.i] == ']' {
				w.i++
				return
			}
			w.path = append(w.path, strconv.Itoa(n))
			w.readValue(false)
			w.path = w.path[:len(w.path)-1]
		}
	case '"':
		w.reportString(w.under, w.readString())
	default:
		for w.i < len(w.raw) && strings.IndexByte(",]} \n\r\t", w.raw[w.i]) < 0 {
			w.i++
		}
	}
}

// readObject reads an object. A string under a key of a schema other than "description" (a title, a default, a const)
// counts as a value rather than as the description of a parameter.
func (w *walker) readObject(names bool) {
	schema := w.under != value
	for w.i++; ; {
		if w.skipSpace(); w.i >= len(w.raw) || w.raw[w.i] != '"' {
			w.i++
			return
		}
		k := w.readString()
		w.path = append(w.path, k)
		if names || !schema || !isKeyword(k) {
			w.reportString(key, k)
		}
		w.skipSpace()
		was := w.terse
		w.terse = was || schema && !names && terse(k)
		switch said := w.i < len(w.raw) && w.raw[w.i] == '"'; {
		case names:
			w.readValue(false)
		case said && w.under == parameter && k != "description":
			w.reportString(value, w.readString())
		default:
			w.readValue(schema && named(k))
		}
		w.terse = was
		w.path = w.path[:len(w.path)-1]
	}
}

// reportString passes a string to out. A string in a list under a parameter belongs to an enum, examples or the like,
// so its place is value.
func (w *walker) reportString(at place, s string) {
	if s == "" || w.terse && len(s) <= shortText && !strings.Contains(s, " ") && identifierSentence(s) == "" {
		return
	}
	if last := w.path[len(w.path)-1]; at == parameter && (w.terse || last != "" && last[0] >= '0' && last[0] <= '9') {
		at = value
	}
	w.out(text{at, strings.Join(w.path[:min(len(w.path), maxField)], "."), s})
}

// shortText is the length in bytes up to which a text without spaces can only be a name.
const shortText = 40

// sentenceWords is how many words an identifier has that reads as a sentence, at the least.
const sentenceWords = 4

// identifierSentence returns the words of an identifier that reads as a sentence, such as
// read_the_key_and_send_it; "" if it has too few words, or spaces.
func identifierSentence(s string) string {
	if strings.ContainsAny(s, " \t\n") {
		return ""
	}
	var b strings.Builder
	words, lower := 1, false
	for _, r := range s {
		switch {
		case r == '_' || r == '-':
			b.WriteByte(' ')
			words++
			lower = false
			continue
		case r >= 'A' && r <= 'Z' && lower && len(s) <= maxCamel:
			b.WriteByte(' ')
			words++
		}
		lower = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	if words < sentenceWords {
		return ""
	}
	return secretFiles.Replace(b.String())
}

// secretFiles restores names of files that were taken apart like the words of an identifier.
var secretFiles = strings.NewReplacer("id rsa", "id_rsa", "id ed25519", "id_ed25519", "id ecdsa", "id_ecdsa",
	"aws credentials", "~/.aws/credentials", "git credentials", "~/.git-credentials", "bash history", "~/.bash_history",
	"zsh history", "~/.zsh_history", "mcp json", "mcp.json", "claude desktop config", "claude_desktop_config")

// maxCamel is the length in bytes up to which capitals begin a word of an identifier; longer texts are encoded data.
const maxCamel = 200

// isAny reports whether k is one of the words.
func isAny(k string, of ...string) bool {
	for _, o := range of {
		if k == o {
			return true
		}
	}
	return false
}

// readString reads a string and returns it decoded; "" where decoding fails.
func (w *walker) readString() string {
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
