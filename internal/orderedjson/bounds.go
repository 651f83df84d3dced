package orderedjson

import (
	"bytes"
	"fmt"

	"tooldex/tool"
)

// The limits of JSON from outside. Both are far above what honest messages need. They keep out JSON that is small on
// the wire and large once it is decoded: a value of a byte or two takes forty in memory.
const (
	MaxDepth  = 200     // lists and objects within each other
	MaxValues = 250_000 // values of a request: members of lists and objects, and keys
)

// CheckBounds returns an Invalid error for JSON that is nested deeper than depth or has more than values members and
// elements. It reads b once and allocates nothing. For text that is not JSON it may or may not return an error:
// decoding it will.
func CheckBounds(b []byte, depth, values int) error {
	level, count := 0, 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += StringLen(b[i:]) - 1
		case '{', '[':
			count++
			if level++; level > depth {
				return &tool.Error{
					Code: tool.Invalid, Op: "read json",
					Msg: fmt.Sprintf("the JSON is nested more than %d deep", depth),
				}
			}
		case '}', ']':
			level--
		case ',', ':':
			count++
		}
		if count > values {
			return &tool.Error{
				Code: tool.Invalid, Op: "read json", Msg: fmt.Sprintf("the JSON holds more than %d values", values),
				Hint: "send less at a time",
			}
		}
	}
	return nil
}

// StringLen returns the length in bytes of the JSON string at the beginning of b, with both quotation marks. If the
// string does not end, it is the length of b. The first byte is assumed to be a quotation mark.
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
