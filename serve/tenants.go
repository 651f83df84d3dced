package serve

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"tooldex/tool"
)

const (
	// tenantIdle is how long a tenant stays open that nobody asks for.
	tenantIdle = 15 * time.Minute
	// tenantPatience is how long a request waits for one of the tenants that are open to be let go.
	tenantPatience = 10 * time.Second
	// streamGrace is how long a stream keeps its tenant open. Clients leave streams open for days, and ask again for
	// one that ends.
	streamGrace = 2 * time.Second
	// openingTime is how long a request waits for its tenant to be opened.
	openingTime = 30 * time.Second
	// tenantFinish is for how long the requests of a tenant that is let go may finish. It has none, or just began one.
	tenantFinish = time.Second
)

// tenantTimes are tenantIdle and tenantPatience, which tests lower; zero for these.
type tenantTimes struct{ idle, patience time.Duration }

// tenants are those that profiles name. Each is opened when it is first asked for. Beyond a bound the one that was used
// least recently is closed, and so is one that was idle for tenantIdle. It is safe for concurrent use.
type tenants struct {
	ctx  context.Context // of the background work of all
	end  func()          // ends ctx, when all are closed
	most int
	open func(ctx context.Context, name string) (*tenant, error)
	wait tenantTimes

	tasks sync.WaitGroup // those that open and close

	mu     sync.Mutex
	byName map[string]*heldTenant
	closed bool
}

// heldTenant is a tenant that is being opened, open, or being closed. It is in byName from the begin of the first to
// the end of the last, so that there are never two of one name.
type heldTenant struct {
	*tenant               // nil until ready is closed, and if that failed
	ready   chan struct{} // closed when it is open, or cannot be opened
	err     error         // why it cannot be opened; only read once ready is closed
	gone    chan struct{} // closed when it is no longer in byName

	// What follows is guarded by tenants.mu.
	users   int // requests and streams that use it
	streams int // those of users that are streams
	used    time.Time
	closing bool
}

// newTenants returns tenants of which none is open. Close has to be called.
func newTenants(most int, wait tenantTimes, open func(context.Context, string) (*tenant, error)) *tenants {
	wait.idle, wait.patience = cmp.Or(wait.idle, tenantIdle), cmp.Or(wait.patience, tenantPatience)
	all := &tenants{most: most, open: open, wait: wait, byName: map[string]*heldTenant{}}
	all.ctx, all.end = context.WithCancel(context.Background())
	all.tasks.Go(all.letGoIdle)
	return all
}

// acquire returns a tenant, which stays open until done is called. It opens the tenant if it is not open, and closes
// another one if too many are. The error is Unavailable if none can be closed for tenantPatience, and otherwise that of
// ctx or of opening.
func (all *tenants) acquire(ctx context.Context, name string, stream bool) (t *tenant, done func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, all.wait.patience+openingTime, errNotOpen)
	defer cancel()
	for limit := time.Now().Add(all.wait.patience); ; {
		h, wait, err := all.hold(name, stream)
		if err != nil {
			return nil, nil, err
		}
		if h != nil {
			return all.await(ctx, h, stream)
		}
		if wait == nil && time.Now().After(limit) {
			return nil, nil, &tool.Error{
				Code: tool.Unavailable, Op: "open tenant", Msg: "all tenants that may be open have requests under way",
				Hint: "raise serve.maxTenants",
			}
		}
		select {
		case <-wait: // never, if it is nil
		case <-time.After(20 * time.Millisecond): // one may have become idle
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// await returns a tenant that the caller holds once it is open.
func (all *tenants) await(ctx context.Context, h *heldTenant, stream bool) (*tenant, func(), error) {
	done := sync.OnceFunc(func() { all.release(h, stream) })
	select {
	case <-h.ready:
	case <-ctx.Done():
		done()
		return nil, nil, context.Cause(ctx)
	}
	if h.err != nil {
		done()
		return nil, nil, h.err
	}
	return h.tenant, done, nil
}

// hold counts a user of a tenant, which it begins to open if it may. If it returns no tenant, wait ends when to try
// again, or is nil if nothing is known to end.
func (all *tenants) hold(name string, stream bool) (h *heldTenant, wait <-chan struct{}, err error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return nil, nil, &tool.Error{Code: tool.Unavailable, Op: "open tenant", Msg: "the server is closing"}
	}
	h = all.byName[name]
	switch {
	case h != nil && h.closing:
		return nil, h.gone, nil
	case h == nil && len(all.byName) >= all.most:
		return nil, all.letGoOldest(), nil
	case h == nil:
		h = &heldTenant{ready: make(chan struct{}), gone: make(chan struct{})}
		all.byName[name] = h
		all.tasks.Go(func() { all.opening(name, h) })
	}
	h.users++
	if stream {
		h.streams++
	}
	h.used = time.Now()
	return h, nil, nil
}

// release ends what hold began.
func (all *tenants) release(h *heldTenant, stream bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	h.users--
	if stream {
		h.streams--
	}
	h.used = time.Now()
}

// opening opens a tenant. The requests that wait for it may give up; it is then open for the next.
func (all *tenants) opening(name string, h *heldTenant) {
	t, err := all.open(all.ctx, name)
	if err == nil {
		if err = t.begin(t.ctx, "tenant "+name); err != nil {
			err = errors.Join(err, t.end(all.ctx))
		}
	}
	if err == nil {
		h.tenant = t
		close(h.ready)
		return
	}
	h.err = err
	all.remove(name, h)
	close(h.ready)
}

// remove forgets a tenant that is closed, or was never open.
func (all *tenants) remove(name string, h *heldTenant) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.byName, name)
	close(h.gone)
}

// isOpen reports whether a tenant was opened.
func (h *heldTenant) isOpen() bool {
	select {
	case <-h.ready:
		return h.err == nil
	default:
		return false
	}
}

// isIdle reports whether a tenant can be let go: nobody uses it but by streams that have been open for a while. The
// caller holds mu.
func (h *heldTenant) isIdle() bool {
	switch {
	case !h.isOpen() || h.closing:
		return false
	case h.users == 0:
		return true
	case h.users > h.streams || time.Since(h.used) < streamGrace:
		return false
	}
	busy := false // a path of streams also takes calls
	h.all.eachSurface(func(one *surface) { busy = busy || one.mcp.Busy() })
	return !busy
}

// letGoOldest begins to close the idle tenant that was used least recently. It returns what ends when that is done, or
// nil if none is idle. The caller holds mu.
func (all *tenants) letGoOldest() <-chan struct{} {
	var oldest *heldTenant
	for _, h := range all.byName {
		if h.closing { // there will be room
			return h.gone
		}
		if h.isIdle() && (oldest == nil || h.used.Before(oldest.used)) {
			oldest = h
		}
	}
	if oldest == nil {
		return nil
	}
	all.letGo(oldest)
	return oldest.gone
}

// letGo begins to close a tenant. The caller holds mu.
func (all *tenants) letGo(h *heldTenant) {
	h.closing = true
	all.tasks.Go(func() {
		if err := h.shutDown(tenantFinish); err != nil {
			h.o.Logger.Warn("a tenant was closed with an error", "tenant", h.name, "error", err)
		}
		h.o.Logger.Info("closed a tenant that was not used", "tenant", h.name)
		all.remove(h.name, h)
	})
}

// shutDown ends the sessions of a tenant, and then the tenant.
func (h *heldTenant) shutDown(within time.Duration) error {
	return errors.Join(h.all.shutdownAll(within), h.end(context.Background()))
}

// letGoIdle closes tenants that were idle for long, until ctx ends.
func (all *tenants) letGoIdle() {
	ticker := time.NewTicker(all.wait.idle / 10)
	defer ticker.Stop()
	for {
		select {
		case <-all.ctx.Done():
			return
		case <-ticker.C:
		}
		all.mu.Lock()
		for _, h := range all.byName {
			if h.isIdle() && h.users == 0 && time.Since(h.used) > all.wait.idle {
				all.letGo(h)
			}
		}
		all.mu.Unlock()
	}
}

// each calls do with every tenant that is open at the time of the call.
func (all *tenants) each(do func(*tenant)) {
	all.mu.Lock()
	var open []*tenant
	for _, h := range all.byName {
		if h.isOpen() {
			open = append(open, h.tenant)
		}
	}
	all.mu.Unlock()
	for _, t := range open {
		do(t)
	}
}

// close closes all tenants, once their requests are answered or the time is over, and opens none any more.
func (all *tenants) close(within time.Duration) error {
	all.mu.Lock()
	all.closed = true
	var held []*heldTenant
	for _, h := range all.byName {
		if !h.closing {
			h.closing = true
			held = append(held, h)
		}
	}
	all.mu.Unlock()
	all.end() // what is being opened is given up
	var ends sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, h := range held {
		ends.Go(func() {
			<-h.ready
			if h.err != nil {
				return
			}
			err := h.shutDown(within)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	ends.Wait()
	all.tasks.Wait()
	return errors.Join(errs...)
}
