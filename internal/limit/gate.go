package limit

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Why a Gate refuses: as many wait as may, or none who were in left for as long as one waits.
var (
	ErrFull = errors.New("turns: too many wait")
	ErrLate = errors.New("turns: no turn came in time")
)

// Gate bounds what is done at once. It is safe for concurrent use, and made by New.
type Gate struct {
	places  chan struct{}
	waiting int64
	wait    time.Duration
	waits   atomic.Int64
}

// New returns a Gate that lets in most at once, while waiting further ones wait for at most wait.
func New(most, waiting int, wait time.Duration) *Gate {
	return &Gate{places: make(chan struct{}, most), waiting: int64(waiting), wait: wait}
}

// Enter returns when there is room, and each caller that entered calls leave once. The error is ErrFull, ErrLate, or
// that of ctx.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-g.places }
	select {
	case g.places <- struct{}{}:
		return leave, nil
	default:
	}
	if g.waits.Add(1) > g.waiting {
		g.waits.Add(-1)
		return nil, ErrFull
	}
	defer g.waits.Add(-1)
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case g.places <- struct{}{}:
		return leave, nil
	case <-timer.C:
		return nil, ErrLate
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Inside returns how many have entered and not left.
func (g *Gate) Inside() int { return len(g.places) }

// Waits returns how many wait now.
func (g *Gate) Waits() int { return int(g.waits.Load()) }
