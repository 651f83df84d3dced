package tool

import "fmt"

// The bounds of JSON that comes from outside. Both are far above what honest messages have. What they keep out is small on the wire
// and large once it is decoded: a byte or two a value becomes forty.
const (
	MaxDepth  = 200     // lists and objects within each other
	MaxValues = 250_000 // values of a request: members of lists and objects, and keys
)

// CheckJSON returns an Invalid error for JSON that is nested deeper than depth or has more than values members and elements. It reads
// the text once and keeps nothing of it. Text that is not JSON gets an error or none: whoever decodes it will say what is wrong.
func CheckJSON(b []byte, depth, values int) error {
	level, count := 0, 0
	quoted, escaped := false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			count++
			if level++; level > depth {
				return &Error{Code: Invalid, Op: "read json", Msg: fmt.Sprintf("the JSON is nested more than %d deep", depth)}
			}
		case c == '}' || c == ']':
			level--
		case c == ',' || c == ':':
			count++
		}
		if count > values {
			return &Error{Code: Invalid, Op: "read json", Msg: fmt.Sprintf("the JSON holds more than %d values", values), Hint: "send less at a time"}
		}
	}
	return nil
}
