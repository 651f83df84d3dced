package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/config"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/upstream"
)

const (
	// lookInterval is how often a server checks whether another process changed the stored tools, or a person the
	// configuration. A check that finds nothing costs a few stats.
	lookInterval = time.Second
	// pollInterval is how often running upstream servers are asked again, since not all of them announce changes.
	pollInterval = 5 * time.Minute
	// readersAtOnce is how many upstream servers are read at the same time. The gateway starts fewer programs at once.
	readersAtOnce = 32
	// firstReading is for how long a server without any tools is not ready while it reads those of its upstreams.
	firstReading = time.Minute
)

// updater keeps a running server up to date: it reads the tools of upstream servers and what other processes store. An
// upstream server is asked at the start if none of its tools are stored, and later whenever it was started for a call
// or announces a change: starting fifty programs with every window of an editor would be of no use. No client waits for
// any of this.
type updater struct {
	*tenant
	config    *config.Config // what was applied last; only followStore uses it
	queue     chan string    // names of servers to read again
	added     chan []tool.ID // tools that appeared, for which phrases may be written
	unread    atomic.Int64   // how many servers have yet to be read for the first time
	begun     time.Time      // when start was called on an empty catalogue; zero if it held tools
	tasks     sync.WaitGroup
	trustDue  bool   // a change of trust has not been applied; only followStore uses this and the next
	trustFail string // why, as it was logged
	owner     bool   // as of the last look; only followStore uses it
}

// newUpdater returns an updater that does nothing before start. The service was opened with the configuration now.
func newUpdater(t *tenant, now *config.Config) *updater {
	return &updater{tenant: t, config: now, queue: make(chan string, 256), added: make(chan []tool.ID, 256)}
}

// announceServer queues a server whose tools have changed. It does not block: if the queue is full, the server is read
// after its next announcement or poll.
func (u *updater) announceServer(server string) {
	select {
	case u.queue <- server:
	default:
	}
}

// start begins the work on goroutines that end with ctx. Call it once.
func (u *updater) start(ctx context.Context) {
	u.gateway.Wake()
	unread := u.service.Unread(u.service.Servers())
	if u.service.Catalog.Set().Len() == 0 {
		u.begun = time.Now()
	}
	// The count is set before the goroutines begin, so that ready never reports readiness in between.
	u.unread.Store(int64(len(unread)))
	u.tasks.Go(func() { u.readUpstreams(ctx, unread) })
	u.tasks.Go(func() { u.followStore(ctx) })
	u.tasks.Go(func() { u.enrichNew(ctx) })
	if u.service.Skills != nil {
		u.tasks.Go(func() { u.followSkills(ctx) })
	}
	if !u.o.Temporary {
		u.tasks.Go(func() { u.noteStates(ctx) })
	}
}

// ready returns an error while the service has no tools yet because they are being read, and while it has those of an
// earlier run because the database was not reached since.
func (u *updater) ready() error {
	if err := u.service.Unreached(); err != nil {
		return fmt.Errorf("what is served is that of an earlier run: %w", err)
	}
	n := u.unread.Load()
	if n == 0 || time.Since(u.begun) > firstReading {
		return nil
	}
	if n == 1 {
		return errors.New("1 server is being read")
	}
	return fmt.Errorf("%d servers are being read", n)
}

// wait returns when all goroutines of start have ended.
func (u *updater) wait() { u.tasks.Wait() }

// readUpstreams reads the tools of servers that are new here, several at a time, and then those of servers that
// announce a change. Servers that could not be read are tried again at each poll.
func (u *updater) readUpstreams(ctx context.Context, unread []upstream.Server) {
	var readers sync.WaitGroup
	// The first readings run in parallel. Later ones run one after the other, on this goroutine, so that a busy server
	// cannot start many imports.
	slots := make(chan struct{}, readersAtOnce)
	for _, one := range unread {
		readers.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			defer u.unread.Add(-1)
			u.readTools(ctx, one.Name)
		})
	}
	defer readers.Wait()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case name := <-u.queue:
			u.readTools(ctx, name)
		case <-poll.C:
			u.poll()
		}
	}
}

// poll queues the servers whose tools may have changed, if this process is the one that asks for all: those that run
// here, and those that failed before they could be read. Where others share the catalogue, a server may run for them
// alone, so that all are asked that did not fail.
func (u *updater) poll() {
	if !u.service.Owner() {
		return
	}
	for _, status := range u.gateway.Status() {
		failed, idle := status.State == upstream.Failed, status.State == upstream.Known || status.State == upstream.Configured
		if status.State == upstream.Running || failed && status.Tools == 0 || idle && u.service.Shared() {
			u.announceServer(status.Server)
		}
	}
}

// takeOver polls when this process has become the one that does so for all, since nobody knows when the one before did
// last.
func (u *updater) takeOver() {
	before := u.owner
	if u.owner = u.service.Owner(); u.owner && !before {
		u.o.Logger.Info("this process asks servers for their tools and drops what is old, for all that share the database")
		u.poll()
	}
}

// readTools imports the tools of a server. A failure is logged; the stored tools are served further. The server may
// have been removed meanwhile, and its tools must not come back then.
func (u *updater) readTools(ctx context.Context, name string) {
	up, ok := u.gateway.Upstream(name)
	if !ok || ctx.Err() != nil {
		return
	}
	report, err := u.service.Catalog.Sync(ctx, up)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		u.o.Logger.Warn("cannot read the tools of a server; what is stored of it is served", "server", name, "error", err)
	// the server was removed while it was being read
	case !u.isConfigured(name):
		u.removeTools(ctx, name)
	default:
		u.service.WarnHeld(report)
		n := report.Changes()
		u.o.Logger.Info("read the tools of a server", "server", name, "changes", n)
		if n > 0 {
			u.all.catalogChanged()
		}
		select {
		case u.added <- report.Added:
		default: // very many servers change; tooldex enrich lists what is unfamiliar
		}
	}
}

// enrichNew has search phrases written for tools that appear, if the configuration asks for it.
func (u *updater) enrichNew(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case ids := <-u.added:
			if len(ids) > 0 && u.service.EnrichNew(ctx, ids) {
				u.all.catalogChanged()
			}
		}
	}
}

// isConfigured reports whether a server is still configured or stored.
func (u *updater) isConfigured(name string) bool {
	return slices.ContainsFunc(u.service.Servers(), func(s upstream.Server) bool { return s.Name == name })
}

// removeTools removes the tools of a server that was removed, maybe while they were being read.
func (u *updater) removeTools(ctx context.Context, name string) {
	if _, err := u.service.Catalog.Remove(ctx, name); err != nil && tool.CodeOf(err) != tool.NotFound {
		u.o.Logger.Warn("cannot remove the tools of a server that was removed", "server", name, "error", err)
	}
	u.all.catalogChanged()
}

// saveShare bounds the time that is spent on writing the index: one part in this many.
const saveShare = 20

// followStore applies what other processes store and changes of the configuration, every lookInterval, when the store
// tells of a change, or when a reload is requested. An error of the store is logged once, and its end as well.
func (u *updater) followStore(ctx context.Context) {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	stored := u.service.Catalog.Servers()
	u.owner = !u.service.Shared()     // nothing is taken over where each process works for itself
	failing := false                  // the last look could not read the store, which was logged
	saving := make(chan time.Time, 1) // when the index may be written next; empty while it is being written
	saving <- time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-u.service.Store.Changed():
		case <-u.o.ReloadRequests:
			u.o.Config.Invalidate()
		}
		u.takeOver()
		// The order: preferences, configuration, tools, index file, servers. Each step uses what the one before has
		// read.
		u.refreshPreferences(ctx, failing)
		u.reloadConfig(ctx)
		changed, err := u.service.Catalog.Refresh(ctx)
		if err != nil {
			if ctx.Err() == nil && !failing {
				u.o.Logger.Warn("cannot read the stored tools again; those in memory are served", "error", err)
			}
			failing = true
			continue
		}
		if failing {
			u.o.Logger.Warn("the stored tools can be read again")
		}
		u.saveIndex(ctx, saving)
		failing = false
		if changed {
			u.all.catalogChanged()
		}
		// Reading an upstream's tools may have brought the change before.
		if now := u.service.Catalog.Servers(); !slices.EqualFunc(stored, now, service.SameServer) {
			stored = now
			u.gateway.Set(u.service.Servers())
			u.gateway.Wake()
		}
	}
}

// saveIndex writes the index in the background, unless it is being written, or was so not long ago.
func (u *updater) saveIndex(ctx context.Context, saving chan time.Time) {
	select {
	case next := <-saving:
		start := time.Now()
		if start.Before(next) {
			saving <- next
			return
		}
		u.tasks.Go(func() {
			u.service.SaveIndex(ctx)
			saving <- time.Now().Add(saveShare * time.Since(start)) // a large index is not written at every change
		})
	default:
	}
}

// refreshPreferences reads the preferences that other processes stored. An error is logged unless the store is
// known to be unreadable.
func (u *updater) refreshPreferences(ctx context.Context, failing bool) {
	changed, err := u.views.RefreshPreferences(ctx)
	switch {
	case err != nil && ctx.Err() == nil && !failing:
		u.o.Logger.Warn("cannot read the preferences again", "error", err)
	case changed:
		u.all.catalogChanged()
	}
}

// noteStates writes the states of upstream servers for other processes.
func (u *updater) noteStates(ctx context.Context) {
	// doctor and servers list of other processes read the note.
	note := service.NewStatusNote(service.StatusDir(u.service.Dir()))
	defer note.Remove()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		if err := note.Update(u.gateway.Status()); err != nil {
			u.o.Logger.Debug("cannot note the states of the servers", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// reloadConfig applies changes of the configuration. The home tenant reads the file again, for all. Servers that are
// configured as before, and the sessions of clients, go on.
func (u *updater) reloadConfig(ctx context.Context) {
	if u.name == "" {
		change, err := u.o.Config.Reload()
		if err != nil {
			u.o.Logger.Error("cannot read the configuration; the previous one stays in effect", "error", err)
			return
		}
		if change != nil {
			u.noteReload(*change)
		}
	}
	if now := u.service.Config(); now != u.config {
		change := config.Change{Before: u.config, Now: now}
		u.config = now
		u.applyConfig(ctx, change)
	} else if u.trustDue {
		u.applyTrust(ctx)
	}
}

// noteReload applies what a change of the configuration means for the process. The settings in change.Restart are only
// logged.
func (u *updater) noteReload(change config.Change) {
	if level := change.Now.LogLevel; level != change.Before.LogLevel {
		if err := u.o.SetLogLevel(level); err != nil {
			u.o.Logger.Error("cannot change the log level", "error", err)
		}
	}
	path, _ := u.o.Config.Path()
	u.logLifecycle("read the configuration again", "config", path)
	for _, key := range change.Restart {
		u.o.Logger.Warn("a change of the configuration takes effect after a restart", "key", key)
	}
}

// applyConfig applies a change of what the tenant sees of the configuration, part by part.
func (u *updater) applyConfig(ctx context.Context, change config.Change) {
	if change.Profiles() {
		u.logProfiles(change)
	}
	// Listings change before trust and servers, which notify clients anyway.
	if change.Profiles() || change.Listing() {
		u.all.applyListing()
		u.o.Logger.Info("tools are listed as the configuration says now")
	}
	if change.Confirmation() {
		u.o.Logger.Info("calls are confirmed as the configuration says now")
	}
	if change.Trust() || u.trustDue {
		u.applyTrust(ctx)
	}
	if change.Servers() {
		u.applyServers(ctx, change)
	}
}

// logProfiles warns of profiles that name unknown servers, and of clients of profiles that are gone.
func (u *updater) logProfiles(change config.Change) {
	for name, p := range change.Now.Profiles {
		if before, ok := change.Before.Profiles[name]; !ok || !slices.Equal(before.Servers, p.Servers) {
			warnUnknownServers(u.service, name, p)
		}
	}
	for name := range change.Before.Profiles {
		if _, ok := change.Now.Profiles[name]; !ok {
			u.o.Logger.Warn("a profile is gone; clients that are connected to it see no tools", "profile", name)
		}
	}
}

// applyServers gives the gateway the new list of servers, removes the tools of those that are gone, and queues those
// that are new or configured differently.
func (u *updater) applyServers(ctx context.Context, change config.Change) {
	now := u.service.Servers()
	u.o.Logger.Info("the servers of the configuration have changed", "servers", len(now))
	// The gateway comes first: a removed server must not announce tools while its tools are removed.
	u.gateway.Set(now)
	u.gateway.Wake()
	find := func(list []upstream.Server, name string) int {
		return slices.IndexFunc(list, func(s upstream.Server) bool { return s.Name == name })
	}
	for _, s := range change.Before.Servers {
		if find(now, s.Name) < 0 {
			u.removeTools(ctx, s.Name)
		}
	}
	for _, s := range change.Now.Servers {
		i := find(change.Before.Servers, s.Name)
		if !s.Disabled && (i < 0 || !service.SameServer(change.Before.Servers[i], s)) {
			u.announceServer(s.Name)
		}
	}
}

// applyTrust applies the current settings of trust to the stored tools. A failure is logged once, and tried again at
// the next look.
func (u *updater) applyTrust(ctx context.Context) {
	if u.trustDue = false; u.service.Temporary() {
		return
	}
	// clients are notified only if the change affects what they see
	before := u.service.Catalog.Set().Version()
	err := u.service.Catalog.Retrust(ctx, u.service.Trust())
	switch {
	case err == nil:
		u.trustFail = ""
		if u.service.Catalog.Set().Version() != before {
			u.o.Logger.Info("tools are trusted as the configuration says now")
			u.all.catalogChanged()
		}
	case ctx.Err() == nil:
		if u.trustDue = true; err.Error() != u.trustFail {
			u.o.Logger.Error("cannot apply who is trusted until the tools can be read again", "error", err)
		}
		u.trustFail = err.Error()
	}
}
