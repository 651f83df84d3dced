package sources

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"tooldex/tool"
)

// The functions of this file split JSON without copying it, so that schemas keep their bytes. They expect JSON that was
// found valid as a whole, and are then several times faster than decoding it.

// span is a value of a file: its bytes, and their offset in the file.
type span struct {
	raw []byte
	off int
}

// eachMember calls fn with the members of an object in order, until it fails. Other values have none.
func (s span) eachMember(fn func(key string, value span) error) error {
	b := s.raw
	i := skipBlanks(b, 0)
	if i >= len(b) || b[i] != '{' {
		return nil
	}
	for i = skipBlanks(b, i+1); i < len(b) && b[i] == '"'; i = skipBlanks(b, i+1) {
		end := valueEnd(b, i)
		key := unquoteString(b[i:end])
		i = skipBlanks(b, skipBlanks(b, end)+1) // behind the colon
		if end = valueEnd(b, i); end <= i {
			return nil
		}
		if err := fn(key, span{b[i:end:end], s.off + i}); err != nil {
			return err
		}
		if i = skipBlanks(b, end); i >= len(b) || b[i] != ',' {
			return nil
		}
	}
	return nil
}

// eachElement calls fn with the elements of an array in order, until it fails. Other values have none.
func (s span) eachElement(fn func(value span) error) error {
	b := s.raw
	i := skipBlanks(b, 0)
	if i >= len(b) || b[i] != '[' {
		return nil
	}
	for i = skipBlanks(b, i+1); i < len(b) && b[i] != ']'; i = skipBlanks(b, i+1) {
		end := valueEnd(b, i)
		if end <= i {
			return nil
		}
		if err := fn(span{b[i:end:end], s.off + i}); err != nil {
			return err
		}
		if i = skipBlanks(b, end); i >= len(b) || b[i] != ',' {
			return nil
		}
	}
	return nil
}

// kind returns the first byte of the value, which is one of { [ " t f n or of a number; 0 if there is none.
func (s span) kind() byte {
	if i := skipBlanks(s.raw, 0); i < len(s.raw) {
		return s.raw[i]
	}
	return 0
}

// skipBlanks returns the offset of the first byte from i on that is not white space.
func skipBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd returns the offset behind the value that begins at i.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i // of what holds the value
			}
			depth--
			i++
		default:
			if depth > 0 {
				i++
				continue
			}
			for i < len(b) && !bytes.ContainsRune([]byte(" \n\t\r,:]}"), rune(b[i])) {
				i++
			}
			return i
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

// stringEnd returns the offset behind the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// unquoteString decodes a JSON string, and returns "" for anything else.
func unquoteString(b []byte) string {
	if n := len(b); n >= 2 && bytes.IndexByte(b, '\\') < 0 && b[0] == '"' {
		return string(b[1 : n-1])
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		return ""
	}
	return s
}

// document is a file while it is being read.
type document struct {
	path string
	data []byte
}

// baseName returns the file's name without folder and extension, which is the server of a dump.
func (d *document) baseName() string {
	name := filepath.Base(d.path)
	return name[:len(name)-len(filepath.Ext(name))]
}

// lineAt returns the number of the line, from 1, that contains an offset.
func (d *document) lineAt(off int) int {
	return 1 + bytes.Count(d.data[:min(max(off, 0), len(d.data))], []byte("\n"))
}

// invalidAt returns an Invalid error at a line of the file; line 0 means the file as a whole.
func (d *document) invalidAt(line int, err error, hint, format string, args ...any) error {
	at := d.path
	if line > 0 {
		at = fmt.Sprintf("%s:%d", d.path, line)
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "read file", Msg: at + ": " + fmt.Sprintf(format, args...), Hint: hint,
		Err: err,
	}
}

// checkJSON checks that the file is JSON. If comments and trailing commas, which some clients write, are all that is
// wrong, they are replaced by blanks in d.data.
func (d *document) checkJSON() error {
	if json.Valid(d.data) {
		return nil
	}
	if relaxed := blankComments(d.data); json.Valid(relaxed) {
		d.data = relaxed
		return nil
	}
	var whole json.RawMessage
	err := json.Unmarshal(d.data, &whole)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		off := int(syntax.Offset)
		return d.invalidAt(d.lineAt(off-1), err, "a JSON checker shows what is missing or too much there",
			"malformed JSON at byte %d", off)
	}
	return d.invalidAt(0, err, "", "malformed JSON")
}

// blankComments returns a copy of b with comments and trailing commas replaced by blanks, so that offsets stay the
// same.
func blankComments(b []byte) []byte {
	out := bytes.Clone(b)
	comma := -1 // of the last comma, if only blanks follow it so far
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			comma, i = -1, stringEnd(out, i)
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := commentEnd(out, i)
			for ; i < end; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		case c == ',':
			comma = i
			i++
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
			i++
		default:
			if skipBlanks(out, i) == i {
				comma = -1
			}
			i++
		}
	}
	return out
}

// commentEnd returns the offset behind the comment that begins at i; a line break is not part of it.
func commentEnd(b []byte, i int) int {
	stop, behind := "\n", 0
	if b[i+1] == '*' {
		stop, behind = "*/", 2
	}
	n := bytes.Index(b[i+2:], []byte(stop))
	if n < 0 {
		return len(b)
	}
	return i + 2 + n + behind
}

// PlainJSON returns a copy of JSON as editors accept it without its comments and trailing commas. Blanks replace them,
// so that every offset stays the same.
func PlainJSON(b []byte) []byte { return blankComments(b) }
