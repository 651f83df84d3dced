package mcpsrv

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
)

// RunStdio serves one client over standard input and output. It returns nil when the client disconnects, when ctx ends
// or when Close is called, and an error when the connection breaks. Nothing else may write to standard output
// meanwhile. A line that is no message is answered with a protocol error, and the session goes on.
func (s *Server) RunStdio(ctx context.Context) error { return s.Run(ctx, Lines(os.Stdin, os.Stdout)) }

// Lines is the transport of RunStdio, for other streams or for a caller that wraps it. It closes in, but not out.
// Unlike the SDK's it survives lines that are no messages: it answers them with a protocol error and reads on.
func Lines(in io.ReadCloser, out io.Writer) mcp.Transport {
	w := &lineWriter{w: out}
	return &mcp.IOTransport{
		Reader: &lineReader{Closer: in, r: bufio.NewReader(in), answer: w, most: maxLine},
		Writer: w,
	}
}

// maxLine bounds one message, in bytes.
const maxLine = 16 << 20

// lineWriter serializes the answers of a lineReader with those of the SDK, which writes one message at a time. It drops
// the answers of requests that the client has cancelled, which the SDK would send and the protocol forbids.
type lineWriter struct {
	mu        sync.Mutex
	w         io.Writer
	cancelled map[jsonrpc.ID]bool // whose answers have not been written
}

// maxCancelled bounds the cancelled requests that are remembered. Above it all are forgotten, since most of them were
// answered before they were cancelled.
const maxCancelled = 1000

// cancel has the answer of a request dropped.
func (w *lineWriter) cancel(id jsonrpc.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cancelled) >= maxCancelled || w.cancelled == nil {
		w.cancelled = map[jsonrpc.ID]bool{}
	}
	w.cancelled[id] = true
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cancelled) > 0 {
		m, err := jsonrpc.DecodeMessage(p)
		if r, ok := m.(*jsonrpc.Response); err == nil && ok && w.cancelled[r.ID] {
			delete(w.cancelled, r.ID)
			return len(p), nil
		}
	}
	return w.w.Write(p)
}

// Close leaves standard output open, for what the program may still print.
func (w *lineWriter) Close() error { return nil }

// lineReader passes on lines that are messages. The SDK would end the session at the first that is not.
type lineReader struct {
	io.Closer
	r       *bufio.Reader
	answer  *lineWriter
	most    int
	batches bool // the client's revision has batches
	listens map[jsonrpc.ID]bool
	rest    []byte // of the line being passed on
}

// Read implements io.Reader. One goroutine calls it.
func (l *lineReader) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.readLine()
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if fault := l.checkLine(line); fault != nil {
			if err := l.refuseLine(line, fault); err != nil {
				return 0, err
			}
			continue
		}
		l.rest = append(line, '\n')
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// readLine returns the next line, or the beginning of one that is too long, whose rest it skips. At the end it returns
// io.EOF alone.
func (l *lineReader) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		// Of a longer line only the beginning is kept, enough for checkLine to refuse it.
		if len(line) <= l.most {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = nil // the last line may lack its end
		}
		return line, err
	}
}

// checkLine returns what is wrong with a line, as a JSON-RPC error, or nil.
func (l *lineReader) checkLine(line []byte) *jsonrpc.Error {
	if len(line) > l.most {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the message is too large"}
	}
	if !json.Valid(line) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON"}
	}
	if err := orderedjson.CheckBounds(line, orderedjson.MaxDepth, orderedjson.MaxValues); err != nil {
		msg, _ := messageOf(err)
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: msg}
	}
	if line[0] != '[' {
		m, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the line is not a JSON-RPC message: " +
				err.Error()}
		}
		l.noteRevision(m)
		l.noteCancellation(m)
		return nil
	}
	var batch []json.RawMessage
	if !l.batches || json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a batch is empty, or the revision has none"}
	}
	for _, one := range batch {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return &jsonrpc.Error{
				Code:    jsonrpc.CodeInvalidRequest,
				Message: "the batch holds what is not a JSON-RPC message: " + err.Error(),
			}
		}
	}
	return nil
}

// noteRevision sets batches from the revision that initialize asks for: only two old revisions have them.
func (l *lineReader) noteRevision(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok || r.Method != "initialize" {
		return
	}
	var p struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(r.Params, &p) == nil {
		l.batches = p.Version == "2025-03-26" || p.Version == "2024-11-05"
	}
}

// noteCancellation has the answer of a request dropped that the client cancels, unless that opened a stream, whose end
// is answered.
func (l *lineReader) noteCancellation(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if ok && r.Method == listenMethod && len(l.listens) < maxCancelled {
		if l.listens == nil {
			l.listens = map[jsonrpc.ID]bool{}
		}
		l.listens[r.ID] = true
	}
	if !ok || r.Method != "notifications/cancelled" {
		return
	}
	var p struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(r.Params, &p) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(p.ID); err == nil && id.IsValid() && !l.listens[id] {
		l.answer.cancel(id)
	}
}

// refuseLine answers a line with an error, under its ID if it has one. It returns the error of writing.
func (l *lineReader) refuseLine(line []byte, fault *jsonrpc.Error) error {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if len(line) > l.most || json.Unmarshal(line, &asked) != nil || orderedjson.Kind(asked.ID) != "string" &&
		orderedjson.Kind(asked.ID) != "number" {
		asked.ID = json.RawMessage("null")
	}
	answer := object{
		{Key: "jsonrpc", Value: json.RawMessage(`"2.0"`)},
		{Key: "id", Value: asked.ID},
		jsonMember("error", fault),
	}
	_, err := l.answer.Write(append(answer.Bytes(), '\n'))
	return err
}
