package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"tooldex/gateway"
	"tooldex/selection"
	"tooldex/tool"
)

// lookEvery is how often a server looks whether another process changed the stored tools. A look at rest is one stat.
const lookEvery = time.Second

// pollEvery is how often servers that run are asked again, since not all of them tell of changes.
const pollEvery = 5 * time.Minute

// live keeps a running server up to date: it reads what its upstreams offer and what other processes stored. An
// upstream is asked at the start if nothing of it is stored, and later whenever it was started for a call or says that
// it changed: starting fifty programs with every window of an editor, only to hear the same again, would help nobody.
// Nothing of this is waited for by a client.
type live struct {
	app   *app
	stack *stack

	gw      *gateway.Gateway
	changed func()
	// preferences are read again, too, if they are there.
	preferences *selection.Keeper
	// reconfigure takes over what is new of profiles, and of how tools are listed; nil for nobody.
	reconfigure func(reloaded)
	retrust     bool        // what the configuration says of trust is not heeded yet
	untrusting  string      // why, as was said in the log
	queue       chan string // names of servers to read again
	tasks       sync.WaitGroup
}

func newLive(a *app, s *stack) *live {
	return &live{app: a, stack: s, queue: make(chan string, 256)}
}

// announced notes that a server says its tools changed. It does not block: when very many say so at once, some are left
// for their next announcement.
func (l *live) announced(server string) {
	select {
	case l.queue <- server:
	default:
	}
}

// start begins the work, which ends with ctx. Changed is called after every change of the catalogue.
func (l *live) start(ctx context.Context, gw *gateway.Gateway, changed func()) {
	l.gw, l.changed = gw, changed
	gw.Wake()
	l.tasks.Go(func() { l.readUpstreams(ctx) })
	l.tasks.Go(func() { l.watch(ctx) })
	if !l.stack.demo {
		l.tasks.Go(func() { l.tell(ctx) })
	}
}

// wait returns when nothing runs any more.
func (l *live) wait() { l.tasks.Wait() }

// readUpstreams reads the tools of servers that are new here, a few at a time, and then those of servers that announce
// a change.
func (l *live) readUpstreams(ctx context.Context) {
	known := map[string]bool{}
	for _, t := range l.stack.catalog.Set().All() {
		known[t.Server] = true
	}
	var readers sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, status := range l.gw.Status() {
		if known[status.Server] {
			continue
		}
		readers.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			l.read(ctx, status.Server)
		})
	}
	defer readers.Wait()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case name := <-l.queue:
			l.read(ctx, name)
		case <-poll.C:
			for _, status := range l.gw.Status() {
				if status.State == tool.Running {
					l.announced(status.Server)
				}
			}
		}
	}
}

func (l *live) read(ctx context.Context, name string) {
	up, ok := l.gw.Upstream(name)
	if !ok || ctx.Err() != nil {
		return
	}
	report, err := l.stack.catalog.Sync(ctx, up)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		l.app.log.Warn("tools of a server could not be read; the stored ones are served", "server", name, "error", err)
	case !l.configured(name):
		l.forget(ctx, name)
	default:
		l.app.warnHeld(report)
		l.app.log.Info("read the tools of a server", "server", name, "changes", changes(report))
		if changes(report) > 0 {
			l.changed()
		}
	}
}

// configured reports whether there is a server of that name, as far as can be told.
func (l *live) configured(name string) bool {
	servers, err := l.app.servers(l.stack)
	return err != nil || slices.ContainsFunc(servers, func(s tool.Server) bool { return s.Name == name })
}

// forget removes the tools of a server that another process removed while they were being read here.
func (l *live) forget(ctx context.Context, name string) {
	if _, err := l.stack.catalog.Remove(ctx, name); err != nil && tool.CodeOf(err) != tool.NotFound {
		l.app.log.Warn("the tools of a server that was removed could not be removed", "server", name, "error", err)
	}
	l.changed()
}

// prefer takes over what other processes prefer. Where it is known that nothing can be read, it says nothing of it.
func (l *live) prefer(ctx context.Context, failing bool) {
	if l.preferences == nil {
		return
	}
	changed, err := l.preferences.Refresh(ctx)
	switch {
	case err != nil && ctx.Err() == nil && !failing:
		l.app.log.Warn("the preferences could not be read again", "error", err)
	case changed:
		l.changed()
	}
}

// watch follows what other processes store: their tools, and the servers that were added or removed.
func (l *live) watch(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	hangup, unhook := hangups()
	defer unhook()
	stored := l.stack.catalog.Servers()
	failing := false // to read what is stored, as was said in the log
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-hangup:
			l.app.conf.forget()
		}
		l.prefer(ctx, failing)
		l.configure(ctx)
		changed, err := l.stack.catalog.Refresh(ctx)
		if err != nil {
			if ctx.Err() == nil && !failing {
				l.app.log.Warn("the stored tools could not be read again; those in memory are served", "error", err)
			}
			failing = true
			continue
		}
		if failing {
			l.app.log.Warn("the stored tools can be read again")
		}
		failing = false
		if changed {
			l.changed()
		}
		// Reading an upstream's tools may have brought the news before.
		if slices.EqualFunc(stored, l.stack.catalog.Servers(), sameServer) {
			continue
		}
		stored = l.stack.catalog.Servers()
		now, err := l.app.servers(l.stack)
		if err != nil {
			l.app.log.Warn("the configured servers could not be read again", "error", err)
			continue
		}
		l.gw.Set(now)
		l.gw.Wake()
	}
}

// tell leaves a note of how the upstreams are, for other processes.
func (l *live) tell(ctx context.Context) {
	note := newStatusNote(l.app.statusDir())
	defer note.remove()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := note.update(l.gw.Status()); err != nil {
			l.app.log.Debug("how the servers are could not be noted", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
