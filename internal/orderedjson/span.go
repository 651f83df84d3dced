package orderedjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Span is the position of a member of an object in a text, in bytes. The key begins at Start, with its quotation mark;
// the value begins at Value, and ends before End.
type Span struct {
	Key               string
	Start, Value, End int
}

// Members returns the positions of the members of a JSON object, without parsing their values. It is many times faster
// than decoding. It returns nil if obj is no object. The result for invalid JSON is meaningless.
func Members(obj []byte) []Span {
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return nil
	}
	out := []Span{}
	for i = skipSpace(obj, i+1); i < len(obj) && obj[i] == '"'; {
		end := i + StringLen(obj[i:])
		if end < i+2 {
			return nil
		}
		m := Span{Key: string(obj[i+1 : end-1]), Start: i}
		if (bytes.IndexByte(obj[i:end], '\\') >= 0 || !utf8.Valid(obj[i:end])) &&
			json.Unmarshal(obj[i:end], &m.Key) != nil {
			return nil
		}
		m.Value = skipSpace(obj, skipSpace(obj, end)+1) // after the colon
		if m.Value >= len(obj) {
			return nil
		}
		m.End = valueEnd(obj, m.Value)
		out = append(out, m)
		if i = skipSpace(obj, m.End); i < len(obj) && obj[i] == ',' {
			i = skipSpace(obj, i+1)
		}
	}
	return out
}

// Find returns the value of the last member of this name, which is the one that decoders use. The object must be valid.
// The value shares memory with obj.
func Find(obj []byte, key string) (raw json.RawMessage, ok bool) {
	for _, m := range Members(obj) {
		if m.Key == key {
			raw, ok = obj[m.Value:m.End], true
		}
	}
	return raw, ok
}

// Remove returns a valid object without the members of this name. The other bytes stay the same. It does not change
// obj, and returns obj itself if it has no such member.
func Remove(obj []byte, key string) []byte {
	for {
		list := Members(obj)
		at := -1
		for i, m := range list {
			if m.Key == key {
				at = i
			}
		}
		if at < 0 {
			return obj
		}
		from, to := bytes.IndexByte(obj, '{')+1, list[at].End
		switch {
		case at > 0:
			from = list[at-1].End
		case len(list) > 1: // the comma that separates it follows
			to += 1 + bytes.IndexByte(obj[to:], ',')
		}
		obj = append(bytes.Clone(obj[:from]), obj[to:]...)
	}
}

// Location is the position of an object in a text: the offsets of its braces and of its members, all from the beginning
// of the text.
type Location struct {
	Open, Close int
	Members     []Span
}

// Locate returns the position of the object that begins at an offset of text, after white space. It returns false if no
// valid object begins there. Text behind the object is not read.
func Locate(text []byte, at int) (Location, bool) {
	open := skipSpace(text, at)
	if open >= len(text) || text[open] != '{' {
		return Location{}, false
	}
	obj := text[open:valueEnd(text, open)]
	if !json.Valid(obj) {
		return Location{}, false
	}
	o := Location{Open: open, Close: open + len(obj) - 1, Members: Members(obj)}
	for i := range o.Members {
		o.Members[i].Start += open
		o.Members[i].Value += open
		o.Members[i].End += open
	}
	return o, true
}

// Last returns the index of the last member of this name, which is the one that decoders use; -1 if there is none.
func (o Location) Last(key string) int {
	for i, m := range slices.Backward(o.Members) {
		if m.Key == key {
			return i
		}
	}
	return -1
}

// skipSpace returns the offset of the first character at or after i that is no white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd returns the offset behind the value that begins at i.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += StringLen(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default: // of a number or a word, or between values
			if depth > 0 || i+1 < len(b) && strings.IndexByte(" \t\r\n,]}", b[i+1]) < 0 {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(b)
}
