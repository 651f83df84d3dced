package eval

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds one line of a JSON lines file, so that a file that is something else ends in an error, not in all
// memory.
const maxLine = 16 << 20

// eachLine calls fn with every line of r that is not blank, counted from 1. The bytes are good until fn returns.
func eachLine(r io.Reader, file string, fn func(line int, b []byte) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	line := 0
	for sc.Scan() {
		line++
		b := sc.Bytes()
		if line == 1 {
			b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
		}
		if b = bytes.TrimSpace(b); len(b) == 0 {
			continue
		}
		if err := fn(line, b); err != nil {
			return err
		}
	}
	switch err := sc.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, bufio.ErrTooLong):
		return badLine(file, line+1, "line is longer than 16 MiB", "write one JSON object a line", nil)
	default:
		return badLine(file, line+1, "line cannot be read", "", err)
	}
}
