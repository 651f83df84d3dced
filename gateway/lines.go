package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lineReader reads lines of bounded length. A longer line is read past without being kept.
type lineReader struct {
	r     *bufio.Reader
	limit int
	skip  int // what is longer than this has no end; zero means that there is no such length
}

func newLineReader(r io.Reader, limit, skip int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), limit: limit, skip: skip}
}

// oversizedMessage tells of a line, or a body, that was too long to keep.
type oversizedMessage struct {
	size int
	ids  idScanner // has read all of it
}

// maxSkipped bounds how much is read of a message that is too long, to tell whom it was for and to go on after it. What
// is longer has no end: a pipe that somebody filled by mistake, or a small answer that unpacks to a very large one.
const maxSkipped = 256 << 20

var errEndless = errors.New("a message has no end")

// next returns the next line without its line break. The last line needs none; io.EOF comes after it. If the line was
// longer than the limit, it returns an oversize in its place, and errEndless if there was no end to it. The line's
// memory belongs to the caller.
func (l *lineReader) next() ([]byte, *oversizedMessage, error) {
	var line []byte
	var over *oversizedMessage
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case over != nil:
			if over.size += len(part); l.skip > 0 && over.size > l.skip {
				return nil, nil, errEndless
			}
			over.ids.write(part)
		case len(line)+len(part) > l.limit+1:
			over = &oversizedMessage{size: len(line) + len(part)}
			over.ids.write(line)
			over.ids.write(part)
			line = nil
		default:
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && len(line) == 0 && over == nil {
			return nil, nil, err
		}
		// An error after some bytes: they count as a line, and the next call meets the error again.
		return bytes.TrimRight(line, "\r\n"), over, nil
	}
}

// errorResponse makes the JSON-RPC response that stands in for an answer which was too long, so that only the call that
// it belonged to fails. It returns nil if no ID was found in it.
func (o *oversizedMessage) errorResponse(limit int) jsonrpc.Message {
	id, ok := o.ids.id()
	if !ok {
		return nil
	}
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
		Code: codeTooLarge, Message: fmt.Sprintf("the answer has %d bytes, more than the %d allowed", o.size, limit),
	}}
}

// codeTooLarge marks the errors made by errorResponse. It is in the range that JSON-RPC leaves to implementations.
const codeTooLarge = -32099

// idScanner finds the value of the top-level member "id" of a JSON object that passes by in pieces, without keeping it.
// What precedes the object's brace, such as the "data:" of an event, is ignored.
type idScanner struct {
	depth    int
	inString bool
	escaped  bool
	atKey    bool   // the string or value that comes next at depth 1 is a key
	key      []byte // last key at depth 1, at most a few bytes of it
	value    []byte // of "id"
	reading  bool   // the value of "id" is passing
	found    bool
}

const maxIDLength = 256

func (s *idScanner) write(p []byte) {
	for _, c := range p {
		if s.found {
			return
		}
		s.scanByte(c)
	}
}

// Write implements io.Writer.
func (s *idScanner) Write(p []byte) (int, error) {
	s.write(p)
	return len(p), nil
}

func (s *idScanner) scanByte(c byte) {
	switch {
	case s.inString:
		s.scanInside(c)
		return
	case s.depth == 0:
		if c == '{' {
			s.depth, s.atKey = 1, true
		}
		return
	}
	switch c {
	case '"':
		s.inString = true
		if s.depth == 1 && s.atKey {
			s.key = s.key[:0]
		}
		s.recordByte(c)
	case '{', '[':
		s.depth++
		s.reading = false // an ID is a number or a string
	case '}', ']':
		s.depth--
		s.endValue()
	case ',':
		s.endValue()
		if s.depth == 1 {
			s.atKey = true
		}
	case ':':
		if s.depth == 1 && s.atKey {
			s.atKey = false
			s.reading = string(s.key) == "id"
			s.value = s.value[:0]
		}
	default:
		s.recordByte(c)
	}
}

func (s *idScanner) scanInside(c byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inString = false
		s.recordByte(c)
		return
	}
	if s.depth == 1 && s.atKey && len(s.key) < 8 {
		s.key = append(s.key, c)
	}
	s.recordByte(c)
}

func (s *idScanner) recordByte(c byte) {
	if s.reading && len(s.value) < maxIDLength {
		s.value = append(s.value, c)
	}
}

func (s *idScanner) endValue() {
	if s.reading && s.depth <= 1 {
		s.found = true
	}
	s.reading = false
}

// id returns the ID if one was found.
func (s *idScanner) id() (jsonrpc.ID, bool) {
	var v any
	if !s.found || len(s.value) == maxIDLength || json.Unmarshal(s.value, &v) != nil || v == nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}
