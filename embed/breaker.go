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
	Failures int // in a row, after which the model is left alone; 0 means 3
	// for which it is left alone at first; doubled as long as it fails, up to ten times; 0 means 5 seconds
	Pause time.Duration
	// Patience bounds one call of Queries: a model that takes longer has failed it. 0 means 5 seconds.
	Patience time.Duration
	// Changed is told when the model is given up, with the error, and when it answers again, with nil. It must not call
	// the Breaker.
	Changed func(err error)
}

// Breaker is an [Embedder] that leaves another alone for a while after it has failed several times in a row, so that
// nobody waits for what is known not to answer. A call in that time fails at once, with the last error. Then one call
// is let through: if it succeeds, all are. It is safe for concurrent use.
//
// Only errors of the model count: a caller that gives up, a changed model and no work at all say nothing of it.
type Breaker struct {
	of Embedder
	o  BreakerOptions

	mu     sync.Mutex
	failed int       // in a row
	until  time.Time // before which nothing is asked; zero while closed
	trying bool      // one call is under way to see whether it answers again
	last   error
}

// NewBreaker guards an embedder.
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

// Model tells the model of the embedder behind.
func (b *Breaker) Model() Model { return b.of.Model() }

// Queries asks the embedder behind, unless it is left alone.
func (b *Breaker) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	return b.callThrough(ctx, len(texts), func(ctx context.Context) ([][]float32, error) {
		within, cancel := context.WithTimeoutCause(ctx, b.o.Patience, errSlow)
		defer cancel()
		return b.of.Queries(within, texts)
	})
}

// errSlow is why a query was given up that the caller still waited for.
var errSlow = errors.New("no answer in time")

// Documents asks the embedder behind, unless it is left alone. It may take as long as it takes there.
func (b *Breaker) Documents(ctx context.Context, docs []Document) ([][]float32, error) {
	return b.callThrough(ctx, len(docs), func(ctx context.Context) ([][]float32, error) { return b.of.Documents(ctx, docs) })
}

func (b *Breaker) callThrough(ctx context.Context, n int, ask func(context.Context) ([][]float32, error)) ([][]float32,
	error,
) {
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

// admitCall lets a call through, as a trial while the model is left alone, or says why not.
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

// recordOutcome counts what came of a call.
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
	case gaveUp: // the next one may try
	case was && !trial: // it was let through before the model was given up
	default:
		b.failed, b.last = b.failed+1, err
		if b.failed < b.o.Failures {
			break
		}
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
