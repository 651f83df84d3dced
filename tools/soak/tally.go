package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// tally counts what was done, and how it went. It is safe for concurrent use.
type tally struct {
	mu  sync.Mutex
	all map[string]*count
}

// count is how one kind of operation went.
type count struct {
	times     []time.Duration // of those that went well
	explained map[string]int  // those that a fault of ours explains, by the fault
	bad       []string        // the first that none explains
	failed    int             // all of those
}

// fault is an error that is explained by what was done on purpose.
type fault struct {
	by  string
	err error
}

func (f fault) Error() string { return f.by + ": " + f.err.Error() }

// maxBad is how many errors are kept of one kind.
const maxBad = 10

// do runs an operation and counts it, unless ctx ended meanwhile.
func (t *tally) do(ctx context.Context, name string, f func(context.Context) error) {
	begin := time.Now()
	err := f(ctx)
	took := time.Since(begin)
	if ctx.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.of(name)
	var known fault
	switch {
	case err == nil:
		c.times = append(c.times, took)
	case errors.As(err, &known):
		c.explained[known.by]++
	default:
		if c.failed++; len(c.bad) < maxBad {
			c.bad = append(c.bad, fmt.Sprintf("%s: %v", name, err))
		}
	}
}

// percentile is the least time that p percent of those that went well did not exceed.
func (c *count) percentile(p int) time.Duration {
	if c == nil || len(c.times) == 0 {
		return 0
	}
	times := slices.Sorted(slices.Values(c.times))
	return times[(len(times)*p+99)/100-1]
}

// add counts an operation that went well, and took so long.
func (t *tally) add(name string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.of(name)
	c.times = append(c.times, took)
}

// of returns the count of one kind of operation. The caller holds mu.
func (t *tally) of(name string) *count {
	c := t.all[name]
	if c == nil {
		c = &count{explained: map[string]int{}}
		t.all[name] = c
	}
	return c
}
