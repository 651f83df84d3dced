package mcpsrv

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"tooldex/tool"
)

// inFlight counts requests that are being handled. The zero value is ready. It is safe for concurrent use.
type inFlight struct {
	mu      sync.Mutex
	open    int
	drained chan struct{} // closed once none is left; nil while nobody waits
}

// beginRequest counts one more request. It returns false, and counts nothing, if there are most already; a most of zero
// means no bound. Each begin that returned true needs one end.
func (f *inFlight) beginRequest(most int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if most > 0 && f.open >= most {
		return false
	}
	f.open++
	return true
}

// endRequest counts one fewer.
func (f *inFlight) endRequest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open--; f.open == 0 && f.drained != nil {
		close(f.drained)
		f.drained = nil
	}
}

// waitUntilIdle returns when no request is left or ctx ends, and returns how many are left.
func (f *inFlight) waitUntilIdle(ctx context.Context) (open int) {
	f.mu.Lock()
	if f.open == 0 {
		f.mu.Unlock()
		return 0
	}
	if f.drained == nil {
		f.drained = make(chan struct{})
	}
	landed := f.drained
	f.mu.Unlock()
	select {
	case <-landed:
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

// count returns how many requests are being handled.
func (f *inFlight) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

// errStopping answers requests that come after Shutdown began, and those that it cuts off.
var errStopping = &tool.Error{
	Code: tool.Unavailable, Op: "serve", Msg: "the server is stopping",
	Hint: "a call may or may not have taken effect",
}

// admitRequest admits a request, unless too many are being handled or the server is stopping. Handshakes, pings,
// notifications and streams do not count. The caller calls leave when it is done.
func (s *Server) admitRequest(method string) (leave func(), err error) {
	switch {
	case method == "initialize", method == "ping", method == listenMethod, strings.HasPrefix(method, "notifications/"):
		return func() {}, nil
	case s.stopping.Load():
		return nil, errStopping
	case !s.work.beginRequest(s.o.limits.requests):
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "admit request", Msg: fmt.Sprintf("%d requests are in progress already",
				s.o.limits.requests), Hint: "wait for answers before sending more",
		}
	}
	return s.work.endRequest, nil
}

// Busy reports whether a request is being handled. Sessions and streams alone do not make a server busy.
func (s *Server) Busy() bool { return s.work.count() > 0 || s.answers.count() > 0 }

// listenMethod opens a stream of notifications in the stateless protocol.
const listenMethod = "subscriptions/listen"

// cutGrace is how long requests that were cut off have to send their last answer.
const cutGrace = 300 * time.Millisecond

// Shutdown refuses new requests and sessions, waits until those in flight are answered or ctx ends, cuts off the rest
// with an error, and closes the server. It returns an error of code Timeout if it had to cut off any.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	var err error
	if open := s.answers.waitUntilIdle(ctx); open > 0 {
		err = &tool.Error{
			Code: tool.Timeout, Op: "shut down",
			Msg: fmt.Sprintf("%d requests over MCP were not answered in time", open),
		}
		s.cut(errStopping)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cutGrace)
		s.answers.waitUntilIdle(late)
		cancel()
	}
	_ = s.Close() // which never fails
	return err
}
