package limit

import (
	"context"
	"sync"
)

// requestHold has what a request holds until its end.
type requestHold struct {
	mu    sync.Mutex
	ends  []func()
	ended bool
}

// holdKey is the key of the requestHold in a context.
type holdKey struct{}

// WithHold returns a context for one request: what Hold is given with it is called by end, which the caller calls when
// the request is over. A context that has a hold already keeps that, and end does nothing.
func WithHold(ctx context.Context) (_ context.Context, end func()) {
	if _, ok := ctx.Value(holdKey{}).(*requestHold); ok {
		return ctx, func() {}
	}
	h := &requestHold{}
	return context.WithValue(ctx, holdKey{}, h), h.end
}

// Hold has release called when the request of ctx is over, or at once if ctx has no hold, or the request is over
// already.
func Hold(ctx context.Context, release func()) {
	h, ok := ctx.Value(holdKey{}).(*requestHold)
	if !ok || !h.add(release) {
		release()
	}
}

func (h *requestHold) add(release func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return false
	}
	h.ends = append(h.ends, release)
	return true
}

func (h *requestHold) end() {
	h.mu.Lock()
	ends := h.ends
	h.ends, h.ended = nil, true
	h.mu.Unlock()
	for _, release := range ends {
		release()
	}
}
