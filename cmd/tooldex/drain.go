package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainGrace is how long answers that are still being worked on are waited for after the input has ended. Clients that
// close it to end the command wait five seconds before they kill it.
const drainGrace = 4 * time.Second

// drained makes the end of a transport's input wait for the answers to what was read before. The protocol library ends a
// session at once, so that requests which come through a pipe, as from a shell, would go unanswered.
type drained struct{ mcp.Transport }

// Connect connects the transport.
func (d drained) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainedConn{Connection: c, closed: make(chan struct{}), open: map[any]chan struct{}{}}, nil
}

type drainedConn struct {
	mcp.Connection
	closed  chan struct{}
	closing sync.Once
	last    chan struct{} // closed when the latest initialize was answered; nil if none was read. Only Read uses it.

	mu   sync.Mutex
	open map[any]chan struct{} // requests that were read and not answered, by ID
}

// Read passes messages on. What follows an initialize is held back until that is answered, since the library works on
// several messages at a time and refuses what comes too early.
func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	if c.last != nil {
		c.wait(ctx, c.last)
		c.last = nil
	}
	msg, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.drain(ctx)
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		answered := make(chan struct{})
		c.mu.Lock()
		c.open[req.ID.Raw()] = answered
		c.mu.Unlock()
		if req.Method == "initialize" {
			c.last = answered
		}
	}
	return msg, err
}

// Write notes which request is answered.
func (c *drainedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		if answered, ok := c.open[res.ID.Raw()]; ok {
			close(answered)
			delete(c.open, res.ID.Raw())
		}
		c.mu.Unlock()
	}
	return err
}

// Close ends the connection, and any waiting.
func (c *drainedConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// drain waits until every request is answered, for drainGrace at most.
func (c *drainedConn) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainGrace)
	defer cancel()
	c.mu.Lock()
	var waiting []chan struct{}
	for _, answered := range c.open {
		waiting = append(waiting, answered)
	}
	c.mu.Unlock()
	for _, answered := range waiting {
		c.wait(ctx, answered)
	}
}

func (c *drainedConn) wait(ctx context.Context, answered chan struct{}) {
	timer := time.NewTimer(drainGrace)
	defer timer.Stop()
	select {
	case <-answered:
	case <-c.closed:
	case <-ctx.Done():
	case <-timer.C:
	}
}
