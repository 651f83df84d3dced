package store

import "context"

// Queuing is a Backend with turns: a caller whose change was refused waits for its turn, so that faster callers do not
// have it refused again and again.
type Queuing interface {
	Backend
	// Queue waits for the caller's turn. The caller reads the state afterwards, passes queued to the methods of the
	// Backend that it calls, and ends the turn with leave, which it must call once. During a turn, a Write with a Base
	// whose ctx has no turn is refused with ErrChanged.
	//
	// Waits and turns are bounded. A caller that waits for too long, gets no connection or loses its turn competes with
	// the others. If ctx is from an earlier Queue, Queue takes the turn again where it was lost, and leave does
	// nothing.
	Queue(ctx context.Context) (queued context.Context, leave func())
}

// Queue calls the Queue of b if b is Queuing, and otherwise does nothing. Call it after a Write was refused with
// ErrChanged and before the state is read again.
func Queue(ctx context.Context, b Backend) (queued context.Context, leave func()) {
	if q, ok := b.(Queuing); ok {
		return q.Queue(ctx)
	}
	return ctx, func() {}
}
