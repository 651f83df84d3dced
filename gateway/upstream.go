package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"tooldex/tool"
)

// Upstream is one configured server. It is started by the first call or listing, and again by the next one after it
// ended. An Upstream is safe for concurrent use; [Gateway.Set] makes and ends it.
type Upstream struct {
	cfg     tool.Server
	opts    Options
	logger  *slog.Logger
	slots   *slots
	running *sync.WaitGroup // the gateway's: all goroutines
	changed chan struct{}

	ctx    context.Context // ends when the server is removed
	cancel context.CancelFunc

	mu        sync.Mutex
	session   *session // nil while it does not run
	starting  *start   // nil while nobody starts it
	legacy    bool     // the older handshake is the one that works
	failures  int      // failed starts in a row
	notBefore time.Time
	lastErr   error // of the last start or connection; nil while it runs
	tools     int
	listed    bool
	stopped   bool
}

// start is one attempt to start a server, shared by all who wait for it.
type start struct {
	done    chan struct{}
	session *session
	err     error
}

func newUpstream(cfg tool.Server, opts Options, running *sync.WaitGroup) *Upstream {
	u := &Upstream{
		cfg: cfg, opts: opts, logger: opts.Logger.With("server", cfg.Name), running: running,
		slots: newSlots(cfg.Name, opts.Concurrency, opts.Queue), changed: make(chan struct{}, 1),
	}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	if opts.OnListChanged != nil {
		running.Go(u.announce)
	}
	return u
}

// Name returns the server's name.
func (u *Upstream) Name() string { return u.cfg.Name }

// Tools asks the server for all of its tools, starting it if need be. Their schemas, _meta and icons hold the server's own
// bytes. A name that comes twice counts once; tools without a name are left out. The slice and tools are the caller's.
// Errors are those of [Gateway.Call]; a listing that fails halfway returns none of it.
func (u *Upstream) Tools(ctx context.Context) ([]*tool.Tool, error) {
	var tools []*tool.Tool
	err := u.withSession(ctx, func(s *session) (retry bool, err error) {
		tools, retry, err = s.list(ctx, u.timeout(), u.logger)
		return retry, err
	})
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tools, u.listed = len(tools), true
	return tools, nil
}

func (u *Upstream) call(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
	release, err := u.slots.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var res *tool.CallResult
	err = u.withSession(ctx, func(s *session) (retry bool, err error) {
		res, retry, err = s.call(ctx, c, u.timeout())
		return retry, err
	})
	return res, err
}

func (u *Upstream) timeout() time.Duration {
	if u.cfg.Timeout > 0 {
		return u.cfg.Timeout
	}
	return u.opts.CallTimeout
}

// withSession runs f on a session. If f says that the server did not accept the request, because it ended since or was
// restarted and no longer knows the session, f is run once more on a new one.
func (u *Upstream) withSession(ctx context.Context, f func(*session) (retry bool, err error)) error {
	for again := true; ; again = false {
		s, err := u.acquire(ctx)
		if err != nil {
			return err
		}
		retry, err := f(s)
		if retry {
			u.drop(s, err)
		}
		if err == nil || !retry || !again || ctx.Err() != nil {
			return err
		}
		u.logger.Debug("upstream did not take a request; connecting anew", "error", err)
	}
}

// acquire returns a live session, starting the server if it has none.
func (u *Upstream) acquire(ctx context.Context) (*session, error) {
	a, s, err := u.join()
	if a == nil {
		return s, err
	}
	select {
	case <-a.done:
		return a.session, a.err
	case <-ctx.Done():
		return nil, ended(ctx.Err(), fmt.Sprintf("the call that waited for server %q to start", u.cfg.Name))
	}
}

// join returns the live session, or the attempt under way to get one, which it begins if there is none.
func (u *Upstream) join() (*start, *session, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stopped {
		return nil, nil, u.gone()
	}
	if u.session != nil && u.session.alive() {
		return nil, u.session, nil
	}
	if u.starting == nil {
		if wait := time.Until(u.notBefore); wait > 0 {
			return nil, nil, &tool.Error{
				Code: tool.Unavailable, Op: "start server", Err: u.lastErr,
				Msg:  fmt.Sprintf("server %q does not run: its last start failed", u.cfg.Name),
				Hint: fmt.Sprintf("try again in %v", wait.Round(100*time.Millisecond)+100*time.Millisecond),
			}
		}
		a := &start{done: make(chan struct{})}
		u.starting = a
		u.running.Go(func() { u.run(a) })
	}
	return u.starting, nil, nil
}

func (u *Upstream) gone() error {
	return &tool.Error{Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("server %q was stopped", u.cfg.Name), Err: errStopped}
}

// run starts the server, and stays with its session until that ends.
func (u *Upstream) run(a *start) {
	d := dialer{cfg: u.cfg, opts: u.opts, logger: u.logger, changed: u.changed}
	u.mu.Lock()
	legacy := u.legacy
	u.mu.Unlock()
	s, legacy, err := d.open(u.ctx, legacy)
	stopped := u.started(a, s, legacy, err)
	close(a.done)
	if s == nil {
		return
	}
	if stopped {
		u.running.Go(s.close)
	}
	reason := s.watch()
	u.ended(s, s.endError(reason))
}

// started records how a start went. It reports whether the upstream was stopped meanwhile.
func (u *Upstream) started(a *start, s *session, legacy bool, err error) (stopped bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.starting = nil
	if u.stopped {
		a.err = u.gone()
		return true
	}
	a.session, a.err, u.lastErr = s, err, err
	if err != nil {
		if tool.CodeOf(err) != tool.Invalid { // a wrong configuration costs nothing to look at again
			u.failures++
			u.notBefore = time.Now().Add(backoff(u.failures, u.opts.BackoffFirst, u.opts.BackoffMost, random))
		}
		return false
	}
	u.session, u.legacy, u.failures, u.notBefore = s, legacy, 0, time.Time{}
	u.logger.Debug("upstream started", "protocol", s.cs.InitializeResult().ProtocolVersion)
	if u.listed { // it may offer other tools than the one that ran before
		s.signalChanged()
	}
	return false
}

func (u *Upstream) ended(s *session, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.session != s {
		return // dropped or stopped before
	}
	u.session, u.lastErr = nil, err
	u.logger.Warn("upstream ended", "error", err)
}

// drop gives up a session that the server no longer knows.
func (u *Upstream) drop(s *session, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.session != s {
		return
	}
	u.session, u.lastErr = nil, err
	u.running.Go(s.close)
}

// stop ends the server for good. It returns when the session is gone.
func (u *Upstream) stop() {
	u.mu.Lock()
	s, a := u.session, u.starting
	u.session, u.stopped = nil, true
	u.mu.Unlock()
	u.cancel()
	if a != nil {
		<-a.done
	}
	if s != nil {
		s.close()
	}
}

// A change of a server's tools is left to settle before it is announced, since servers send one notification per tool: for
// settle at first, and for twice as long each time while the changes go on.
const (
	settle     = 50 * time.Millisecond
	settleMost = 5 * time.Second
)

// announce calls OnListChanged, once for any number of signals that come together.
func (u *Upstream) announce() {
	wait, last := settle, time.Time{}
	for {
		select {
		case <-u.changed:
		case <-u.ctx.Done():
			return
		}
		if time.Since(last) < 2*wait {
			wait = min(2*wait, settleMost)
		} else {
			wait = settle
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-u.ctx.Done():
			t.Stop()
			return
		}
		select { // what came while it settled
		case <-u.changed:
		default:
		}
		u.opts.OnListChanged(u.cfg.Name)
		last = time.Now()
	}
}

func (u *Upstream) status() tool.Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	st := tool.Status{Server: u.cfg.Name, Transport: kind(u.cfg), Tools: u.tools, State: tool.Configured}
	switch {
	case u.session != nil && u.session.alive():
		st.State = tool.Running
	case u.lastErr != nil:
		st.State = tool.Failed
	case u.listed:
		st.State = tool.Known
	}
	var e *tool.Error
	if errors.As(u.lastErr, &e) {
		st.Error = clip(e.Error(), 500)
	} else if u.lastErr != nil {
		st.Error = clip(u.lastErr.Error(), 500)
	}
	return st
}
