package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// session is one connection to a server, from start to end. A server that is restarted gets a new one. connect sets its
// fields; after that it is safe for concurrent use.
type session struct {
	server   string
	asker    asker
	recorder *wireRecorder
	redact   *redactor
	grace    atomic.Int64 // a time.Duration; less when the gateway is closed

	cs   *mcp.ClientSession
	proc *process        // nil unless stdio
	conn *stdioConn      // nil unless stdio
	base *http.Transport // nil if stdio
	api  chan struct{}   // nil unless openapi; closed when its goroutine has ended

	local  bool                        // it speaks stdio
	advice string                      // after status 401 or 403, where tokens are those of users; "" for the usual
	broken func(lines []string) string // the folder of a broken installation that some output shows; "" if none

	isolated func(printed string) string // the advice after a failed start, by what it printed last; nil unless isolated

	told     *mcp.ClientCapabilities // the capabilities that the server was given at the start, by the older protocols
	older    bool                    // it was to speak the older protocols
	client   *mcp.Client
	used     atomic.Bool            // a client's call has run on it
	logLevel atomic.Pointer[string] // asked of the server; nil if none

	ctx     context.Context // ends with the session; its cause says why
	cancel  context.CancelCauseFunc
	kept    context.Context // ends when the server is given up: after the session, so that it can say farewell
	giveUp  context.CancelFunc
	changed chan struct{} // signals tools/list_changed
	others  chan struct{} // signals that something but tools changed
	done    chan struct{} // closed when all is released

	pagesMu   sync.Mutex
	pages     map[string][]byte // raw tools/list results by cursor, for those that the SDK answers from its cache
	pagesSize int               // bytes of them
}

// The causes with which a session's context ends.
var (
	errStopped      = errors.New("stopped")
	errStartTimeout = errors.New("start timeout")
	// an installation took longer than installTimeout
	errInstallTimeout = fmt.Errorf("%w: its installation did not end within %v", errStartTimeout, installTimeout)
)

// dialer holds the parameters for opening one session.
type dialer struct {
	cfg     upstream.Server
	opts    Options // with defaults
	logger  *slog.Logger
	record  *stderrLog
	changed chan struct{} // the upstream's, which outlive the session
	others  chan struct{}
	callers *callers
	guards  *hostGuards
	client  *tool.Client     // on whose behalf; nil for none
	updated func(uri string) // of a resource; must not block

	process    atomic.Pointer[process] // the one that is being started
	installing *atomic.Bool            // the upstream's: a package runner installs the server
}

// startTimeout bounds one start.
func (d *dialer) startTimeout() time.Duration { return cmp.Or(d.cfg.StartTimeout, d.opts.StartTimeout) }

// legacyVersion is the newest protocol version whose first message is initialize.
const legacyVersion = "2025-11-25"

// connectionHints is what earlier starts of a server showed of the protocols that it speaks. The zero value is for a
// server that was never started.
type connectionHints struct {
	older bool // only the older handshake works
	newer bool // only the newer one does
	sse   bool // it is reached by the older HTTP transport, though that was not configured
}

// openSession starts a server and shakes hands. It uses the generation of the protocol that the client speaks on whose
// behalf the server is started, since the two differ in how a server asks its client something. If that fails for a
// reason that the generation may have caused, it tries the other one: some servers exit on a first message that they do
// not know. The returned hints include what this start showed. ctx ends the attempt, not the session. The caller runs
// watchEnd on the session.
func (d *dialer) openSession(ctx context.Context, known connectionHints) (*session, connectionHints, error) {
	x, err := expandServer(d.cfg, d.opts.LookupEnv, d.opts.Secret)
	if err != nil {
		return nil, known, err
	}
	ctx, stop := d.limitStart(ctx)
	defer stop()
	if d.cfg.Isolate != nil {
		ended, err := d.isolateServer(ctx, x)
		if err != nil {
			return nil, known, err
		}
		s, known, err := d.openExpanded(ctx, x, known)
		ended(err == nil)
		return s, known, err
	}
	return d.openExpanded(ctx, x, known)
}

// openExpanded is openSession for a configuration whose variables are filled in. ctx ends with the time for the start.
func (d *dialer) openExpanded(ctx context.Context, x *expandedServer, known connectionHints) (*session,
	connectionHints, error,
) {
	if known.sse {
		d.cfg.Transport = upstream.SSE
	}
	older := known.older || !known.newer && d.prefersOlderProtocol()
	s, err := d.connectOnce(ctx, x, older)
	if errors.Is(err, errNotStreamable) && d.cfg.Transport == "" {
		d.logger.Debug("upstream does not speak streamable HTTP; trying SSE", "error", err)
		d.cfg.Transport = upstream.SSE
		if s, err := d.connectOnce(ctx, x, older); err == nil {
			known.sse = true
			return s, known, nil
		}
	}
	if err == nil || known.older || known.newer || ctx.Err() != nil || tool.CodeOf(err) != tool.Unavailable ||
		!errors.Is(err, errHandshake) {
		return s, known, err
	}
	d.logger.Debug("upstream refused the handshake; trying another protocol", "error", err)
	s, err = d.connectOnce(ctx, x, !older)
	if err == nil {
		known.older, known.newer = !older, older
	}
	return s, known, err
}

// prefersOlderProtocol reports whether to speak the protocols in which a server sends requests to its client. That is
// also used for a server that starts before its client is known, since it works for clients of the newer protocol, too.
func (d *dialer) prefersOlderProtocol() bool {
	if d.client == nil {
		return d.cfg.Eager
	}
	return d.client.Ask != nil && !d.client.Rounds
}

// errHandshake marks failures that came after the server was reached, and errNotStreamable those by which a server of
// the older HTTP transport may have refused the newer.
var (
	errHandshake     = errors.New("handshake")
	errNotStreamable = errors.New("not streamable HTTP")
)

// connectOnce opens one connection in one generation of the protocol. On failure it has released everything.
func (d *dialer) connectOnce(ctx context.Context, x *expandedServer, older bool) (*session, error) {
	s := &session{
		server: d.cfg.Name, asker: d.callers.asker, redact: x.redact,
		changed: d.changed, others: d.others, done: make(chan struct{}), pages: map[string][]byte{},
		told: d.announcedCapabilities(), older: older, local: d.cfg.ReachedBy() == upstream.Stdio,
	}
	if x.isolated {
		s.isolated = func(printed string) string { return x.isolation.hint(printed, x.args[len(x.args)-len(d.cfg.Args):]) }
	}
	s.broken = func(lines []string) string { return brokenInstallation(x, d.opts.LookupEnv, lines) }
	s.grace.Store(int64(d.opts.stopGrace))
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.recorder = newWireRecorder(d.logger, x.redact, newServerRequests(s.ctx, d.cfg.Name, d.opts.requestGrace))
	s.recorder.tell, s.recorder.breach = d.callers.notifyClient, s.endForBreach
	s.kept, s.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	transport, err := d.newTransport(ctx, s, x)
	if err != nil {
		err = s.startError(err, nil)
		s.cancel(errStopped)
		s.releaseResources()
		return nil, err
	}
	var opts *mcp.ClientSessionOptions
	if older {
		opts = &mcp.ClientSessionOptions{ProtocolVersion: legacyVersion}
	}
	s.client = d.newClient(s)
	// The SSE transport's stream lives as long as the context given to Connect, so that is the session's, and the
	// attempt's end is passed on to it only until the handshake is done.
	unlink := context.AfterFunc(ctx, func() {
		s.cancel(context.Cause(ctx))
		s.giveUp()
	})
	connectCtx, c := withCapture(s.ctx)
	s.cs, err = s.client.Connect(connectCtx, transport, opts)
	if !unlink() && err == nil {
		_ = s.cs.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		last := s.recorder.finishCapture(context.Background(), c)
		err = s.startError(err, &last)
		s.cancel(errStopped)
		s.grace.Store(int64(min(s.stopGrace(), unused)))
		s.releaseResources()
		return nil, err
	}
	s.recorder.finishCapture(context.Background(), c)
	return s, nil
}

// announcedCapabilities returns what the server may ask for. A server that starts before any client calls it may ask
// for everything, and gets an error for what its client cannot do.
func (d *dialer) announcedCapabilities() *mcp.ClientCapabilities {
	if d.client == nil && d.cfg.Eager {
		return &mcp.ClientCapabilities{
			Sampling:    &mcp.SamplingCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}},
			RootsV2:     rootsOfAll(d.cfg.Roots),
		}
	}
	return d.callers.asker.clientCapabilities(d.client)
}

// rootsOfAll returns the capability of clients to list their roots, nil for a server that may not know them.
func rootsOfAll(allowed bool) *mcp.RootCapabilities {
	if !allowed {
		return nil
	}
	return &mcp.RootCapabilities{ListChanged: true}
}

// newClient returns the SDK's client for one session. It announces the capabilities of the client on whose behalf the
// server is started, since servers offer other things to clients that they cannot ask.
func (d *dialer) newClient(s *session) *mcp.Client {
	client := mcp.NewClient(&mcp.Implementation{Name: d.opts.Name, Version: d.opts.Version}, &mcp.ClientOptions{
		Capabilities:   s.told,
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, // exchange does it, or the client itself
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			s.recorder.passNotification(methodToolsChanged)
			s.signalChanged()
		},
		PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) {
			s.recorder.passNotification(methodPromptsChanged)
			wakeChannel(s.others)
		},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
			s.recorder.passNotification(methodResourcesChanged)
			wakeChannel(s.others)
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			s.recorder.passUpdate(r.Params.URI)
			d.updated(r.Params.URI)
		},
	})
	client.AddReceivingMiddleware(d.callers.answerServerRequests)
	return client
}

// newTransport returns the SDK's transport for the configured kind, with the recorder in it.
func (d *dialer) newTransport(ctx context.Context, s *session, x *expandedServer) (mcp.Transport, error) {
	if d.cfg.ReachedBy() == upstream.OpenAPI {
		return d.serveAPI(ctx, s, x)
	}
	if d.cfg.ReachedBy() == upstream.Stdio {
		proc, err := startProcess(x, childEnvironment(x, d.opts), d.logger, d.record)
		if err != nil {
			return nil, err
		}
		s.proc = proc
		d.process.Store(proc)
		s.conn = newStdioConn(proc.stdout, proc.stdin, d.messageBounds(s), s.recorder, d.logger)
		// A third, so that the initialize that follows an unanswered probe has time left.
		s.conn.probeWait = d.startTimeout() / 3
		return s.conn, nil
	}
	u, err := url.Parse(x.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "start server", Msg: fmt.Sprintf("server %q: its url is no http or https address",
				d.cfg.Name),
			Hint: "give it as https://host/path",
		}
	}
	s.base = d.guards.guardFor(u).Transport()
	s.base.MaxIdleConnsPerHost = d.opts.concurrency
	tap := &recordingTransport{
		base: s.base, alive: s.kept, recorder: s.recorder, origin: u, headers: x.headers, messageBounds: d.messageBounds(s),
	}
	if d.opts.ownTokens != nil {
		if tap.tokens, s.advice, err = d.opts.ownTokens(x, u, d.logger); err != nil {
			return nil, err
		}
	} else if file := tokenFile(d.opts.Dir, d.cfg.Name); file != "" && !hasHeader(x.headers, "Authorization") {
		tap.tokens = &tokenSource{
			keeper: fileGrant(file), url: x.url, client: loginClient(u, d.opts.outbound), scrub: x.redact,
			logger: d.logger, mu: &sync.Mutex{},
		}
	}
	client := &http.Client{Transport: tap}
	if d.cfg.ReachedBy() == upstream.SSE {
		return &mcp.SSEClientTransport{Endpoint: x.url, HTTPClient: client, MaxEventSize: -1}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: x.url, HTTPClient: client, MaxEventSize: -1}, nil
}

// messageBounds returns the bounds of the messages of a session.
func (d *dialer) messageBounds(s *session) messageBounds {
	return messageBounds{d.opts.maxMessage, d.opts.maxSkippedBytes, &messageRoom{
		all: d.opts.Messages, server: d.opts.roomOf + d.cfg.Name, alive: s.ctx, wait: d.opts.roomTimeout,
	}}
}

// hasHeader ignores case, as HTTP does.
func hasHeader(headers map[string]string, name string) bool {
	for have := range headers {
		if strings.EqualFold(have, name) {
			return true
		}
	}
	return false
}

// watchEnd waits until the connection ends, by itself or by close, releases the session and returns the reason. It runs
// once per session.
func (s *session) watchEnd() error {
	unlink := context.AfterFunc(s.ctx, func() {
		if endReason(context.Cause(s.ctx)) != nil {
			_ = s.cs.Close() // without a stream of events nothing else ends it
		}
	})
	defer unlink()
	err := s.cs.Wait()
	s.cancel(errors.Join(errors.New("connection ended"), err))
	_ = s.cs.Close() // ends its goroutines also where the connection ended by itself
	s.releaseResources()
	close(s.done)
	return err
}

// close ends the session and waits until all of it is released. Calls that run fail. It hangs unless watchEnd runs. It
// may be called more than once.
func (s *session) close() {
	s.cancel(errStopped)
	t := time.AfterFunc(s.stopGrace(), s.abandonConnection)
	defer t.Stop()
	_ = s.cs.Close()
	<-s.done
}

// endForBreach ends the session of a server that exceeded its bounds. Running calls fail with the reason.
func (s *session) endForBreach(reason error) {
	s.cancel(reason)
	s.abandonConnection()
}

// abandonConnection breaks the connection. Without it the SDK would wait for a request that is stuck in the pipe, or
// for the answer to its last request.
func (s *session) abandonConnection() {
	s.giveUp()
	if s.conn != nil {
		_ = s.conn.Close()
	}
}

// unused is the grace of a server that no client has used yet: it has no work to finish.
const unused = 200 * time.Millisecond

// stopGrace is how long the server may take to end once its input is closed.
func (s *session) stopGrace() time.Duration { return time.Duration(s.grace.Load()) }

// isAlive reports whether the session has not ended. It may end at any time after.
func (s *session) isAlive() bool { return s.ctx.Err() == nil }

// releaseResources ends the process or closes the connections, and waits for the goroutines of a pipe.
func (s *session) releaseResources() {
	s.abandonConnection()
	if s.proc != nil {
		s.proc.stopProcess(s.stopGrace, errors.Is(context.Cause(s.ctx), errInstallTimeout))
		s.conn.waitLoops()
	}
	if s.api != nil {
		s.conn.waitLoops()
		<-s.api
	}
	if s.base != nil {
		s.base.CloseIdleConnections()
	}
}

func (s *session) signalChanged() { wakeChannel(s.changed) }

// wakeChannel sends a signal to a channel with room for one, without blocking.
func wakeChannel(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // one signal waits already
	}
}
