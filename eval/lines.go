package eval

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds one line of a JSON lines file, so that a file of another kind ends in an error instead of filling
// memory.
const maxLine = 16 << 20

// eachLine calls fn with every line of r that is not blank, trimmed, counted from 1 with the blank ones. The bytes are
// valid until fn returns. A byte order mark is skipped. The error is that of fn, or Invalid with file and line.
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
