package main

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"time"
)

// changeSchedule is one second of changes.
var changeSchedule = [changeRate]changeKind{
	preferences, preferences, preferences, servers, preferences,
	preferences, preferences, overlays, preferences, preferences,
	preferences, preferences, imports, preferences, preferences,
	preferences, preferences, ofCommands, preferences, preferences,
}

// refused is the error of a change that was not made, and may be tried later.
type refused struct{ error }

// change makes one change of a kind, of a key that is not being changed.
func (c *cluster) change(kind changeKind) {
	k := c.take(changeNames[kind])
	if k == nil {
		c.tally.add(changeNames[kind]+", none free", 0)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), changePatience)
	defer cancel()
	k.mu.Lock()
	n := k.acked + len(k.tried) + 1
	if len(k.tried) > 0 {
		n = k.tried[len(k.tried)-1] + 1
	}
	k.tried = append(k.tried, n)
	k.mu.Unlock()
	begin := time.Now()
	err := k.write(ctx, n)
	took := time.Since(begin)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy = false
	var no refused
	switch {
	case err == nil:
		k.acked, k.tried = n, nil
		c.events.mu.Lock()
		c.events.lastAck = time.Now()
		c.events.mu.Unlock()
		c.tally.add(k.kind, took)
	case errors.As(err, &no):
		c.tally.add(k.kind+", refused", took)
	default:
		what := ", cut off"
		var answered *refusal
		if ctx.Err() != nil || errors.As(err, &answered) && answered.status == http.StatusGatewayTimeout {
			what = ", timed out"
		}
		c.tally.add(k.kind+what, took)
		if what == ", timed out" { // it may have been made or not
			return
		}
		c.events.mu.Lock()
		c.events.cut = append(c.events.cut, failed{begin, time.Now(), k.name + ": " + err.Error(), isBroken(err)})
		c.events.mu.Unlock()
	}
}

// isBroken reports whether a connection broke, to the balancer or behind it.
func isBroken(err error) bool {
	var answered *refusal
	if errors.As(err, &answered) {
		return answered.status == http.StatusBadGateway
	}
	var ended *exec.ExitError
	return !errors.As(err, &ended)
}

// take returns the key of a kind that was changed the longest ago, and marks it as busy. It returns nil if all of the
// kind are being changed.
func (c *cluster) take(kind string) *key {
	c.taking.Lock()
	defer c.taking.Unlock()
	for i, k := range c.keys {
		if k.kind != kind {
			continue
		}
		k.mu.Lock()
		free := !k.busy
		k.busy = true
		k.mu.Unlock()
		if free {
			c.keys = append(append(c.keys[:i:i], c.keys[i+1:]...), k)
			return k
		}
	}
	return nil
}
