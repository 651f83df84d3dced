package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// Upstream is one configured server. The first call or listing starts it, and the next one starts it again after it
// ended. An Upstream is safe for concurrent use; [Gateway.Set] makes and ends it. mu guards the fields below it, except
// for reading.
type Upstream struct {
	cfg      upstream.Server
	personal []string // what each user has to store for it; nil for most servers
	opts     Options
	logger   *slog.Logger
	slots    *callSlots
	callers  callers
	guards   hostGuards
	record   stderrLog
	running  *sync.WaitGroup // the gateway's: all goroutines
	changed  chan struct{}   // signals tools/list_changed, for OnListChanged
	others   chan struct{}   // signals changes of features, for refreshFeatures

	ctx    context.Context // ends when the server is removed
	cancel context.CancelFunc

	mu        sync.Mutex
	session   *session           // nil while it does not run
	starting  *pendingStart      // nil while nobody starts it
	speaks    connectionHints    // what is known of its protocols
	failures  int                // failed starts in a row
	restarts  int                // successful starts after a failed one or a lost connection
	notBefore time.Time          // end of the pause after a failed start
	lastErr   error              // of the last start or connection; nil while it runs
	failedAt  time.Time          // when lastErr happened
	failed    upstream.Status    // why the listing of an earlier run failed, if it did
	tools     int                // how many the last listing had
	listed    bool               // a listing has succeeded
	stopped   bool               // for good, by Set or Close
	halted    bool               // by hand, until the next call or Start
	kept      bool               // it is to run all the time
	active    int                // calls and listings that run or wait
	used      time.Time          // when a call last ended, or the server was started
	rest      *time.Timer        // stops it when it was idle for long enough; nil before the first
	about     upstream.About     // what the server said of itself when it was started last
	features  *upstream.Features // nil before the first use; replaced, never changed
	reading   sync.Mutex         // held while features are asked for
	listing   sync.Mutex         // guards needs and its file
	needs     map[string]capabilitySet
	watched   map[string]int // how many subscriptions there are to which resource

	installing atomic.Bool // a package runner installs it, while starting is not nil
}

// pendingStart is one attempt to start a server, shared by all callers that wait for it. session and err are set before
// done is closed.
type pendingStart struct {
	done    chan struct{}
	urgent  chan struct{} // closed once a client waits, so that the start does not wait for its turn
	hurry   sync.Once     // closes urgent
	session *session
	err     error
}

// newUpstream starts the goroutines that deliver signals, and registers them with running. It does not start the
// server.
func newUpstream(cfg upstream.Server, opts Options, running *sync.WaitGroup) *Upstream {
	u := &Upstream{
		cfg: cfg, personal: personalNames(cfg), opts: opts, logger: opts.Logger.With("server", cfg.Name), running: running,
		slots: newSlots(cfg.Name, cmp.Or(cfg.Concurrency, opts.concurrency),
			max(cmp.Or(cfg.Queue, opts.queueLength), 0), opts.queueTimeout),
		changed: make(chan struct{}, 1), others: make(chan struct{}, 1), watched: map[string]int{},
	}
	u.guards.o = opts.outbound
	u.callers.asker = asker{cfg.Name, cfg.Roots}
	u.failed, _ = LastFailure(opts.Dir, cfg.Name)
	u.ctx, u.cancel = context.WithCancel(context.Background())
	if opts.OnListChanged != nil {
		running.Go(func() { u.deliverSignals(u.changed, func() { opts.OnListChanged(cfg.Name) }) })
	}
	running.Go(func() { u.deliverSignals(u.others, u.refreshFeatures) })
	return u
}

// Name returns the server's name.
func (u *Upstream) Name() string { return u.cfg.Name }

// Tools asks the server for all of its tools, starting it if need be. Their schemas, _meta and icons hold the server's
// own bytes. A name that comes twice counts once; tools without a name are left out. The slice and tools are the
// caller's. What else the server offers is read along with them. Errors are those of [Gateway.Call], and Unavailable
// for a server that was stopped by [Gateway.Stop]; a listing that fails halfway returns none of it.
func (u *Upstream) Tools(ctx context.Context) ([]*tool.Tool, error) {
	tools, _, err := u.ListTools(ctx)
	return tools, err
}

// ListTools is Tools, and also returns the names of the tools that the server has shown to sessions of other clients
// and not to the present one, which can be asked less: they may exist still.
func (u *Upstream) ListTools(ctx context.Context) (tools []*tool.Tool, hidden []string, err error) {
	err = u.withSession(ctx, usage{}, func(s *session, _ *caller) (retry bool, err error) {
		tools, retry, err = s.listTools(ctx, u.callTimeout(), u.logger)
		if err == nil {
			hidden = u.recordListed(s, tools)
			u.readFeatures(ctx, s)
		}
		return retry, err
	})
	if !errors.Is(err, errHalted) {
		u.recordListing(ctx, err)
	}
	if err != nil {
		return nil, nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tools, u.listed = len(tools)+len(hidden), true
	return tools, hidden, nil
}

// About returns what the server said of itself when it was last started, with the known secrets replaced; the zero
// value before.
func (u *Upstream) About() upstream.About {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.about
}

// aboutOf returns what the server of a session says of itself.
func aboutOf(s *session) upstream.About {
	said := s.cs.InitializeResult()
	out := upstream.About{Instructions: s.redact.redactText(said.Instructions)}
	if said.ServerInfo != nil {
		out.Title = s.redact.redactText(said.ServerInfo.Title)
		out.Description = s.redact.redactText(said.ServerInfo.Description)
	}
	return out
}

// callTool is [Gateway.Call] for a tool of this server. It waits for a slot before the server is started.
func (u *Upstream) callTool(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
	release, err := u.slots.acquireSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var res *tool.CallResult
	err = u.withSession(ctx, usage{c.Client, c.Progress != nil, true}, func(s *session, who *caller) (retry bool,
		err error,
	) {
		res, retry, err = s.callTool(ctx, who, c, u.callTimeout())
		return retry, err
	})
	return res, err
}

// callTimeout bounds one call, or one page of a listing.
func (u *Upstream) callTimeout() time.Duration {
	if u.cfg.Timeout > 0 {
		return u.cfg.Timeout
	}
	return u.opts.CallTimeout
}

// withSession runs f on a session, on behalf of a client. If f reports that the server did not accept the request,
// because it ended since or no longer knows the session, f runs once more on a new one, unless the server was stopped
// by hand meanwhile.
func (u *Upstream) withSession(ctx context.Context, by usage, f func(*session, *caller) (retry bool, err error)) error {
	who := u.beginUse(by)
	defer u.endUse(who, by)
	for again := true; ; again = false {
		s, err := u.acquireSession(ctx, by)
		if err != nil {
			return err
		}
		retry, err := f(s, who)
		// A client that left before its request was sent is no sign that the session is lost.
		if err == nil || !retry || ctx.Err() != nil {
			return err
		}
		u.dropSession(s, err)
		if !again || u.isHalted() {
			return err
		}
		u.logger.Debug("upstream did not take a request; connecting anew", "error", err)
	}
}

// acquireSession returns a live session, starting the server if it has none. When ctx ends, the start continues for
// others.
func (u *Upstream) acquireSession(ctx context.Context, by usage) (*session, error) {
	a, s, err := u.joinOrStart(by)
	if a == nil {
		return s, err
	}
	if by.counts {
		a.hurry.Do(func() { close(a.urgent) })
	}
	select {
	case <-a.done:
		return a.session, a.err
	case <-ctx.Done():
		return nil, sessionEndedError(ctx.Err(), fmt.Sprintf("the call that waited for server %q to start", u.cfg.Name))
	}
}

// joinOrStart returns the live session, or else the pending start, which it begins if there is none.
func (u *Upstream) joinOrStart(by usage) (*pendingStart, *session, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stopped {
		return nil, nil, u.goneError()
	}
	if s := u.session; s != nil && s.isAlive() {
		if !u.needsNewSession(s, by.client) {
			if by.client != nil {
				s.used.Store(true)
			}
			return nil, s, nil
		}
		u.session = nil
		u.running.Go(s.close)
	}
	if u.starting == nil {
		if u.halted && !by.counts {
			return nil, nil, u.haltedError()
		}
		if wait := time.Until(u.notBefore); wait > 0 {
			return nil, nil, u.pausedError(wait)
		}
		a := &pendingStart{done: make(chan struct{}), urgent: make(chan struct{})}
		u.starting, u.halted = a, false
		u.running.Go(func() { u.runStart(a, by.client) })
	}
	return u.starting, nil, nil
}

// errHalted is the cause of a listing's error after the server was stopped by hand.
var errHalted = errors.New("stopped by hand")

// haltedError returns the error of a listing after the server was stopped by hand.
func (u *Upstream) haltedError() error {
	return &tool.Error{
		Code: tool.Unavailable, Op: "list tools", Msg: fmt.Sprintf("server %q does not run", u.cfg.Name),
		Hint: "start it, or call one of its tools", Err: errHalted,
	}
}

// isHalted reports whether the server was stopped by hand and not used since.
func (u *Upstream) isHalted() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.halted
}

// pausedError returns the error of a use in the pause after a failed start, with the reason of that. u.mu is held.
func (u *Upstream) pausedError(wait time.Duration) error {
	e := &tool.Error{
		Code: tool.Unavailable, Op: "start server", Err: u.lastErr,
		Msg:  fmt.Sprintf("server %q does not run, its last start failed: %s", u.cfg.Name, errorMessage(u.lastErr)),
		Hint: fmt.Sprintf("try again in %v", wait.Round(100*time.Millisecond)+100*time.Millisecond),
	}
	if last := (*tool.Error)(nil); errors.As(u.lastErr, &last) {
		e.Err = last.Err
		if last.Hint != "" {
			e.Hint += "; " + last.Hint
		}
	}
	return e
}

// needsNewSession reports whether to replace a session by one on which the server can ask client more. A session that a
// client has used stays, since the server may keep state in it, such as an open page. u.mu is held.
func (u *Upstream) needsNewSession(s *session, client *tool.Client) bool {
	if client == nil || u.active > 1 || s.used.Load() || u.cfg.Eager {
		return false
	}
	has := u.callers.asker.clientCapabilities(client)
	switch {
	case !lacksCapability(&mcp.ClientCapabilities{}, has): // it can be asked nothing
		return false
	case s.isModern(): // each request carries its client's capabilities, but stored requests are not sent
		return !client.Rounds && !u.speaks.newer
	case client.Rounds && s.older && !u.speaks.older:
		return true
	}
	return lacksCapability(s.told, has)
}

// errorMessage returns the part of an error that is meant for an agent.
func errorMessage(err error) string {
	var e *tool.Error
	if errors.As(err, &e) {
		return e.Msg
	}
	return "the reason is in the log"
}

// goneError returns the Unavailable error of a call to a server that was removed or is shutting down.
func (u *Upstream) goneError() error {
	return &tool.Error{
		Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("server %q was stopped", u.cfg.Name),
		Err: errStopped,
	}
}

// runStart starts the server, reports the result to those that wait on a, and then watches the session until it ends.
func (u *Upstream) runStart(a *pendingStart, client *tool.Client) {
	d := dialer{
		guards: &u.guards, cfg: u.cfg, opts: u.opts, logger: u.logger, record: &u.record, changed: u.changed,
		others: u.others, callers: &u.callers, client: client, updated: u.resourceUpdated, installing: &u.installing,
	}
	u.mu.Lock()
	known := u.speaks
	u.mu.Unlock()
	endTurn := u.waitForTurn(a)
	s, known, err := d.openSession(u.ctx, known)
	endTurn()
	u.installing.Store(false)
	stopped := u.finishStart(a, s, known, err)
	close(a.done)
	if s == nil {
		return
	}
	switch {
	case stopped:
		s.grace.Store(int64(min(s.stopGrace(), unused)))
		u.running.Go(s.close)
	default:
		u.running.Go(func() { u.reloadFeatures(s) })
	}
	reason := s.watchEnd()
	u.sessionEnded(s, s.endError(reason))
}

// startsAtOnce bounds the programs that are started at the same time for listings: many that start or install at once
// take longer than each may.
const startsAtOnce = 3

// waitForTurn waits until the program of a server may be started: at once if a client waits for it, or there is no
// program. The caller calls endTurn after the start.
func (u *Upstream) waitForTurn(a *pendingStart) (endTurn func()) {
	if u.cfg.ReachedBy() != upstream.Stdio {
		return func() {}
	}
	select {
	case <-a.urgent:
	case <-u.ctx.Done():
	case u.opts.starts <- struct{}{}:
		return func() { <-u.opts.starts }
	}
	return func() {}
}

// finishStart records the result of a start in u and a. It reports whether the upstream was stopped meanwhile, in which
// case the session must be closed.
func (u *Upstream) finishStart(a *pendingStart, s *session, known connectionHints, err error) (stopped bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.starting = nil
	if u.stopped {
		a.err = u.goneError()
		return true
	}
	if err == nil && u.lastErr != nil {
		u.restarts++
	}
	a.session, a.err, u.lastErr, u.failedAt = s, err, err, time.Now()
	if err != nil {
		u.record.addLine(upstream.FromGateway, "could not be started: "+errorMessage(err))
		defer u.restartEagerly()
		if tool.CodeOf(err) != tool.Invalid { // a wrong configuration costs nothing to look at again
			u.failures++
			u.notBefore = time.Now().Add(backoffDelay(u.failures, u.opts.firstBackoff, u.opts.maxBackoff, randomInt))
		}
		return false
	}
	u.about = aboutOf(s)
	u.session, u.speaks, u.failures, u.notBefore, u.used = s, known, 0, time.Time{}, time.Now()
	u.logger.Debug("upstream started", "protocol", s.cs.InitializeResult().ProtocolVersion)
	u.record.addLine(upstream.FromGateway, "started, speaks protocol "+s.cs.InitializeResult().ProtocolVersion)
	// The new process may offer other tools than the one before it, whose tools are stored.
	if u.listed || u.opts.Known != nil && u.opts.Known(u.cfg.Name) > 0 {
		s.signalChanged()
	}
	return false
}

// sessionEnded records that a session ended by itself, and has the server started again if it is to run all the time.
func (u *Upstream) sessionEnded(s *session, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.session != s {
		return // dropped or stopped before
	}
	u.session, u.lastErr, u.failedAt = nil, err, time.Now()
	u.logger.Warn("upstream ended", "error", err)
	u.record.addLine(upstream.FromGateway, "ended: "+errorMessage(err))
	u.restartEagerly()
}

// dropSession closes a session that the server no longer knows, without waiting. err becomes the status.
func (u *Upstream) dropSession(s *session, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.session != s {
		return
	}
	u.session, u.lastErr, u.failedAt = nil, err, time.Now()
	u.running.Go(s.close)
}

// stopProcess ends the server for good, after a start that is under way. It returns when the session is gone. Calls
// from now on fail as Unavailable.
func (u *Upstream) stopProcess(grace time.Duration) {
	u.mu.Lock()
	s, a := u.session, u.starting
	u.session, u.stopped = nil, true
	if u.rest != nil {
		u.rest.Stop()
	}
	u.mu.Unlock()
	u.cancel()
	if a != nil {
		<-a.done
	}
	if s != nil {
		s.grace.Store(int64(grace))
		s.close()
	}
}

// settling is how long a change of a server's tools settles before it is announced, since servers send one notification
// per tool. While the changes go on, the time doubles up to settlingMost.
const (
	settling     = 50 * time.Millisecond
	settlingMost = 5 * time.Second
)

// deliverSignals calls f once for any number of signals that come together, until the upstream is stopped. The calls do
// not overlap. A signal during f leads to another call.
func (u *Upstream) deliverSignals(signals <-chan struct{}, f func()) {
	wait, last := settling, time.Time{}
	for {
		select {
		case <-signals:
		case <-u.ctx.Done():
			return
		}
		if time.Since(last) < 2*wait {
			wait = min(2*wait, settlingMost)
		} else {
			wait = settling
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-u.ctx.Done():
			t.Stop()
			return
		}
		select { // what came while it settled
		case <-signals:
		default:
		}
		f()
		last = time.Now()
	}
}

// currentStatus describes the server without waiting for it. The error text is at most about 500 bytes.
func (u *Upstream) currentStatus() upstream.Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	st := upstream.Status{
		Server: u.cfg.Name, Transport: u.cfg.ReachedBy(), Tools: u.tools, State: upstream.Configured, Restarts: u.restarts,
	}
	if u.cfg.Isolate != nil {
		st.Isolated = u.cfg.Isolate.String()
	}
	if !u.listed && u.opts.Known != nil {
		st.Tools = u.opts.Known(u.cfg.Name)
	}
	switch {
	case u.session != nil && u.session.isAlive():
		st.State = upstream.Running
	case u.starting != nil && u.installing.Load():
		st.State = upstream.Installing
	case u.starting != nil && u.lastErr == nil:
		st.State = upstream.Starting
	case u.lastErr != nil:
		st.State = upstream.Failed
	case u.listed || st.Tools > 0:
		st.State = upstream.Known
	}
	if st.State == upstream.Configured && u.failed.Error != "" { // in an earlier run
		st.State, st.Error, st.FailedAt = upstream.Failed, u.failed.Error, u.failed.FailedAt
	}
	if u.lastErr == nil {
		return st
	}
	st.Error = errorText(u.lastErr)
	at := u.failedAt.UTC().Truncate(time.Second)
	st.FailedAt = &at
	return st
}
