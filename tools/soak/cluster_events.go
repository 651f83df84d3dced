package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// failed is a search or a change without a good answer.
type failed struct {
	begin, end time.Time
	why        string
	broken     bool // the connection broke, or that of the balancer did, which answers 502
}

// events keeps what failed and what was done when. It is safe for concurrent use.
type events struct {
	begin    time.Time
	inFlight atomic.Int64 // searches

	mu       sync.Mutex // guards the following
	searches int        // that were answered
	failures []failed
	repeated []failed // attempts of searches that got no answer, after which the client sent the search again
	leaks    []string
	kills    []kill
	faults   []happened
	cut      []failed  // changes that were neither acknowledged nor refused
	lastAck  time.Time // of a change
	wrong    []string  // what else must not happen
}

// kill is one of a replica. What was in flight then may fail.
type kill struct {
	from, to time.Time
	inFlight int64 // searches, when it began and while it lasted
}

// happened is what was done to the cluster, and what came of it.
type happened struct {
	at    time.Duration
	what  string
	after string
}

// note adds a line to what happened.
func (e *events) note(what, after string, args ...any) {
	one := happened{time.Since(e.begin), what, fmt.Sprintf(after, args...)}
	says("%s: %s", one.what, one.after)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults = append(e.faults, one)
}

// fail notes something that must not happen.
func (e *events) fail(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wrong = append(e.wrong, why)
}

// nextAck returns when the first change was acknowledged after a time.
func (e *events) nextAck(ctx context.Context, after time.Time) (time.Time, bool) {
	for deadline := after.Add(time.Minute); time.Now().Before(deadline); pause(ctx, time.Millisecond) {
		e.mu.Lock()
		last := e.lastAck
		e.mu.Unlock()
		if last.After(after) {
			return last, true
		}
	}
	return time.Now(), false
}

// unexplained returns the searches that failed though they were not in flight on a replica when it was killed, and how
// many were.
func (e *events) unexplained() (bad []failed, explained int) {
	for _, f := range e.failures {
		if e.byKill(f) {
			explained++
		} else {
			bad = append(bad, f)
		}
	}
	return bad, explained
}

// byKill reports whether a replica was killed while something that broke was in flight.
func (e *events) byKill(f failed) bool {
	return f.broken && slices.ContainsFunc(e.kills, func(k kill) bool {
		return f.begin.Before(k.to) && f.end.After(k.from)
	})
}

// inFlightAtKills returns how many searches were in flight when replicas were killed.
func (e *events) inFlightAtKills() (n int64) {
	for _, k := range e.kills {
		n += k.inFlight
	}
	return n
}
