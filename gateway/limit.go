package gateway

import (
	"context"
	"fmt"
	"sync/atomic"

	"tooldex/tool"
)

// slots bounds how many calls one server runs at once and how many wait for their turn.
type slots struct {
	server string
	free   chan struct{}
	queue  int64
	waits  atomic.Int64
}

func newSlots(server string, running, queue int) *slots {
	return &slots{server: server, free: make(chan struct{}, running), queue: int64(queue)}
}

// acquire waits for a slot. It returns Unavailable at once if too many wait already.
func (s *slots) acquire(ctx context.Context) (release func(), err error) {
	release = func() { <-s.free }
	select {
	case s.free <- struct{}{}:
		return release, nil
	default:
	}
	if s.waits.Add(1) > s.queue {
		s.waits.Add(-1)
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "call",
			Msg:  fmt.Sprintf("server %q is busy: %d calls run and %d wait", s.server, cap(s.free), s.queue),
			Hint: "try again when some of them are done",
		}
	}
	defer s.waits.Add(-1)
	select {
	case s.free <- struct{}{}:
		return release, nil
	case <-ctx.Done():
		return nil, ended(ctx.Err(), fmt.Sprintf("the call that waited for server %q", s.server))
	}
}
