package main

import (
	"context"
	"errors"
	"time"

	"tooldex/audit"
)

// The times in which a server ends, which together stay below the five seconds after which those who ask it to will
// kill it: requests in flight may finish, those that do not are told, and then each of the servers behind has twice its
// grace, once to end by itself and once after it was asked to.
const (
	finishing     = 2500 * time.Millisecond
	finishingHTTP = finishing + 400*time.Millisecond // beyond which no answer over MCP can be on its way
	upstreamGrace = 400 * time.Millisecond
)

// talk serves clients in each of these ways until ctx ends. The first that ends, for whatever reason, ends the others
// by stop. It returns when clients have their answers, or know that they will not get any.
func (e *endpoints) talk(ctx context.Context, stop func(), ways []func(context.Context) error) (err error) {
	ends, over := make(chan error, len(ways)), make(chan error, 1)
	context.AfterFunc(ctx, func() { over <- e.shutdown(finishing) })
	for _, way := range ways {
		go func() { ends <- way(ctx) }()
	}
	for range ways {
		err = errors.Join(err, <-ends)
		stop()
	}
	return errors.Join(err, <-over)
}

// end says in the record that nobody is served any more, and closes it.
func (g *guards) end(ctx context.Context) error {
	_ = g.log.Served(context.WithoutCancel(ctx), audit.Stop, version, "") // told to the log
	return g.log.Close()
}
