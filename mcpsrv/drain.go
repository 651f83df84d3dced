package mcpsrv

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainingTransport keeps a connection open after its input has ended until its requests are answered. The SDK would
// end the session at once, and requests that come through a pipe, as from a shell, would stay unanswered. answers
// counts the open requests for Shutdown.
type drainingTransport struct {
	mcp.Transport
	linger  time.Duration
	answers *inFlight
}

// Connect implements mcp.Transport.
func (l drainingTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := l.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{
		Connection: c, linger: l.linger, answers: l.answers,
		places: make(chan struct{}, maxUnanswered), closed: make(chan struct{}), open: map[any]chan struct{}{},
	}, nil
}

// maxUnanswered is how many requests of one connection may be unanswered before no more are read. It bounds what is
// kept for a client that asks and does not read the answers.
const maxUnanswered = 4096

// drainingConn tracks which requests of a connection are not answered yet. Only the SDK calls its methods: Read from
// one goroutine, Write and Close from any.
type drainingConn struct {
	mcp.Connection
	linger  time.Duration
	answers *inFlight
	// places holds one value for each unanswered request; it is full when no more are read.
	places  chan struct{}
	closed  chan struct{}
	closing sync.Once
	// last is closed when the latest initialize was answered; nil if none was read. Only Read uses it.
	last chan struct{}

	mu sync.Mutex
	// open holds the unanswered requests by ID, with what is closed when they are answered; nil once the connection is
	// closed.
	open map[any]chan struct{}
}

// Read passes messages on. It holds back what follows an initialize until that is answered: the SDK handles several
// messages at a time, and refuses those that come too early.
func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	// An initialize was read before; what follows waits for its answer.
	if c.last != nil {
		c.waitAnswered(ctx, c.last)
		c.last = nil
	}
	msg, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.drainRequests(ctx)
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() && req.Method != listenMethod {
		answered := c.noteRequest(ctx, req.ID.Raw())
		if req.Method == "initialize" {
			c.last = answered
		}
	}
	return msg, err
}

// noteRequest registers a request as unanswered. It waits until a place is free, which slows down a client that does
// not read its answers. The returned channel is closed by the answer; it stays open for a request that is not
// registered.
func (c *drainingConn) noteRequest(ctx context.Context, id any) (answered chan struct{}) {
	answered = make(chan struct{})
	select {
	case c.places <- struct{}{}:
	case <-c.closed:
		return answered
	case <-ctx.Done():
		return answered
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil || c.open[id] != nil { // a second request with the same ID, which the SDK refuses
		<-c.places
		return answered
	}
	c.open[id] = answered
	c.answers.beginRequest(0)
	return answered
}

// Write passes messages on, and marks the request that a response answers, even if the write failed.
func (c *drainingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		if answered, ok := c.open[res.ID.Raw()]; ok {
			c.noteAnswer(res.ID.Raw(), answered)
		}
		c.mu.Unlock()
	}
	return err
}

// noteAnswer removes an answered request. The caller holds mu.
func (c *drainingConn) noteAnswer(id any, answered chan struct{}) {
	close(answered)
	delete(c.open, id)
	<-c.places
	c.answers.endRequest()
}

// Close ends the connection, and any wait for answers. It counts every open request as answered, so that Shutdown does
// not wait for them.
func (c *drainingConn) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		c.mu.Lock()
		for id, answered := range c.open {
			c.noteAnswer(id, answered)
		}
		c.open = nil
		c.mu.Unlock()
	})
	return c.Connection.Close()
}

// drainRequests waits until every request is answered, for at most the drain time.
func (c *drainingConn) drainRequests(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.linger)
	defer cancel()
	c.mu.Lock()
	var waiting []chan struct{}
	for _, answered := range c.open {
		waiting = append(waiting, answered)
	}
	c.mu.Unlock()
	for _, answered := range waiting {
		c.waitAnswered(ctx, answered)
	}
}

// waitAnswered waits for one answer, for at most the drain time.
func (c *drainingConn) waitAnswered(ctx context.Context, answered chan struct{}) {
	timer := time.NewTimer(c.linger)
	defer timer.Stop()
	select {
	case <-answered:
	case <-c.closed:
	case <-ctx.Done():
	case <-timer.C:
	}
}
