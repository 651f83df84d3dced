package gateway

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"tooldex/tool"
)

// slots bounds how many calls one server runs at once and how many wait for their turn.
type slots struct {
	server string
	free   chan struct{}
	queue  int64
	wait   time.Duration
	waits  atomic.Int64
}

func newSlots(server string, running, queue int, wait time.Duration) *slots {
	return &slots{server: server, free: make(chan struct{}, running), queue: int64(queue), wait: wait}
}

// acquire waits for a slot. It returns Unavailable at once if too many wait already, or after a while if none becomes free.
func (s *slots) acquire(ctx context.Context) (release func(), err error) {
	release = func() { <-s.free }
	select {
	case s.free <- struct{}{}:
		return release, nil
	default:
	}
	if s.waits.Add(1) > s.queue {
		s.waits.Add(-1)
		return nil, s.busy(fmt.Sprintf("%d calls run and %d wait", cap(s.free), s.queue))
	}
	defer s.waits.Add(-1)
	timer := time.NewTimer(s.wait)
	defer timer.Stop()
	select {
	case s.free <- struct{}{}:
		return release, nil
	case <-timer.C:
		return nil, s.busy(fmt.Sprintf("none of its %d calls ended within %v", cap(s.free), s.wait))
	case <-ctx.Done():
		return nil, ended(ctx.Err(), fmt.Sprintf("the call that waited for server %q", s.server))
	}
}

func (s *slots) busy(why string) error {
	return &tool.Error{
		Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("server %q is busy: %s", s.server, why), Hint: "try again when some of them are done",
	}
}
