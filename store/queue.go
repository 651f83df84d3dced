package store

import "context"

// Queuing is a Backend at which those whose change was refused wait for their turn, so that nobody is refused again and
// again by others who are faster.
type Queuing interface {
	Backend
	// Queue waits until it is this caller's turn. Leave ends the turn; it must be called, once. In between, a Write with
	// a Base and without a turn is refused with ErrChanged. The caller reads the state after Queue, and passes queued to
	// what it calls of the Backend until leave.
	//
	// The wait is bounded, and so is a turn: after that, or without a connection, the caller goes on as one that competes.
	// In a turn, as queued says, Queue makes sure that it lasts, and leave does nothing.
	Queue(ctx context.Context) (queued context.Context, leave func())
}

// Queue is that of b, if b is Queuing. Otherwise it does nothing. Call it after a Write was refused with ErrChanged and
// before the state is read again.
func Queue(ctx context.Context, b Backend) (queued context.Context, leave func()) {
	if q, ok := b.(Queuing); ok {
		return q.Queue(ctx)
	}
	return ctx, func() {}
}
