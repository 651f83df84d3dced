package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lineReader reads lines of bounded length. It skips a longer line without keeping it. Only one goroutine may use it.
type lineReader struct {
	r *bufio.Reader
	messageBounds
	held heldBytes // of the last line
}

// messageBounds are those of the messages of one connection.
type messageBounds struct {
	limit int          // bytes of a message that is kept
	skip  int          // a line that is longer than this is given up; zero means no limit
	room  *messageRoom // nil for messages that do not count
}

// newLineReader returns a reader of r. Its buffer is 64 KiB, the size of a pipe on Linux.
func newLineReader(r io.Reader, bounds messageBounds) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, freeMessage), messageBounds: bounds}
}

// oversizedMessage describes a line, or a body, that was too long to keep.
type oversizedMessage struct {
	size   int
	ids    idScanner // has read all of it
	noRoom bool      // it was not too long in itself, but messages of servers held too much
}

// log reports the message to an operator.
func (o *oversizedMessage) log(logger *slog.Logger, limit int) {
	if o.noRoom {
		logger.Warn("upstream message found no room beside others", "bytes", o.size)
		return
	}
	logger.Warn("upstream message too long", "bytes", o.size, "limit", limit)
}

// maxSkipped bounds how much is read of a message that is too long, in bytes. Reading on finds the ID in it, and the
// next message after it. What is longer is treated as endless: a pipe filled by mistake, or a small answer that unpacks
// to a very large one.
const maxSkipped = 256 << 20

// errEndless ends a stream in which a message exceeds the bytes that may be skipped.
var errEndless = errors.New("a message has no end")

// nextLine returns the next line without its line break. The last line needs none; io.EOF comes after it. For a line
// longer than the limit it returns an oversizedMessage instead, or errEndless if the line exceeds skip. The line's
// memory belongs to the caller, and counts as held until the next call, unless the caller takes l.held.
func (l *lineReader) nextLine() ([]byte, *oversizedMessage, error) {
	var over *oversizedMessage
	line := messageBuffer{held: heldBytes{room: l.room}}
	l.held.end()
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case over != nil:
			if over.size += len(part); l.skip > 0 && over.size > l.skip {
				return nil, nil, errEndless
			}
			over.ids.write(part)
		case len(line.data)+len(part) > l.limit+1:
			over = line.give(part, false)
		case !line.add(part, l.limit+1):
			over = line.give(part, true)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && len(line.data) == 0 && over == nil {
			return nil, nil, err
		}
		// An error after some bytes: they count as a line, and the next call meets the error again.
		text := bytes.TrimRight(line.bytes(), "\r\n")
		l.held = line.held.take()
		return text, over, nil
	}
}

// errorResponse returns a JSON-RPC error in place of an answer that was too long, so that only its own call fails. It
// returns nil if the answer held no ID.
func (o *oversizedMessage) errorResponse(limit int) jsonrpc.Message {
	id, ok := o.ids.foundID()
	if !ok {
		return nil
	}
	if o.noRoom {
		return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: codeNoRoom, Message: fmt.Sprintf(
			"the answer, of %d bytes, found no room beside other messages of servers", o.size)}}
	}
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
		Code: codeTooLarge, Message: fmt.Sprintf("the answer has %d bytes, more than the %d allowed", o.size, limit),
	}}
}

// codeTooLarge marks the errors made by errorResponse. It is in the range that JSON-RPC leaves to implementations.
const codeTooLarge = -32099

// codeNoRoom marks those of them for which messages of servers held too much. So does it.
const codeNoRoom = -32097

// idScanner finds the value of the top-level member "id" of a JSON object that it is given in pieces, in constant
// memory. It ignores what precedes the object's brace, such as the "data:" of an event. It does not validate the JSON.
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

// maxIDLength is the longest ID that is found, in bytes of JSON. A longer one counts as missing.
const maxIDLength = 256

// write scans the next bytes of a message. Those after the ID are ignored.
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

// scanByte consumes one byte outside of strings; scanInside those in them. Escapes in a key are not decoded, so an "id"
// that is written with them is not found.
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

// scanInside scans a byte within a string. Of a key only the first eight bytes are kept, enough to recognise "id".
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

// recordByte keeps a byte of the value of "id".
func (s *idScanner) recordByte(c byte) {
	if s.reading && len(s.value) < maxIDLength {
		s.value = append(s.value, c)
	}
}

// endValue ends the value of "id", if that was being read. The scan is complete then.
func (s *idScanner) endValue() {
	if s.reading && s.depth <= 1 {
		s.found = true
	}
	s.reading = false
}

// foundID returns the ID. ok is false if there was none, or one that is no number or string.
func (s *idScanner) foundID() (jsonrpc.ID, bool) {
	var v any
	if !s.found || len(s.value) == maxIDLength || json.Unmarshal(s.value, &v) != nil || v == nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}
