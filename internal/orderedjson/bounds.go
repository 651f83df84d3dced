package orderedjson

import (
	"bytes"
	"fmt"

	"tooldex/tool"
)

// The bounds of JSON that comes from outside. Both are far above what honest messages have. What they keep out is small
// on the wire and large once it is decoded: a byte or two a value becomes forty.
const (
	MaxDepth  = 200     // lists and objects within each other
	MaxValues = 250_000 // values of a request: members of lists and objects, and keys
)

// CheckBounds returns an Invalid error for JSON that is nested deeper than depth or has more than values members and
// elements. It reads the text once and keeps nothing of it. Text that is not JSON gets an error or none: whoever
// decodes it will say what is wrong.
func CheckBounds(b []byte, depth, values int) error {
	level, count := 0, 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += StringLen(b[i:]) - 1
		case '{', '[':
			count++
			if level++; level > depth {
				return &tool.Error{Code: tool.Invalid, Op: "read json", Msg: fmt.Sprintf("the JSON is nested more than %d deep",
					depth)}
			}
		case '}', ']':
			level--
		case ',', ':':
			count++
		}
		if count > values {
			return &tool.Error{Code: tool.Invalid, Op: "read json", Msg: fmt.Sprintf("the JSON holds more than %d values",
				values), Hint: "send less at a time"}
		}
	}
	return nil
}

// StringLen returns how many bytes the JSON string has that b begins with, both quotation marks included. It is all of
// b if the string does not end. The first byte is not looked at.
func StringLen(b []byte) int {
	for i := 1; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}
