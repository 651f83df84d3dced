package gateway

import (
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// use says for whom a server runs. The zero value is this program, which wants to know what there is.
type use struct {
	client  *tool.Client // nil if nobody who can be asked
	listens bool         // to what the server says meanwhile
	counts  bool         // as a reason to keep the server running
}

// enter notes that a call or listing begins, for which the server has to run.
func (u *Upstream) enter(by use) *caller {
	u.mu.Lock()
	u.active++
	u.mu.Unlock()
	return u.callers.begin(by.client, by.listens)
}

// leave notes that it has ended. When nothing else runs, the server may rest after a while.
// To be asked for its tools now and then is no use of it: it would never rest.
func (u *Upstream) leave(c *caller, by use) {
	u.callers.end(c)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.active--; by.counts {
		u.used = time.Now()
	}
	u.restLater()
}

// idle is after which time without use the server is stopped; never, if it is not positive.
func (u *Upstream) idle() time.Duration {
	if u.cfg.Idle == 0 && !u.cfg.Eager {
		return u.opts.Idle
	}
	return u.cfg.Idle
}

// restLater has the server stopped after its idle time, unless it is used again before. u.mu is held.
func (u *Upstream) restLater() {
	if u.idle() <= 0 || u.active > 0 || u.stopped {
		return
	}
	left := max(u.idle()-time.Since(u.used), 0)
	if u.rest == nil {
		u.rest = time.AfterFunc(left, u.restNow)
		return
	}
	u.rest.Reset(left)
}

// restNow stops the server, if it is idle still. The next call starts it again.
func (u *Upstream) restNow() {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.session
	switch {
	case s == nil || u.active > 0 || u.stopped:
		return // what ends or begins next looks again
	case len(u.watched) > 0:
		u.used = time.Now()
		u.restLater()
		return
	case time.Since(u.used) < u.idle():
		u.restLater()
		return
	}
	u.session = nil
	u.logger.Debug("upstream stopped after it was idle")
	u.record.add(upstream.FromGateway, "stopped after it was idle")
	u.running.Go(s.close)
}

// keep starts the server, and starts it again whenever it ends.
func (u *Upstream) keep() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept {
		return
	}
	u.kept = true
	u.wake()
}

// wake starts the server without waiting for it. u.mu is held.
func (u *Upstream) wake() {
	if u.stopped {
		return
	}
	u.running.Go(func() {
		_, _ = u.acquire(u.ctx, nil) // what goes wrong is in the status, and tried again
	})
}

// again wakes a server that is to run all the time after the pause that its failures call for. u.mu is held.
func (u *Upstream) again() {
	if !u.kept || u.stopped {
		return
	}
	u.running.Go(func() {
		t := time.NewTimer(max(time.Until(u.pause()), u.opts.BackoffFirst))
		defer t.Stop()
		select {
		case <-t.C:
			u.mu.Lock()
			defer u.mu.Unlock()
			u.wake()
		case <-u.ctx.Done():
		}
	})
}

func (u *Upstream) pause() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.notBefore
}
