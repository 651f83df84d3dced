package gateway

import (
	"bytes"
	"io"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// eventFilter is the body of a stream of server-sent events. It passes on whole events, byte for byte, without those
// that the recorder keeps to itself. An error takes the place of an answer that is too long or broken. Only one
// goroutine may use it, as with any response body.
type eventFilter struct {
	body     io.Closer
	lines    *lineReader // its limit is that of one event, and of one line
	recorder *wireRecorder

	out []byte // what remains of the current event
	err error  // after it
}

// event is what stands between two empty lines.
type event struct {
	raw     []byte            // all lines as they came, with line breaks
	data    []byte            // the data lines, joined
	id      []byte            // the line that sets the event ID
	message bool              // its type is "message"
	size    int               // bytes of its lines, with their line breaks
	over    *oversizedMessage // set once it cannot be kept; raw and data are nil then
	held    heldBytes
}

// newEventFilter filters body, which Close closes.
func newEventFilter(body io.ReadCloser, bounds messageBounds, t *wireRecorder) *eventFilter {
	return &eventFilter{body: body, lines: newLineReader(body, bounds), recorder: t}
}

// Read implements io.Reader.
func (f *eventFilter) Read(p []byte) (int, error) {
	for len(f.out) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		var e *event
		e, f.err = f.nextEvent()
		f.out = f.filterEvent(e)
		e.held.end()
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}

// Close implements io.Closer.
func (f *eventFilter) Close() error { return f.body.Close() }

// nextEvent reads up to the next empty line. At the end of the stream it returns what came before, and the error. The
// event is never nil.
func (f *eventFilter) nextEvent() (*event, error) {
	e := &event{message: true}
	for {
		line, over, err := f.lines.nextLine()
		if err != nil {
			return e, err
		}
		if over == nil && len(line) == 0 {
			return e, nil
		}
		e.held.merge(&f.lines.held)
		e.addLine(line, over, f.lines.limit)
		if f.lines.skip > 0 && e.over != nil && e.over.size > f.lines.skip {
			return e, errEndless
		}
	}
}

// addLine appends one line. Once the event is larger than the limit, only its JSON-RPC ID is still looked for.
func (e *event) addLine(line []byte, over *oversizedMessage, limit int) {
	switch {
	case over != nil:
		if e.over != nil {
			over.size += e.over.size
		}
		e.over = over
		e.raw, e.data = nil, nil
		return
	case e.over != nil:
		e.over.size += len(line)
		e.over.ids.write(fieldValue(line))
		return
	}
	if e.size += len(line) + 1; e.size > limit {
		e.over = &oversizedMessage{size: e.size}
		e.over.ids.write(e.data)
		e.over.ids.write(fieldValue(line))
		e.raw, e.data = nil, nil
		return
	}
	e.raw = append(append(e.raw, line...), '\n')
	name, _, _ := bytes.Cut(line, []byte(":"))
	value := fieldValue(line)
	switch string(name) {
	case "data":
		if e.data == nil { // most events have one such line, which need not be copied
			e.data = slices.Clip(value)
			break
		}
		e.data = append(append(e.data, '\n'), value...)
	case "id":
		e.id = line
	case "event":
		e.message = string(value) == "message" || len(value) == 0
	}
}

// fieldValue returns what follows the first colon of a line, or nothing. White space around it is cut, which changes no
// JSON value.
func fieldValue(line []byte) []byte {
	_, value, _ := bytes.Cut(line, []byte(":"))
	return bytes.TrimSpace(value)
}

// filterEvent returns the bytes of an event that the SDK is to see, or nil if it is to see none.
func (f *eventFilter) filterEvent(e *event) []byte {
	if e.over != nil {
		e.over.log(f.recorder.logger, f.lines.limit)
		return replaceData(e, e.over.errorResponse(f.lines.limit))
	}
	if len(e.raw) == 0 {
		return nil
	}
	if e.message && len(e.data) > 0 {
		msg, err := decodeMessage(e.data)
		if err != nil {
			if resp := f.recorder.repairResponse(e.data, err); resp != nil {
				return replaceData(e, resp)
			}
		} else if seen := f.recorder.recordIncoming(msg, &e.held); seen != msg {
			return replaceData(e, seen)
		}
	}
	return append(e.raw, '\n')
}

// replaceData returns an event that carries msg in place of e's data. If msg is nil, the event carries only e's ID,
// from which the SDK resumes a broken stream, and there is none if e has no ID.
func replaceData(e *event, msg jsonrpc.Message) []byte {
	var out []byte
	if e.id != nil {
		out = append(append(out, e.id...), '\n')
	}
	if msg != nil {
		data, err := jsonrpc.EncodeMessage(msg)
		if err == nil {
			out = append(append(append(out, "data: "...), data...), '\n')
		}
	}
	if out == nil {
		return nil
	}
	return append(out, '\n')
}
