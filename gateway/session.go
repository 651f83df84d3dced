package gateway

import (
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

// session is one connection to a server, from start to end. A server that is restarted gets a new one.
type session struct {
	server string
	recorder    *wireRecorder
	redact  *redactor
	grace  atomic.Int64 // a time.Duration; less when the gateway is closed

	cs   *mcp.ClientSession
	proc *process        // nil unless stdio
	conn *stdioConn      // nil unless stdio
	base *http.Transport // nil if stdio

	told     *mcp.ClientCapabilities // what the server knows that it may ask, by the older protocols
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
)

// dialer holds what it takes to open a session.
type dialer struct {
	cfg     upstream.Server
	opts    Options // with defaults
	logger  *slog.Logger
	record  *stderrLog
	changed chan struct{}
	others  chan struct{}
	callers *callers
	guards  *hostGuards
	client  *tool.Client     // on whose behalf; nil if nobody's
	updated func(uri string) // of a resource; must not block
}

// legacyVersion is the newest protocol version whose first message is initialize.
const legacyVersion = "2025-11-25"

// connectionHints tells what was learned of a server by starting it.
type connectionHints struct {
	older bool // only the older handshake works
	newer bool // only the newer one does
	sse   bool // it is reached by the older HTTP transport, though that was not configured
}

// open starts a server and shakes hands. It speaks the generation of the protocol that the client on whose behalf it is
// started does, since the two differ in how a server asks its client something. It tries twice where the first try
// fails for a reason that the generation may have caused: some servers exit on a first message that they do not know.
// ctx ends the attempt, not the session.
func (d *dialer) open(ctx context.Context, known connectionHints) (*session, connectionHints, error) {
	x, err := expandServer(d.cfg, d.opts.LookupEnv)
	if err != nil {
		return nil, known, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, d.opts.StartTimeout, errStartTimeout)
	defer stop()
	if known.sse {
		d.cfg.Transport = upstream.SSE
	}
	older := known.older || !known.newer && d.prefersOlderProtocol()
	s, err := d.connect(ctx, x, older)
	if errors.Is(err, errNotStreamable) && d.cfg.Transport == "" {
		d.logger.Debug("upstream does not speak streamable HTTP; trying SSE", "error", err)
		d.cfg.Transport = upstream.SSE
		if s, err := d.connect(ctx, x, older); err == nil {
			known.sse = true
			return s, known, nil
		}
	}
	if err == nil || known.older || known.newer || ctx.Err() != nil || tool.CodeOf(err) != tool.Unavailable ||
		!errors.Is(err, errHandshake) {
		return s, known, err
	}
	d.logger.Debug("upstream refused the handshake; trying another protocol", "error", err)
	s, err = d.connect(ctx, x, !older)
	if err == nil {
		known.older, known.newer = !older, older
	}
	return s, known, err
}

// prefersOlderProtocol reports whether a server should be spoken to by the protocols in which it asks its client by requests.
// One that is started before it is known who calls it is: a client of the newer protocol can be served that way, too.
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

func (d *dialer) connect(ctx context.Context, x *expandedServer, older bool) (*session, error) {
	s := &session{
		server: d.cfg.Name, recorder: newWireRecorder(d.logger, x.redact), redact: x.redact,
		changed: d.changed, others: d.others, done: make(chan struct{}), pages: map[string][]byte{}, told: d.announcedCapabilities(),
		older: older,
	}
	s.grace.Store(int64(d.opts.stopGrace))
	s.recorder.tell = d.callers.notifyClient
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.kept, s.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	transport, err := d.transport(s, x)
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
		last := s.recorder.finishCapture(c)
		err = s.startError(err, &last)
		s.cancel(errStopped)
		s.grace.Store(int64(min(s.stopGrace(), unused)))
		s.releaseResources()
		return nil, err
	}
	s.recorder.finishCapture(c)
	return s, nil
}

// announcedCapabilities is what the server is to know that it may ask. One that is started before anybody calls it may ask everything,
// and is refused what its client cannot do.
func (d *dialer) announcedCapabilities() *mcp.ClientCapabilities {
	if d.client == nil && d.cfg.Eager {
		return &mcp.ClientCapabilities{
			Sampling:    &mcp.SamplingCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}},
			RootsV2:     &mcp.RootCapabilities{ListChanged: true},
		}
	}
	return clientCapabilities(d.client)
}

// newClient makes the SDK's client for one session. It announces what the client on whose behalf the server is started
// can be asked: servers offer and do other things for a client that they cannot ask.
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
			notify(s.others)
		},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
			s.recorder.passNotification(methodResourcesChanged)
			notify(s.others)
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			s.recorder.passUpdate(r.Params.URI)
			d.updated(r.Params.URI)
		},
	})
	client.AddReceivingMiddleware(d.callers.answerServerRequests)
	return client
}

// transport makes the SDK transport for the configured kind, with the tap in it.
func (d *dialer) transport(s *session, x *expandedServer) (mcp.Transport, error) {
	if transportOf(d.cfg) == upstream.Stdio {
		proc, err := startProcess(x, childEnvironment(x.env, d.opts.LookupEnv), d.logger, d.record)
		if err != nil {
			return nil, err
		}
		s.proc = proc
		s.conn = newStdioConn(proc.stdout, proc.stdin, d.opts.maxMessage, d.opts.maxSkippedBytes, s.recorder, d.logger)
		s.conn.probeWait = d.opts.StartTimeout / 3
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
		base: s.base, alive: s.kept, recorder: s.recorder, origin: u, headers: x.headers, limit: d.opts.maxMessage,
		skip: d.opts.maxSkippedBytes,
	}
	if file := tokenFile(d.opts.Dir, d.cfg.Name); file != "" && !hasHeader(x.headers, "Authorization") {
		tap.tokens = &tokenSource{
			file: file, url: x.url, client: loginClient(u, d.opts.outbound), scrub: x.redact,
			logger: d.logger,
		}
	}
	client := &http.Client{Transport: tap}
	if transportOf(d.cfg) == upstream.SSE {
		return &mcp.SSEClientTransport{Endpoint: x.url, HTTPClient: client, MaxEventSize: -1}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: x.url, HTTPClient: client, MaxEventSize: -1}, nil
}

func hasHeader(headers map[string]string, name string) bool {
	for have := range headers {
		if strings.EqualFold(have, name) {
			return true
		}
	}
	return false
}

// transportOf returns how a server is reached, where its configuration leaves that open.
func transportOf(s upstream.Server) upstream.Transport {
	switch {
	case s.Transport != "":
		return s.Transport
	case s.Command != "":
		return upstream.Stdio
	default:
		return upstream.HTTP
	}
}

// watchEnd releases the session when its connection ends, by itself or by close, and returns why it ended.
func (s *session) watchEnd() error {
	err := s.cs.Wait()
	s.cancel(errors.Join(errors.New("connection ended"), err))
	_ = s.cs.Close() // ends its goroutines also where the connection ended by itself
	s.releaseResources()
	close(s.done)
	return err
}

// close ends the session and waits until all of it is gone. Calls that run fail. It needs watch to run.
func (s *session) close() {
	s.cancel(errStopped)
	t := time.AfterFunc(s.stopGrace(), s.abandonConnection)
	defer t.Stop()
	_ = s.cs.Close()
	<-s.done
}

// abandonConnection breaks the connection. The SDK would wait for a request that is stuck in the pipe, or a farewell without
// answer.
func (s *session) abandonConnection() {
	s.giveUp()
	if s.conn != nil {
		_ = s.conn.Close()
	}
}

// unused is the grace of a server that nobody has used yet: it has nothing to put in order.
const unused = 200 * time.Millisecond

func (s *session) stopGrace() time.Duration { return time.Duration(s.grace.Load()) }

func (s *session) isAlive() bool { return s.ctx.Err() == nil }

// releaseResources lets go of whatever was opened.
func (s *session) releaseResources() {
	s.abandonConnection()
	if s.proc != nil {
		s.proc.stop(s.stopGrace)
		s.conn.waitLoops()
	}
	if s.base != nil {
		s.base.CloseIdleConnections()
	}
}

func (s *session) signalChanged() { notify(s.changed) }

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // one signal waits already
	}
}
