package gateway

import (
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// usage describes a use of a server. The zero value is a listing by this program itself.
type usage struct {
	client  *tool.Client // nil for a caller that cannot be asked
	listens bool         // to what the server says meanwhile
	counts  bool         // as a reason to keep the server running
}

// beginUse registers a call or listing that needs the server to run. Each needs one endUse.
func (u *Upstream) beginUse(by usage) *caller {
	u.mu.Lock()
	u.active++
	u.mu.Unlock()
	return u.callers.addCaller(by.client, by.listens)
}

// endUse unregisters a call or listing. After the last one the idle time begins. A listing does not reset that time,
// since the regular listings would keep the server running for ever.
func (u *Upstream) endUse(c *caller, by usage) {
	u.callers.removeCaller(c)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.active--; by.counts {
		u.used = time.Now()
	}
	u.scheduleIdleStop()
}

// idleTimeout returns the time without use after which the server is stopped. It is never stopped if this is not
// positive.
func (u *Upstream) idleTimeout() time.Duration {
	if u.cfg.Idle == 0 && !u.cfg.Eager {
		return u.opts.idleTimeout
	}
	return u.cfg.Idle
}

// scheduleIdleStop sets the timer that stops an idle server, unless the server is in use. u.mu is held.
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

// stopIfIdle stops the server if it is still idle. One with subscriptions counts as used. The next call starts it
// again.
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
	u.record.addLine(upstream.FromGateway, "stopped after it was idle")
	u.running.Go(s.close)
}

// keepRunning starts the server and has it started again whenever it ends. Further calls do nothing.
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
		_, _ = u.acquireSession(u.ctx, usage{}) // what goes wrong is in the status, and tried again
	})
}

// restartEagerly starts a server that is to run all the time again, after the pause that its failures call for. u.mu is
// held. The pause is at least firstBackoff, also after a session that ended well.
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

// backoffEnd returns notBefore. u.mu is not held.
func (u *Upstream) backoffEnd() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.notBefore
}
