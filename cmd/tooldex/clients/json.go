package clients

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"tooldex/catalog/sources"
	"tooldex/internal/orderedjson"
)

// jsonPlain returns a text with comments, trailing commas and a byte order mark replaced by blanks. Every offset stays
// the same, so that positions found in it hold in text, which is not changed.
func jsonPlain(text []byte) []byte {
	out := sources.PlainJSON(text)
	if bytes.HasPrefix(out, bom) {
		copy(out, "   ")
	}
	return out
}

// bom is the byte order mark that some editors put before UTF-8.
var bom = []byte("\ufeff")

// jsonFind locates the object at a path, as far as the path exists: depth is the number of its steps that do. ok is
// false if a step leads to something that is no object. Of several members with the same key the last one counts, as
// for most parsers.
func jsonFind(plain []byte, path []string) (o orderedjson.Location, depth int, ok bool) {
	if o, ok = orderedjson.Locate(plain, 0); !ok {
		return o, 0, false
	}
	for depth, key := range path {
		i := o.Last(key)
		if i < 0 {
			return o, depth, true
		}
		if o, ok = orderedjson.Locate(plain, o.Members[i].Value); !ok {
			return o, depth, false
		}
	}
	return o, len(path), true
}

// jsonRemove removes all members of a key from the object at path, with their commas. A duplicate key is possible in
// JSON, hence the loop. Text without such a member is returned as it is.
func jsonRemove(text []byte, path []string, key string) []byte {
	for {
		o, depth, ok := jsonFind(jsonPlain(text), path)
		i := o.Last(key)
		if !ok || depth < len(path) || i < 0 {
			return text
		}
		m := o.Members[i]
		next := o.Close
		if i+1 < len(o.Members) {
			next = o.Members[i+1].Start
		}
		// The comma behind the member goes with it. A last member has none there, and the comma before it would then be
		// left over.
		if at := commaBetween(text, m.End, next); at >= 0 {
			text = slices.Delete(slices.Clone(text), at, at+1)
		} else if i > 0 {
			if at := commaBetween(text, o.Members[i-1].End, m.Start); at >= 0 {
				text = slices.Delete(slices.Clone(text), at, at+1)
				// the comma was before the member
				m.Start, m.End = m.Start-1, m.End-1
				if blanks, first := lineIndent(text, m.Start); !first {
					m.Start -= len(blanks)
				}
			}
		}
		text = cutPart(text, m.Start, m.End)
	}
}

// commaBetween returns the offset of the first comma between two offsets that is not within a comment, -1 if there is
// none. No string may begin between them.
func commaBetween(text []byte, from, to int) int {
	for i := from; i < to; i++ {
		if text[i] == ',' {
			return i
		}
		if text[i] != '/' || i+1 >= to {
			continue
		}
		stop := "\n"
		if text[i+1] == '*' {
			stop = "*/"
		}
		n := bytes.Index(text[i+2:to], []byte(stop))
		if n < 0 {
			return -1
		}
		i += 2 + n + len(stop) - 1
	}
	return -1
}

// cutPart removes a part of a text and the blanks around it, and its lines if nothing else stands on them. Blanks on
// both sides would otherwise leave trailing blanks or two blanks in a row.
func cutPart(text []byte, start, end int) []byte {
	from, to := start, end
	for from > 0 && isBlank(text[from-1]) {
		from--
	}
	for to < len(text) && isBlank(text[to]) {
		to++
	}
	lineStart := from == 0 || text[from-1] == '\n'
	lineEnd, after := endsLine(text, to)
	switch {
	case lineStart && lineEnd:
		return slices.Concat(text[:from], text[after:])
	case lineEnd:
		return slices.Concat(text[:from], text[to:])
	case text[to] == '}':
		return slices.Concat(text[:start], text[end:])
	}
	return slices.Concat(text[:start], text[to:])
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// endsLine reports whether a line ends at an offset, by LF, CR LF or the end of the text, and where the next begins.
func endsLine(text []byte, at int) (bool, int) {
	switch {
	case at == len(text):
		return true, at
	case text[at] == '\n':
		return true, at + 1
	case text[at] == '\r' && at+1 < len(text) && text[at+1] == '\n':
		return true, at + 2
	}
	return false, at
}

// jsonOpened replaces the first null on a path by {}, since clients write null for no servers. Other texts are returned
// as they are.
func jsonOpened(text []byte, path []string) []byte {
	plain := jsonPlain(text)
	o, ok := orderedjson.Locate(plain, 0)
	for _, key := range path {
		i := o.Last(key)
		if !ok || i < 0 {
			break
		}
		m := o.Members[i]
		if string(plain[m.Value:m.End]) == "null" {
			return slices.Concat(text[:m.Value], []byte("{}"), text[m.End:])
		}
		o, ok = orderedjson.Locate(plain, m.Value)
	}
	return text
}

// jsonInsert adds a member at the head of the object at path, which is made if it is missing, in the layout of the
// text. The value is encoded, or copied if it is a json.RawMessage. It reports false if the path leads through
// something that is no object.
func jsonInsert(text []byte, path []string, key string, value any) ([]byte, bool) {
	if len(bytes.TrimSpace(jsonPlain(text))) == 0 {
		text = slices.Concat(text, []byte("{}\n"))
	}
	text = jsonOpened(text, path)
	plain := jsonPlain(text)
	o, depth, ok := jsonFind(plain, path)
	if !ok {
		return nil, false
	}
	if depth < len(path) {
		// The missing objects are nested around the value and inserted as one member.
		for _, step := range slices.Backward(append(slices.Clone(path[depth+1:]), key)) {
			value = map[string]any{step: value}
		}
		key = path[depth]
	}
	s := jsonStyleOf(text)
	base := indentAt(text, o.Open)
	inner, at := base+s.unit, o.Open+1
	tail := s.newline + base // before the closing brace
	if len(o.Members) > 0 {
		at, tail = o.Members[0].Start, ""
		// A first member on the line of its brace means that the object is written on one line, whatever the rest of
		// the file looks like.
		if own, first := lineIndent(text, at); first {
			inner = own
		} else {
			s.flat = true
		}
	}
	member := s.member(inner, key, value)
	var add string
	switch {
	case len(o.Members) > 0 && s.flat:
		add = member + ", "
	case len(o.Members) > 0:
		add = member + "," + s.newline + inner
	case s.flat:
		add = member
	default:
		add = s.newline + inner + member
		// an empty object over several lines has its closing brace on a line already
		if rest := text[at:]; !bytes.ContainsAny(rest[:o.Close-at], "\n") {
			add += tail
		}
	}
	return slices.Concat(text[:at], []byte(add), text[at:]), true
}

// jsonStyle is the layout of a text: the blanks of one level, and LF or CR LF.
type jsonStyle struct {
	unit, newline string
	flat          bool // on one line
}

// jsonStyleOf guesses the layout from the first indented member. Two blanks and LF are the default.
func jsonStyleOf(text []byte) jsonStyle {
	s := jsonStyle{unit: "  ", newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	body := strings.TrimSpace(string(text))
	s.flat = len(body) > 2 && !strings.Contains(body, "\n")
	for line := range strings.SplitSeq(string(text), "\n") {
		rest := strings.TrimLeft(line, " \t")
		if indent := line[:len(line)-len(rest)]; indent != "" && strings.HasPrefix(rest, `"`) {
			s.unit = indent
			break
		}
	}
	return s
}

// member returns a member for a line with an indentation, which the further lines of its value get, too.
func (s jsonStyle) member(indent, key string, value any) string {
	name := encodeJSON(key, "", "")
	if raw, ok := value.(json.RawMessage); ok {
		return name + ": " + string(raw)
	}
	if s.flat {
		return name + ": " + encodeJSON(value, "", "")
	}
	return name + ": " + strings.ReplaceAll(encodeJSON(value, indent, s.unit), "\n", s.newline)
}

// encodeJSON returns a value as JSON. Callers pass only values that can be encoded.
func encodeJSON(value any, prefix, unit string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	// so that < > & in arguments and URLs stay readable
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, unit)
	if err := enc.Encode(value); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// lineIndent returns the blanks before an offset, and whether its line begins with them.
func lineIndent(text []byte, at int) (string, bool) {
	from := at
	for from > 0 && isBlank(text[from-1]) {
		from--
	}
	return string(text[from:at]), from == 0 || text[from-1] == '\n'
}

// indentAt returns the indentation of the line that an offset is on.
func indentAt(text []byte, at int) string {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	rest := bytes.TrimPrefix(text[start:at], bom)
	return string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))])
}
