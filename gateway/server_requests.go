package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"golang.org/x/time/rate"

	"tooldex/tool"
)

// The bounds of what one server may ask or tell without being asked. A server that exceeds the first two loses its
// connection, since a server that does not read the answers to so many requests reads none. One that exceeds the rate
// is read more slowly.
const (
	maxOpenRequests   = 64
	maxOpenBytes      = 8 << 20
	openRequestsGrace = 2 * time.Second // for which a burst of requests may exceed the bounds
	unaskedPerSecond  = 2000
	unaskedBurst      = 20_000
)

// serverRequests counts the requests of a server that were not answered yet, from their arrival until the answer was
// written. The SDK keeps each of them, with a goroutine, for that long. Its methods are safe for concurrent use.
type serverRequests struct {
	server string
	grace  time.Duration
	alive  context.Context // ends the waiting
	rate   *rate.Limiter   // of unsolicited messages

	mu    sync.Mutex
	open  map[jsonrpc.ID]int // bytes of each
	bytes int
	freed chan struct{} // has room for one signal: a request was answered
}

// newServerRequests returns the counts of one connection, which ends with alive. Grace is how long too many open
// requests may last.
func newServerRequests(alive context.Context, server string, grace time.Duration) *serverRequests {
	return &serverRequests{
		server: server, grace: grace, alive: alive, rate: rate.NewLimiter(unaskedPerSecond, unaskedBurst),
		open: map[jsonrpc.ID]int{}, freed: make(chan struct{}, 1),
	}
}

// beginRequest counts a request. If too many are open it waits, during which nothing more should be read from the
// server. It returns an error if none was answered within the grace. again reports that the ID is in use already: the
// SDK must not see the request.
func (r *serverRequests) beginRequest(req *jsonrpc.Request) (again bool, err error) {
	size := len(req.Params) + len(req.Method)
	var timer *time.Timer
	for {
		r.mu.Lock()
		_, again := r.open[req.ID]
		fits := len(r.open) < maxOpenRequests && r.bytes+size <= maxOpenBytes
		if !again && fits {
			r.open[req.ID] = size
			r.bytes += size
		}
		r.mu.Unlock()
		if again || fits {
			return again, nil
		}
		if size > maxOpenBytes {
			return false, r.tooManyError(fmt.Sprintf("sent a request of %d bytes, more than the %d allowed", size,
				maxOpenBytes))
		}
		if timer == nil {
			timer = time.NewTimer(r.grace)
			defer timer.Stop()
		}
		select {
		case <-r.freed:
		case <-r.alive.Done():
			return true, nil
		case <-timer.C:
			return false, r.tooManyError(fmt.Sprintf(
				"sent %d requests of its own, of %d bytes together, and read no answer within %v", maxOpenRequests,
				maxOpenBytes, r.grace))
		}
	}
}

// endRequest counts a request as answered. Without one of this ID it does nothing.
func (r *serverRequests) endRequest(id jsonrpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size, ok := r.open[id]; ok {
		delete(r.open, id)
		r.bytes -= size
		wakeChannel(r.freed)
	}
}

// waitForRate waits until one more unsolicited message may be read, or the connection is closed.
func (r *serverRequests) waitForRate() { _ = r.rate.Wait(r.alive) }

// tooManyError returns the Unavailable error that ends the connection. What completes "the server …".
func (r *serverRequests) tooManyError(what string) error {
	return &tool.Error{
		Code: tool.Unavailable, Op: "run server",
		Msg:  fmt.Sprintf("the connection to server %q was ended: the server %s", r.server, what),
		Hint: "this is a fault of the server; the next call starts it again",
	}
}
