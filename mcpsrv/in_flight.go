package mcpsrv

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"tooldex/tool"
)

// inFlight counts what is under way. The zero value bounds nothing, and is ready.
type inFlight struct {
	mu      sync.Mutex
	open    int
	drained chan struct{} // closed once nothing is under way; nil while nobody waits for that
}

// begin counts one more. It reports false if there are most of them, unless that is zero.
func (f *inFlight) begin(most int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if most > 0 && f.open >= most {
		return false
	}
	f.open++
	return true
}

func (f *inFlight) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open--; f.open == 0 && f.drained != nil {
		close(f.drained)
		f.drained = nil
	}
}

// wait returns when nothing is under way, or ctx ends, and reports how much still is.
func (f *inFlight) wait(ctx context.Context) (open int) {
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

var errStopping = &tool.Error{
	Code: tool.Unavailable, Op: "serve", Msg: "the server is stopping",
	Hint: "whether a call took effect is unknown",
}

// admitRequest lets a request in, unless too many are worked on already or the server is stopping. What only says that
// somebody is there, or stays open to listen, is no work.
func (s *Server) admitRequest(method string) (leave func(), err error) {
	switch {
	case method == "initialize", method == "ping", method == listenMethod, strings.HasPrefix(method, "notifications/"):
		return func() {}, nil
	case s.stopping.Load():
		return nil, errStopping
	case !s.work.begin(s.o.limits.requests):
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "admit request", Msg: fmt.Sprintf("%d requests are being worked on already",
				s.o.limits.requests), Hint: "wait for answers before you ask on",
		}
	}
	return s.work.end, nil
}

// listenMethod opens a stream of what happens, in the newer protocol.
const listenMethod = "subscriptions/listen"

// cutGrace is how long requests that were cut off have to say so.
const cutGrace = 300 * time.Millisecond

// Shutdown refuses new requests and sessions, waits until those in flight are answered or ctx ends, cuts off the rest,
// whose clients are told so, and closes the server. It returns an error of code Timeout if it had to cut off any.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	var err error
	if open := s.answers.wait(ctx); open > 0 {
		err = &tool.Error{
			Code: tool.Timeout, Op: "shut down",
			Msg: fmt.Sprintf("%d requests over MCP were not answered in time", open),
		}
		s.cut(errStopping)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cutGrace)
		s.answers.wait(late)
		cancel()
	}
	_ = s.Close() // which never fails
	return err
}
