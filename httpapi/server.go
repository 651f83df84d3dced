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

// Upstreams reports the state of the upstream servers. *gateway.Gateway is one.
type Upstreams interface {
	Status() []upstream.Status
}

// Options configures a Server. Searcher, Caller and Catalog are required; the zero value of the rest works.
type Options struct {
	Searcher tool.Searcher
	Caller   tool.Caller
	Catalog  tool.Catalog
	// Upstreams reports the state of servers. With nil, /api/servers lists only the servers of the catalogue.
	Upstreams Upstreams
	// Skills are listed and read; nil means that there are none.
	Skills tool.Skills
	// Selector chooses tools for messages; nil turns selection off.
	Selector Selector
	// Preferences keeps the preferences of profiles; nil turns them off.
	Preferences Preferences
	// Profile is the one whose Server this is: it selects for no other, and shows no other's preferences. "" means all.
	Profile string
	// Learner learns from searches, calls and feedback; nil means that nothing is learned.
	Learner Learner
	// Auditor records changes, and the calls that never reach Caller; nil means that these are not recorded.
	Auditor Auditor
	// Confirms reports whether a person has to confirm calls of a tool, so that clients can be informed; the Caller
	// enforces it. Nil means no tool needs it.
	Confirms func(*tool.Tool) bool
	// Always returns the tools that settings and preferences show every client, beside those whose own entry in the
	// catalogue says so; nil for none.
	Always func() map[tool.ID]bool
	// Metrics counts selections and answers /api/metrics; nil means that nothing is counted.
	Metrics Metrics
	// Prometheus is served at /metrics; nil leaves the route out.
	Prometheus http.Handler
	// Records answers /api/audit; nil means that there are none.
	Records Records
	// People answers /api/access; nil means that nobody may see it.
	People People
	// Overlays keeps what people add to tools; nil turns that off.
	Overlays Overlays
	// Insight explains how tools are found; nil turns that off.
	Insight Insight
	// Quarantine approves tools that are held; nil means that none is.
	Quarantine Quarantine
	// Operator starts and stops servers; nil turns that off.
	Operator Operator
	// Editor changes which servers are configured; nil turns that off.
	Editor ServerEditor
	// RefuseEdit returns why a principal may not change servers by Editor, nil if it may. A nil function permits all.
	RefuseEdit func(access.Principal) error
	// Credentials keeps what users give for servers that are called on their behalf; nil means that nothing is kept.
	Credentials Credentials
	// EndLogin takes what a browser brings back from the authorization server of a login that was begun by Credentials,
	// and returns what to tell the person. Nil leaves the route out.
	EndLogin func(*http.Request) (string, error)
	// Panel is served at / and below /panel/, without a token; nil leaves the routes out.
	Panel http.Handler
	// Trace is called with every request as it begins. It returns the context for what is done for the request, and a
	// function that is called at its end with the pattern of the path, "" if there is none, and the status of the
	// answer. Nil means no tracing.
	Trace func(*http.Request) (ctx context.Context, end func(route string, status int))
	// Ready returns why the service cannot answer yet; nil, or a nil error, means that it can.
	Ready func(context.Context) error
	// Ailing lists what does not work, though requests are answered; nil means nothing is reported.
	Ailing func() []string
	// MCP is served at /mcp and /sse, and below each of them at {profile} and servers/{server}; nil leaves the routes
	// out. It is called after the checks of Host, Origin and token.
	MCP http.Handler
	// ReadOnly refuses operations that change what is kept here. Caller and MCP decide which calls are made.
	ReadOnly bool
	// Access identifies who sent a token. Nil means that no request needs one.
	Access Identifier
	// ServerFor returns the Server that answers a request whose token is bound to a narrower view than everything, and
	// a function that is called when the request has ended. Stream says that it may stay open until a side ends it. The
	// context is that of the request. Nil means that this Server answers all requests.
	ServerFor func(ctx context.Context, view access.View, stream bool) (s *Server, done func(), err error)
	// Card is the name under which a server card describes the service to everybody, such as com.example/tools; "" for
	// no card.
	Card string
	// Resource describes the service to authorization servers; nil means that their tokens are not accepted.
	Resource *Resource

	// Hosts are names that the Host header may have, beside loopback names and IP addresses; "*" allows all.
	Hosts []string
	// Origins are those whose pages may use the API, beside the request's own host, as "https://example.com"; "*"
	// allows all.
	Origins []string
	// Rate bounds the requests per second from one address, in bursts of twice as many; zero means no limit.
	Rate float64
	// Timeout of one request, except those to /mcp and calls of tools; zero means 30 seconds.
	Timeout time.Duration
	// Grace is the time for open requests when Serve ends; zero means 3 seconds.
	Grace time.Duration
	// Version of this program, for the API description; "" means "dev".
	Version string
	// Logger receives one line for each request, and errors once; nil means no log.
	Logger *slog.Logger

	limits  limits // bounds that tests lower
	without string // the guard that a test leaves out
}

// withDefaults returns o with its defaults filled in.
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

// New returns a ready Server. It starts nothing. An error of code Internal means a mistake in this program: a type in
// the table of routes that JSON cannot describe; one of code Invalid, that Options.Card is no name of a card.
func New(o Options) (*Server, error) {
	if err := checkCard(o.Card); err != nil {
		return nil, err
	}
	s := &Server{o: o.withDefaults(), echo: echo.New()}
	s.load = newLoadShedder(s.o.limits)
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.IPExtractor = echo.ExtractIPDirect()
	s.echo.HTTPErrorHandler = s.handleError
	s.useMiddleware()
	routes := s.routes()
	for _, r := range routes {
		s.echo.Add(r.method, r.routerPath(), s.guardRoute(r))
	}
	s.mountPanel()
	s.mountMetadata()
	s.mountCard()
	s.mountCallback()
	if s.o.MCP != nil {
		for _, path := range mcpPaths {
			for _, below := range []string{"", "/:profile", "/servers/:server"} {
				s.echo.Any(path+below, echo.WrapHandler(s.o.MCP))
			}
		}
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

// mcpPath is where MCP is served over streamable HTTP. ssePath is where it is for older clients, which read all answers
// from one stream. Below each are the paths of profiles and of single servers.
const (
	mcpPath = "/mcp"
	ssePath = "/sse"
)

var mcpPaths = [...]string{mcpPath, ssePath}

// Handler returns the whole API as a handler.
func (s *Server) Handler() http.Handler { return s.echo }

// Serve answers requests that come to l until ctx ends, then refuses new ones and waits for open ones, for at most
// Options.Grace. It cuts off those that are still open then, with the answer that the server is stopping. The owner of
// Options.MCP ends the streams of MCP. Serve closes l. It returns nil if all requests ended in time, an error of code
// Timeout if they did not, or what made it stop.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	door := newConnLimiter(s.o.limits.conns)
	srv := &http.Server{
		Handler: s.echo, ReadHeaderTimeout: s.o.limits.headerTime, IdleTimeout: s.o.limits.idleTime,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelWarn), ConnState: door.observeState,
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
	err := waitForRequests(base, srv, s.o.Grace)
	if errors.Is(err, context.DeadlineExceeded) {
		cut(errStopping)
		err = &tool.Error{Code: tool.Timeout, Op: "shut down", Msg: "open requests did not end within " +
			s.o.Grace.String()}
		if waitForRequests(context.WithoutCancel(base), srv, cutGrace) != nil {
			_ = srv.Close() // the error above says enough
		}
	}
	if stopped := <-served; err == nil && !errors.Is(stopped, http.ErrServerClosed) {
		err = fmt.Errorf("serve: %w", stopped)
	}
	return err
}

// cutGrace is how long requests that were cut off have to write their last answer.
const cutGrace = 500 * time.Millisecond

// waitForRequests waits for open requests for at most the given time.
func waitForRequests(ctx context.Context, srv *http.Server, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return srv.Shutdown(ctx)
}
