package gateway

import (
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// usage says for whom a server runs. The zero value is this program, which wants to know what there is.
type usage struct {
	client  *tool.Client // nil if nobody who can be asked
	listens bool         // to what the server says meanwhile
	counts  bool         // as a reason to keep the server running
}

// beginUse notes that a call or listing begins, for which the server has to run.
func (u *Upstream) beginUse(by usage) *caller {
	u.mu.Lock()
	u.active++
	u.mu.Unlock()
	return u.callers.addCaller(by.client, by.listens)
}

// endUse notes that it has ended. When nothing else runs, the server may rest after a while.
// To be asked for its tools now and then is no use of it: it would never rest.
func (u *Upstream) endUse(c *caller, by usage) {
	u.callers.removeCaller(c)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.active--; by.counts {
		u.used = time.Now()
	}
	u.scheduleIdleStop()
}

// idleTimeout is after which time without use the server is stopped; never, if it is not positive.
func (u *Upstream) idleTimeout() time.Duration {
	if u.cfg.Idle == 0 && !u.cfg.Eager {
		return u.opts.idleTimeout
	}
	return u.cfg.Idle
}

// scheduleIdleStop has the server stopped after its idle time, unless it is used again before. u.mu is held.
func (u *Upstream) scheduleIdleStop() {
	if u.idleTimeout() <= 0 || u.active > 0 || u.stopped {
		return
	}
	left := max(u.idleTimeout()-time.Since(u.used), 0)
	if u.rest == nil {
		u.rest = time.AfterFunc(left, u.stopIfIdle)
		return
	}
	u.rest.Reset(left)
}

// stopIfIdle stops the server, if it is idle still. The next call starts it again.
func (u *Upstream) stopIfIdle() {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.session
	switch {
	case s == nil || u.active > 0 || u.stopped:
		return // what ends or begins next looks again
	case len(u.watched) > 0:
		u.used = time.Now()
		u.scheduleIdleStop()
		return
	case time.Since(u.used) < u.idleTimeout():
		u.scheduleIdleStop()
		return
	}
	u.session = nil
	u.logger.Debug("upstream stopped after it was idle")
	u.record.add(upstream.FromGateway, "stopped after it was idle")
	u.running.Go(s.close)
}

// keepRunning starts the server, and starts it again whenever it ends.
func (u *Upstream) keepRunning() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept {
		return
	}
	u.kept = true
	u.startEagerly()
}

// startEagerly starts the server without waiting for it. u.mu is held.
func (u *Upstream) startEagerly() {
	if u.stopped {
		return
	}
	u.running.Go(func() {
		_, _ = u.acquireSession(u.ctx, nil) // what goes wrong is in the status, and tried again
	})
}

// restartEagerly wakes a server that is to run all the time after the pause that its failures call for. u.mu is held.
func (u *Upstream) restartEagerly() {
	if !u.kept || u.stopped {
		return
	}
	u.running.Go(func() {
		t := time.NewTimer(max(time.Until(u.backoffEnd()), u.opts.firstBackoff))
		defer t.Stop()
		select {
		case <-t.C:
			u.mu.Lock()
			defer u.mu.Unlock()
			u.startEagerly()
		case <-u.ctx.Done():
		}
	})
}

func (u *Upstream) backoffEnd() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.notBefore
}
