package mcpsrv

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
)

// RunStdio serves one client over standard input and output. It returns nil when the client disconnects, when ctx ends
// or when Close is called, and an error when the connection breaks. Nothing else may write to standard output
// meanwhile. A line that is no message is answered with a protocol error, and the session continues.
func (s *Server) RunStdio(ctx context.Context) error { return s.Run(ctx, Lines(os.Stdin, os.Stdout)) }

// Lines is the transport of RunStdio, for other streams or for a caller that wraps it. It closes in, but not out.
// Unlike the SDK's it survives lines that are no messages: it answers them with a protocol error and reads on. It also
// decodes each message once, where the SDK's decodes it three times.
func Lines(in io.ReadCloser, out io.Writer) mcp.Transport { return lineTransport{in, out} }

// lineTransport implements mcp.Transport.
type lineTransport struct {
	in  io.ReadCloser
	out io.Writer
}

// Connect implements mcp.Transport.
func (t lineTransport) Connect(context.Context) (mcp.Connection, error) {
	w := &lineWriter{w: t.out}
	c := &lineConn{
		in: t.in, out: w, lines: make(chan lineRead), closed: make(chan struct{}),
		reader: &lineReader{r: bufio.NewReader(t.in), answer: w, most: maxLine},
	}
	go c.readLines()
	return c, nil
}

// lineConn is a connection of newline-delimited JSON-RPC. One goroutine calls Read; Write and Close may be called by
// any.
type lineConn struct {
	in      io.Closer
	reader  *lineReader
	out     *lineWriter
	lines   chan lineRead
	rest    []jsonrpc.Message // of the last line, not returned yet; Read's
	closed  chan struct{}
	closing sync.Once

	mu      sync.Mutex
	batches map[jsonrpc.ID]*openBatch // by the requests in them that are not answered
}

// lineRead is what one line holds, or why there are no more.
type lineRead struct {
	msgs  []jsonrpc.Message
	batch bool
	err   error
}

// openBatch is a batch whose requests are not all answered.
type openBatch struct {
	left    int
	answers [][]byte
}

// SessionID implements mcp.Connection. Pipes have no sessions.
func (c *lineConn) SessionID() string { return "" }

// readLines reads until the input ends or the connection is closed. It blocks on the input, which Read must not.
func (c *lineConn) readLines() {
	for {
		msgs, batch, err := c.reader.nextMessages()
		select {
		case c.lines <- lineRead{msgs, batch, err}:
		case <-c.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// Read implements mcp.Connection.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(c.rest) == 0 {
		select {
		case line := <-c.lines:
			if line.err != nil {
				return nil, line.err
			}
			if line.batch {
				c.openBatch(line.msgs)
			}
			c.rest = line.msgs
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		}
	}
	msg := c.rest[0]
	c.rest = c.rest[1:]
	return msg, nil
}

// openBatch notes the requests of a batch, whose answers go out together.
func (c *lineConn) openBatch(msgs []jsonrpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &openBatch{}
	for _, m := range msgs {
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			if c.batches == nil {
				c.batches = map[jsonrpc.ID]*openBatch{}
			}
			c.batches[r.ID] = b
			b.left++
		}
	}
}

// Write implements mcp.Connection.
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if r, ok := msg.(*jsonrpc.Response); ok {
		if data = c.answerOf(r.ID, data, c.out.forget(r.ID)); data == nil {
			return nil
		}
	}
	_, err = c.out.Write(append(data, '\n'))
	return err
}

// answerOf returns what to write for the answer to a request: nothing if the client cancelled it, nothing for one of a
// batch that waits for others, and the whole batch with its last one.
func (c *lineConn) answerOf(id jsonrpc.ID, data []byte, cancelled bool) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.batches[id]
	switch {
	case !ok && cancelled:
		return nil
	case !ok:
		return data
	}
	delete(c.batches, id)
	if !cancelled {
		b.answers = append(b.answers, data)
	}
	if b.left--; b.left > 0 || len(b.answers) == 0 {
		return nil
	}
	out := []byte{'['}
	out = append(out, bytes.Join(b.answers, []byte{','})...)
	return append(out, ']')
}

// Close implements mcp.Connection. It closes the input and leaves the output open, for what the program may still
// print.
func (c *lineConn) Close() (err error) {
	c.closing.Do(func() {
		close(c.closed)
		err = c.in.Close()
	})
	return err
}

// maxLine bounds one message, in bytes.
const maxLine = 16 << 20

// lineWriter serializes the answers of a lineReader with those of the connection, and knows the requests that the
// client has cancelled: the SDK would send their answers, and the protocol forbids it.
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

// forget reports whether the client has cancelled a request, and forgets it.
func (w *lineWriter) forget(id jsonrpc.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.cancelled[id]
	delete(w.cancelled, id)
	return was
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

// lineReader reads messages from lines. The SDK would end the session at the first line that is none.
type lineReader struct {
	r       *bufio.Reader
	answer  *lineWriter
	most    int
	batches bool // the client's revision has batches
	listens map[jsonrpc.ID]bool
}

// nextMessages returns the messages of the next line that has any: one, or those of a batch. It answers the lines
// before that are no messages. At the end of the input the error is io.EOF. One goroutine calls it.
func (l *lineReader) nextMessages() (msgs []jsonrpc.Message, batch bool, err error) {
	for {
		line, err := l.readLine()
		if err != nil {
			return nil, false, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		msgs, fault := l.decodeLine(line)
		if fault == nil {
			return msgs, line[0] == '[', nil
		}
		if err := l.refuseLine(line, fault); err != nil {
			return nil, false, err
		}
	}
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

// decodeLine returns the messages of a line, or what is wrong with it, as a JSON-RPC error.
func (l *lineReader) decodeLine(line []byte) ([]jsonrpc.Message, *jsonrpc.Error) {
	refuse := func(code int64, message string) ([]jsonrpc.Message, *jsonrpc.Error) {
		return nil, &jsonrpc.Error{Code: code, Message: message}
	}
	if len(line) > l.most {
		return refuse(jsonrpc.CodeInvalidRequest, "the message is too large")
	}
	if !json.Valid(line) {
		return refuse(jsonrpc.CodeParseError, "the line is not JSON")
	}
	if err := orderedjson.CheckBounds(line, orderedjson.MaxDepth, orderedjson.MaxValues); err != nil {
		msg, _ := messageOf(err)
		return refuse(jsonrpc.CodeInvalidRequest, msg)
	}
	if line[0] != '[' {
		m, err := decodeMessage(line)
		if err != nil {
			return refuse(jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC message: "+err.Error())
		}
		l.noteRevision(m)
		l.noteCancellation(m)
		return []jsonrpc.Message{m}, nil
	}
	var batch []json.RawMessage
	if !l.batches || json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return refuse(jsonrpc.CodeInvalidRequest, "a batch is empty, or the revision has none")
	}
	msgs := make([]jsonrpc.Message, len(batch))
	seen := map[jsonrpc.ID]bool{}
	for i, one := range batch {
		m, err := decodeMessage(one)
		if err != nil {
			return refuse(jsonrpc.CodeInvalidRequest, "the batch holds what is not a JSON-RPC message: "+err.Error())
		}
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			if seen[r.ID] {
				return refuse(jsonrpc.CodeInvalidRequest, "two requests of the batch have one ID")
			}
			seen[r.ID] = true
		}
		l.noteCancellation(m)
		msgs[i] = m
	}
	return msgs, nil
}

// decodeMessage decodes one JSON-RPC message, which is valid JSON. Requests and notifications of the usual form are
// read without the SDK's decoder, which takes 32 KB of memory for each. Their parameters share data's memory.
func decodeMessage(data []byte) (jsonrpc.Message, error) {
	var version, id, method, params json.RawMessage
	for _, m := range orderedjson.Members(data) {
		switch value := data[m.Value:m.End]; m.Key {
		case "jsonrpc":
			version = value
		case "id":
			id = value
		case "method":
			method = value
		case "params":
			params = value
		default:
			return jsonrpc.DecodeMessage(data)
		}
	}
	var name string
	var number any
	if string(version) != `"2.0"` || json.Unmarshal(method, &name) != nil || name == "" ||
		len(id) > 0 && (string(id) == "null" || json.Unmarshal(id, &number) != nil) {
		return jsonrpc.DecodeMessage(data)
	}
	made, err := jsonrpc.MakeID(number)
	if err != nil {
		return nil, err
	}
	return &jsonrpc.Request{ID: made, Method: name, Params: params}, nil
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
