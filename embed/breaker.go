package embed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// BreakerOptions configure a [Breaker]. The zero value opens after three failures for five seconds.
type BreakerOptions struct {
	Failures int // in a row, before calls are blocked; 0 means 3
	// Pause is how long calls are blocked at first. It doubles with each failed trial, up to ten times the first. 0
	// means 5 seconds.
	Pause time.Duration
	// Patience bounds one call of Queries; a slower model counts as failed. Documents are not bounded. 0 means 5
	// seconds.
	Patience time.Duration
	// Changed is called with the error when calls begin to be blocked, and with nil when the model answers again. It
	// runs outside the Breaker's lock, on the goroutine of the call that noticed; it must not call the Breaker.
	Changed func(err error)
}

// Breaker is an [Embedder] that blocks calls to another after several failures in a row, so that callers do not wait
// for a model that is known to be down. While it blocks, a call fails at once with [ErrUnavailable], wrapping the last
// error. After the pause one call goes through as a trial: success unblocks all calls, failure begins a longer pause.
// It is safe for concurrent use.
//
// Only errors of the model count. A caller whose context ends, [ErrModelChanged] and calls without input do not.
type Breaker struct {
	of Embedder
	o  BreakerOptions

	// mu guards the fields below. It is never held during a call of the model or of Changed.
	mu     sync.Mutex
	failed int       // in a row
	until  time.Time // no call before this; zero while calls are not blocked
	trying bool      // a trial is running; other calls are blocked meanwhile
	last   error
}

// NewBreaker guards an embedder. Options that are zero or negative take their defaults.
func NewBreaker(of Embedder, o BreakerOptions) *Breaker {
	if o.Failures <= 0 {
		o.Failures = 3
	}
	if o.Pause <= 0 {
		o.Pause = 5 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = 5 * time.Second
	}
	if o.Changed == nil {
		o.Changed = func(error) {}
	}
	return &Breaker{of: of, o: o}
}

// Model returns the model of the wrapped embedder, blocked or not.
func (b *Breaker) Model() Model { return b.of.Model() }

// Queries asks the wrapped embedder, within Patience, unless calls are blocked.
func (b *Breaker) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	return b.callThrough(ctx, len(texts), func(ctx context.Context) ([][]float32, error) {
		within, cancel := context.WithTimeoutCause(ctx, b.o.Patience, errSlow)
		defer cancel()
		return b.of.Queries(within, texts)
	})
}

// errSlow is the cancellation cause of a query that took longer than Patience.
var errSlow = errors.New("no answer in time")

// Documents asks the wrapped embedder unless calls are blocked. Only the context bounds its time.
func (b *Breaker) Documents(ctx context.Context, docs []Document) ([][]float32, error) {
	return b.callThrough(ctx, len(docs), func(ctx context.Context) ([][]float32, error) {
		return b.of.Documents(ctx, docs)
	})
}

// callThrough runs ask if admitted and records the outcome. A call for n = 0 inputs is answered here: it shows nothing
// about the model.
func (b *Breaker) callThrough(
	ctx context.Context, n int, ask func(context.Context) ([][]float32, error),
) ([][]float32, error) {
	if n == 0 {
		return [][]float32{}, nil
	}
	trial, err := b.admitCall()
	if err != nil {
		return nil, err
	}
	out, err := ask(ctx)
	b.recordOutcome(err, trial, ctx.Err() != nil)
	return out, err
}

// admitCall admits a call, as a trial if the pause is over, or returns why it is blocked. A trial must be followed by
// recordOutcome, which ends it.
func (b *Breaker) admitCall() (trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return false, nil
	}
	if b.trying || time.Now().Before(b.until) {
		return false, &Error{
			Kind: ErrUnavailable, Msg: fmt.Sprintf("model %s is left alone after %d failures in a row",
				b.of.Model().Name, b.failed),
			Hint: "it is asked again by itself", Err: b.last,
		}
	}
	b.trying = true
	return true, nil
}

// recordOutcome updates the state after an admitted call. gaveUp is true if the caller's context had ended, in which
// case an error shows nothing about the model.
func (b *Breaker) recordOutcome(err error, trial, gaveUp bool) {
	b.mu.Lock()
	was := !b.until.IsZero()
	b.trying = b.trying && !trial
	var tell func()
	switch {
	case err == nil || errors.Is(err, ErrModelChanged):
		b.failed, b.until, b.last = 0, time.Time{}, nil
		if was {
			tell = func() { b.o.Changed(nil) }
		}
	case gaveUp: // until is unchanged, so the next call may be the trial
	case was && !trial: // admitted before calls were blocked; only the trial decides
	default:
		b.failed, b.last = b.failed+1, err
		if b.failed < b.o.Failures {
			break
		}
		// The shift stops at 4, so that it cannot overflow; the factor of ten below is the real bound.
		pause := b.o.Pause << min(b.failed-b.o.Failures, 4)
		b.until = time.Now().Add(min(pause, 10*b.o.Pause))
		if !was {
			tell = func() { b.o.Changed(err) }
		}
	}
	b.mu.Unlock()
	if tell != nil {
		tell()
	}
}
