package gateway

import (
	"time"

	"tooldex/tool"
)

// enter notes that a call or listing begins, for which the server has to run.
func (u *Upstream) enter(client *tool.Client, listens bool) *caller {
	u.mu.Lock()
	u.active++
	if u.rest != nil {
		u.rest.Stop()
	}
	u.mu.Unlock()
	return u.callers.begin(client, listens)
}

// leave notes that it has ended. When nothing else runs, the server may rest after a while.
func (u *Upstream) leave(c *caller) {
	u.callers.end(c)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.active--
	u.restLater()
}

// restLater has the server stopped after its idle time, unless it is used again before. u.mu is held.
func (u *Upstream) restLater() {
	idle := u.cfg.Idle
	if idle == 0 && !u.cfg.Eager {
		idle = u.opts.Idle
	}
	if idle <= 0 || u.active > 0 || u.stopped {
		return
	}
	if u.rest == nil {
		u.rest = time.AfterFunc(idle, u.restNow)
		return
	}
	u.rest.Reset(idle)
}

// restNow stops the server, if it is idle still. The next call starts it again.
func (u *Upstream) restNow() {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.session
	if s == nil || u.active > 0 || u.stopped || len(u.watched) > 0 {
		return
	}
	u.session = nil
	u.logger.Debug("upstream stopped after it was idle")
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
