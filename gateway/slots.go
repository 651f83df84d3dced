package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tooldex/internal/limit"
	"tooldex/tool"
)

// callSlots bounds how many calls one server runs at once and how many wait for their turn.
type callSlots struct {
	*limit.Gate
	server         string
	running, queue int
	wait           time.Duration
}

// newSlots takes how many calls run, how many more wait, and for how long each may wait.
func newSlots(server string, running, queue int, wait time.Duration) *callSlots {
	return &callSlots{limit.New(running, queue, wait), server, running, queue, wait}
}

// acquireSlot waits for a slot. It returns Unavailable at once if too many calls wait already, or after the wait if no
// slot became free, and Timeout if ctx ends. The caller calls release.
func (s *callSlots) acquireSlot(ctx context.Context) (release func(), err error) {
	release, err = s.Enter(ctx)
	switch {
	case err == nil:
		return release, nil
	case errors.Is(err, limit.ErrFull):
		return nil, s.busyError(fmt.Sprintf("%d calls run and %d wait", s.running, s.queue))
	case errors.Is(err, limit.ErrLate):
		return nil, s.busyError(fmt.Sprintf("none of its %d calls ended within %v", s.running, s.wait))
	}
	return nil, sessionEndedError(err, fmt.Sprintf("the call that waited for server %q", s.server))
}

// busyError returns the Unavailable error of a call that got no slot.
func (s *callSlots) busyError(why string) error {
	return &tool.Error{
		Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("server %q is busy: %s", s.server, why),
		Hint: "try again when some of them are done",
	}
}
