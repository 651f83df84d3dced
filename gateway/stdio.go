package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	quickjson "github.com/segmentio/encoding/json"

	"tooldex/internal/orderedjson"
)

// stdioConn speaks newline-delimited JSON-RPC over two pipes, as mcp.Transport and mcp.Connection. The SDK's own
// connection ends on a line that is no message; this one drops such lines. It fails only the call whose answer is too
// long, and gives up a write when its context ends even if the other side does not read. Two goroutines do the reading
// and writing; Close and the end of both pipes end them.
type stdioConn struct {
	in     *lineReader
	inFile io.ReadCloser
	out    io.WriteCloser
	tap    *wireRecorder
	scrub  *redactor
	logger *slog.Logger

	probeWait time.Duration     // how long server/discover may stay unanswered; 0 means for ever
	batch     []jsonrpc.Message // messages of the last line that were not read yet; readLoop's
	strays    int               // stray lines so far; readLoop's

	// Unbuffered: a message is handed over or, after Close, dropped.
	received chan received
	writes   chan write
	closed   chan struct{}
	once     sync.Once
	running  sync.WaitGroup
}

// received is a message or the error that ends the connection.
type received struct {
	msg jsonrpc.Message
	err error
}

// write is one message with its line break, for writeLoop.
type write struct {
	data []byte
	done chan error // has room for the one answer
}

// newStdioConn starts the goroutines of a connection.
func newStdioConn(in io.ReadCloser, out io.WriteCloser, bounds messageBounds, t *wireRecorder, logger *slog.Logger,
) *stdioConn {
	c := &stdioConn{
		in: newLineReader(in, bounds), inFile: in, out: out, tap: t, scrub: t.redact, logger: logger,
		received: make(chan received), writes: make(chan write), closed: make(chan struct{}),
	}
	c.running.Go(c.readLoop)
	c.running.Go(c.writeLoop)
	return c
}

// Connect returns the connection itself: it is its own transport, for one session.
func (c *stdioConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID returns "": there is one session to a pipe.
func (c *stdioConn) SessionID() string { return "" }

// Read returns the next message for the SDK.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case r := <-c.received:
		return r.msg, r.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readLoop reads until an error or Close. It delivers the error after the last message.
func (c *stdioConn) readLoop() {
	defer func() { c.in.held.end() }()
	for {
		msg, err := c.nextMessage()
		if err == nil {
			if msg = c.tap.recordIncoming(msg, &c.in.held); msg == nil {
				continue
			}
		}
		if !c.deliverMessage(received{msg, err}) || err != nil {
			return
		}
	}
}

// deliverMessage passes a message to Read. It returns false if the connection was closed instead.
func (c *stdioConn) deliverMessage(r received) bool {
	select {
	case c.received <- r:
		return true
	case <-c.closed:
		return false
	}
}

// nextMessage returns the next message of the pipe. It drops stray lines, and returns an error response in place of an
// answer that is too long or broken.
func (c *stdioConn) nextMessage() (jsonrpc.Message, error) {
	for {
		if len(c.batch) > 0 {
			msg := c.batch[0]
			c.batch = c.batch[1:]
			return msg, nil
		}
		line, over, err := c.in.nextLine()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, os.ErrClosed):
			return nil, io.EOF
		case err != nil:
			return nil, err
		case over != nil:
			over.log(c.logger, c.in.limit)
			if resp := over.errorResponse(c.in.limit); resp != nil {
				return resp, nil
			}
			continue
		}
		if c.batch, err = decodeLine(line); c.batch != nil {
			continue
		}
		if resp := c.tap.repairResponse(line, err); resp != nil {
			return resp, nil
		}
		c.logStrayLine(line)
	}
}

// decodeLine returns the messages of one line: one, or several if it is a batch. It returns an error and no message if
// the line is not JSON-RPC, such as a log line or a banner. The messages share the line's memory.
func decodeLine(line []byte) ([]jsonrpc.Message, error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return nil, errNotJSON
	}
	parts := []json.RawMessage{line}
	if line[0] == '[' && json.Unmarshal(line, &parts) != nil {
		return nil, errNotJSON
	}
	var msgs []jsonrpc.Message
	for _, part := range parts {
		msg, err := decodeMessage(part)
		if err != nil {
			return nil, err
		}
		msgs = append(msgs, msg)
	}
	return msgs, nil
}

// The bounds of one message of a server, in levels and in values. Answers are larger than requests, and the SDK accepts
// no deeper ones.
const (
	maxAnswerDepth  = 1000
	maxAnswerValues = 2_000_000
)

// errNotJSON is the error for a line or body that is no JSON value.
var errNotJSON = errors.New("not JSON")

// decodeMessage decodes one JSON-RPC message within the bounds. The SDK's decoder stops at the end of the first JSON
// value, so decodeMessage itself rejects what comes after it. The message may share data's memory.
func decodeMessage(data []byte) (jsonrpc.Message, error) {
	if err := orderedjson.CheckBounds(data, maxAnswerDepth, maxAnswerValues); err != nil {
		return nil, err
	}
	if !quickjson.Valid(data) {
		return nil, errNotJSON
	}
	if r := plainResponse(data); r != nil {
		return r, nil
	}
	return jsonrpc.DecodeMessage(data)
}

// plainResponse decodes a response that holds a result, and returns nil for other messages. It refers to data in place
// of a copy, and is many times faster than the SDK's decoder, which matters because the server's next answer waits
// behind a large one.
func plainResponse(data []byte) *jsonrpc.Response {
	var version, id, result json.RawMessage
	for _, m := range orderedjson.Members(data) {
		switch value := data[m.Value:m.End]; m.Key {
		case "jsonrpc":
			version = value
		case "id":
			id = value
		case "result":
			result = value
		default:
			return nil
		}
	}
	var v any
	if string(version) != `"2.0"` || result == nil || string(result) == "null" || json.Unmarshal(id, &v) != nil {
		return nil
	}
	made, err := jsonrpc.MakeID(v)
	if err != nil || !made.IsValid() {
		return nil
	}
	return &jsonrpc.Response{ID: made, Result: result}
}

// maxStrays bounds how many stray lines of one session are logged, since a server that prints logs to stdout prints
// many.
const maxStrays = 20

// logStrayLine logs a line that is no message, as print statements in servers produce, at most maxStrays of a session.
// It counts against the rate of what the server sends unasked.
func (c *stdioConn) logStrayLine(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	c.tap.requests.waitForRate()
	if c.strays++; c.strays <= maxStrays {
		c.logger.Warn("upstream printed a line to stdout that is no message; dropped", "line",
			c.scrub.redactText(truncateText(string(line), 200)))
	}
}

// Write sends a message. It returns when the message is in the pipe, or with ctx.Err() when ctx ends: the message may
// then be written in part, and writeLoop still writes the rest.
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	c.tap.recordOutgoing(ctx, msg)
	defer c.tap.recordAnswer(msg)
	w := write{data: append(data, '\n'), done: make(chan error, 1)}
	select {
	case c.writes <- w:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.EOF
	}
	c.recordProbe(msg)
	select {
	case err := <-w.done:
		if err == nil {
			c.tap.updateCapture(captureFrom(ctx), func(c *capture) { c.sent = true })
		}
		return err
	case <-ctx.Done():
		// part of it may be in the pipe, the rest follows
		c.tap.updateCapture(captureFrom(ctx), func(c *capture) { c.sent = true })
		return ctx.Err()
	}
}

// writeLoop writes one message at a time, so that messages never mix.
func (c *stdioConn) writeLoop() {
	for {
		select {
		case w := <-c.writes:
			_, err := c.out.Write(w.data)
			w.done <- err
		case <-c.closed:
			return
		}
	}
}

// recordProbe answers server/discover in the server's place after probeWait: some older servers ignore requests that
// they do not know. The SDK then goes on to initialize. An answer of the server that comes first makes this one
// superfluous.
func (c *stdioConn) recordProbe(msg jsonrpc.Message) {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || req.Method != "server/discover" || c.probeWait <= 0 {
		return
	}
	c.running.Go(func() {
		t := time.NewTimer(c.probeWait)
		defer t.Stop()
		select {
		case <-t.C:
			c.deliverMessage(received{msg: &jsonrpc.Response{ID: req.ID, Error: &jsonrpc.Error{
				Code:    jsonrpc.CodeMethodNotFound,
				Message: "no answer to server/discover",
			}}})
		case <-c.closed:
		}
	})
}

// Close ends Read and Write and closes the server's standard input, which asks it to end. It does not wait: the SDK
// calls it with a lock held.
func (c *stdioConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		_ = c.out.Close()
	})
	return nil
}

// waitLoops returns when both goroutines have ended. Close must have been called, and the process must have ended.
func (c *stdioConn) waitLoops() {
	_ = c.inFile.Close()
	c.running.Wait()
}
