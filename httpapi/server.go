package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/tool"
	"tooldex/upstream"
)

// Upstreams tells how the upstream servers are. *gateway.Gateway is one.
type Upstreams interface {
	Status() []upstream.Status
}

// Options configures a Server. Searcher, Caller and Catalog are required; the zero value of the rest works.
type Options struct {
	Searcher  tool.Searcher
	Caller    tool.Caller
	Catalog   tool.Catalog
	Upstreams Upstreams // nil: /api/servers knows only the servers of the catalogue
	// Selector chooses tools for messages; nil: nobody does.
	Selector Selector
	// Preferences keeps what profiles prefer; nil: they can prefer nothing.
	Preferences Preferences
	// whose Server this is: it selects for no other, and tells of no other's preferences; "" is that of all
	Profile string
	Learner Learner // is told of searches, calls and feedback; nil: nobody is
	Auditor Auditor // is told of calls that never come to Caller, and of changes; nil: nobody is
	// Confirms tells of which tools calls have to be confirmed by a person, so that clients know; the Caller sees to
	// it. Nil: of none.
	Confirms func(*tool.Tool) bool
	Metrics  Metrics // counts, and answers /api/metrics; nil: nothing is counted
	// Prometheus is served at /metrics; nil leaves the route out.
	Prometheus http.Handler
	Overlays   Overlays   // keeps what people say of tools; nil: they can say nothing
	Insight    Insight    // tells what finds a tool; nil: nothing is told
	Quarantine Quarantine // approves tools that are held; nil: none is held
	Operator   Operator   // starts and stops servers; nil: nobody does
	// Panel is served at / and below /panel/, without a token; nil leaves the routes out.
	Panel http.Handler
	// Trace is told of every request as it begins. It gives the context of what is done for it, and what is called in
	// the end with the pattern of the path, "" if it has none, and the status of the answer. Nil means nobody is told.
	Trace func(*http.Request) (ctx context.Context, end func(route string, status int))
	// Ready tells why the service cannot answer yet; nil, or an answer of nil, means that it can.
	Ready func(context.Context) error
	// Ailing tells what does not work, though requests are answered; nil: nothing is told.
	Ailing func() []string
	// MCP is served at /mcp and /mcp/{profile}; nil leaves the route out. It is called after the checks of Host, Origin
	// and token.
	MCP http.Handler
	// ReadOnly refuses operations that change what is kept here. Which calls are made is the business of Caller and
	// MCP.
	ReadOnly bool
	// Access says who bears a token. Nil means that no request needs one.
	Access Identifier
	// ServerFor returns the Server that answers tokens which are bound to a view that is not everything. It is called
	// for each such request. Nil means that this Server answers them all.
	ServerFor func(access.View) (*Server, error)
	// Resource is what authorization servers know the service as; nil: tokens are none of theirs.
	Resource *Resource

	Hosts   []string      // host names allowed beside loopback names and IP addresses; "*" allows all
	Origins []string      // origins allowed beside that of the request's own host, as "https://example.com"
	Rate    float64       // requests a second from one address, in bursts of twice as many; zero means as many as come
	Timeout time.Duration // of one request but those to /mcp and calls of tools; zero means 30 seconds
	Grace   time.Duration // that Serve gives open requests when it ends; zero means 3 seconds
	Version string        // of this program, for the API description; "" means "dev"
	Logger  *slog.Logger  // nil means no log

	limits  limits // bounds that tests lower
	without string // the guard that a test does without
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Grace = cmp.Or(o.Grace, 3*time.Second)
	o.limits = o.limits.withDefaults()
	o.Version = cmp.Or(o.Version, "dev")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Server answers the HTTP API. It is safe for concurrent use.
type Server struct {
	o    Options
	echo *echo.Echo
	spec []byte // the API description
	load *loadShedder
}

// New returns a ready Server. It starts nothing. The error, of code Internal, is one of this program: a type in the
// table of routes that JSON cannot describe.
func New(o Options) (*Server, error) {
	s := &Server{o: o.withDefaults(), echo: echo.New()}
	s.load = newLoadShedder(s.o.limits)
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.IPExtractor = echo.ExtractIPDirect()
	s.echo.HTTPErrorHandler = s.handleError
	s.useMiddleware()
	routes := s.routes()
	for _, r := range routes {
		s.echo.Add(r.method, r.pattern(), s.guardRoute(r))
	}
	s.mountPanel()
	s.mountMetadata()
	if s.o.MCP != nil {
		s.echo.Any(mcpPath, echo.WrapHandler(s.o.MCP))
		s.echo.Any(mcpProfilePath, echo.WrapHandler(s.o.MCP))
	}
	if s.o.Prometheus != nil {
		s.echo.GET(prometheusPath, echo.WrapHandler(s.o.Prometheus))
	}
	var err error
	if s.spec, err = describeAPI(routes, s.o, s.needsToken()); err != nil {
		return nil, &tool.Error{Code: tool.Internal, Op: "describe api", Msg: "the API cannot be described", Err: err}
	}
	return s, nil
}

// Where the MCP handler is served: for all tools, and for those of a profile.
const (
	mcpPath        = "/mcp"
	mcpProfilePath = mcpPath + "/:profile"
)

// Handler returns the whole API as a handler.
func (s *Server) Handler() http.Handler { return s.echo }

// Serve answers requests that come to l until ctx ends, then refuses new ones and waits for open ones, for
// Options.Grace at most. Those that are still open then are ended, and answered that the server is stopping. Streams of
// MCP are for the owner of Options.MCP to end. It closes l. It returns nil if all ended in time, otherwise an error of code Timeout, or what made it stop.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	door := newConnLimiter(s.o.limits.conns)
	srv := &http.Server{
		Handler: s.echo, ReadHeaderTimeout: s.o.limits.headerTime, IdleTimeout: s.o.limits.idleTime,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelWarn), ConnState: door.observe,
		BaseContext: func(net.Listener) context.Context { return base },
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	door.closeFresh()
	err := shutdown(base, srv, s.o.Grace)
	if errors.Is(err, context.DeadlineExceeded) {
		cut(errStopping)
		err = &tool.Error{Code: tool.Timeout, Op: "shut down", Msg: "open requests did not end within " +
			s.o.Grace.String()}
		if shutdown(context.WithoutCancel(base), srv, cutGrace) != nil {
			_ = srv.Close() // what is wrong is told already
		}
	}
	if stopped := <-served; err == nil && !errors.Is(stopped, http.ErrServerClosed) {
		err = fmt.Errorf("serve: %w", stopped)
	}
	return err
}

// cutGrace is how long requests that were cut off have to say so.
const cutGrace = 500 * time.Millisecond

func shutdown(ctx context.Context, srv *http.Server, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return srv.Shutdown(ctx)
}
