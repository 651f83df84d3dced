package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"tooldex/access"
	"tooldex/audit"
	"tooldex/config"
	"tooldex/enrich"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/mcpsrv"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/trace"
	"tooldex/web"
)

// The times in which a server ends. Together they stay below the five seconds after which clients kill a server:
// requests in flight may finish, the others get an error, and then each upstream server has its grace twice, once to
// end by itself and once after it was asked to.
const (
	finishMCP     = 2500 * time.Millisecond
	finishHTTP    = finishMCP + 400*time.Millisecond // beyond which no answer over MCP can be on its way
	upstreamGrace = 400 * time.Millisecond
)

// Options says how to serve.
type Options struct {
	// Config is read again while the server runs.
	Config *config.Loader
	// Open opens the service. It is called once, after the configuration has been found to permit serving. Run closes
	// the service.
	Open func(context.Context) (*service.Service, error)
	// Listen is an address for HTTP, "" for none. Stdin and Stdout carry MCP; both are nil for none.
	Listen string
	Stdin  io.ReadCloser
	Stdout io.WriteCloser
	// Listening is called once the server accepts requests over HTTP, with the address, and with the file of the owner's
	// token, "" if there is none.
	Listening func(at net.Addr, own string)
	// Started is called on a goroutine of its own when the server starts to answer; nil for nothing.
	Started func()
	// SetLogLevel changes what Logger logs.
	SetLogLevel func(string) error
	// ReloadRequests has the configuration read again with each value; nil for never.
	ReloadRequests <-chan struct{}
	// Temporary says that the tools are made for this run alone: the data directory is neither read nor written.
	Temporary bool
	Version   string
	Logger    *slog.Logger
}

// server is one run of Run.
type server struct {
	o         Options
	admission admission
	started   time.Time
	service   *service.Service
	gateway   *gateway.Gateway
	views     *service.Views
	all       *surfaces
	updater   *updater
	editor    *serverEditor
}

// Run serves until ctx ends or the client on standard input goes away. It returns when clients have their answers, or
// an error in their place. Its errors are config.UsageError for a configuration that does not permit to serve, and
// those of opening the service and of listening.
func Run(ctx context.Context, o Options) error {
	s := &server{o: o, started: time.Now()}
	var err error
	if o.Listen != "" { // refused before anything is started
		if s.admission, err = newAdmission(o); err != nil {
			return err
		}
	}
	tracer, err := trace.FromEnvironment(config.Getenv, o.Version, o.Logger)
	if err != nil {
		return err
	}
	defer tracer.Close()
	if s.service, err = o.Open(ctx); err != nil {
		return err
	}
	defer func() { _ = s.service.Close() }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.buildParts(ctx, tracer); err != nil {
		return err
	}
	standard, err := s.all.surfaceOf(access.View{Profile: o.Config.Config().Serve.Profile})
	if err != nil { // the profile is one of the command line
		return errors.Join(usageError(err), s.gateway.Close())
	}
	if err := s.views.Audit.Served(ctx, audit.Start, o.Version, s.describeTransports()); err != nil &&
		s.views.Audit.Required() {
		return errors.Join(err, s.gateway.Close())
	}
	s.updater.start(ctx)
	s.service.Learner.Start()
	s.views.Meter.Start()
	if o.Started != nil {
		go o.Started()
	}
	var transports []func(context.Context) error
	if o.Listen != "" {
		transports = append(transports, func(ctx context.Context) error { return s.listenHTTP(ctx, o.Listen) })
	}
	if o.Stdin != nil { // it ends with the surface
		transports = append(transports, func(ctx context.Context) error {
			return standard.mcp.Run(context.WithoutCancel(ctx), mcpsrv.Lines(o.Stdin, o.Stdout))
		})
	}
	if o.Listen == "" {
		s.logStart("", nil)
	}
	err = s.runTransports(ctx, stop, transports)
	s.updater.wait()
	s.editor.wait()
	s.all.logins.wait()
	s.logLifecycle("stopped", "served", time.Since(s.started).Round(time.Second).String())
	_ = s.views.Audit.Served(context.WithoutCancel(ctx), audit.Stop, o.Version, "") // a failure is in the log
	return errors.Join(err, s.gateway.Close(), s.service.Learner.Close(), s.views.Meter.Close(), s.views.Audit.Close())
}

// buildParts makes the gateway, the views and the surfaces. No upstream server is asked for anything yet.
func (s *server) buildParts(ctx context.Context, tracer *trace.Tracer) error {
	s.updater = newUpdater(s)
	s.gateway = s.service.NewGateway(gateway.Options{
		OnListChanged: s.updater.announceServer, CloseGrace: upstreamGrace,
		LoginPage:  func(server string) string { return s.all.logins.page(server) },
		OnFeatures: func(string) { s.all.eachSurface(func(one *surface) { one.mcp.FeaturesChanged() }) },
		OnResourceUpdated: func(server, uri string) {
			s.all.eachSurface(func(one *surface) { one.mcp.ResourceUpdated(server, uri) })
		},
	})
	var err error
	s.views, err = s.service.NewViews(ctx, service.ViewOptions{
		Gateway: s.gateway, Tracer: tracer, Sessions: func() int { return s.all.countSessions() },
	})
	if err != nil {
		return errors.Join(err, s.gateway.Close())
	}
	s.all = newSurfaces(s.views, mcpsrv.Options{
		Related: s.service.Engine, Learner: s.service.Learner, Enricher: enrich.New(s.service.Catalog),
		Version:      s.o.Version,
		Logger:       s.o.Logger,
		AnyHost:      true, // httpapi checks hosts, for all of its paths
		DrainTime:    finishMCP,
		MaxSessions:  s.service.Config().Serve.MaxSessions,
		AnswerWithin: time.Duration(s.service.Config().Serve.AnswerWithin) * time.Second,
	})
	s.all.read, s.all.gateway = s.updater.ready, s.gateway
	s.all.logins = newUserLogins(ctx, s.gateway)
	s.editor = newServerEditor(ctx, s.service, s.gateway, s.all.catalogChanged)
	cfg := s.service.Config().Serve
	s.all.http = httpapi.Options{
		Upstreams: knownStates{s.gateway, s.service}, Operator: operator{s.gateway, s.updater}, Editor: s.editor,
		RefuseEdit: s.admission.refuseEdit(cfg.Edits), People: people{s.all, s.admission.gate.File},
		Trace: tracer.Request, Panel: web.Handler(), Rate: s.admission.rate, Hosts: cfg.Hosts, Origins: cfg.Origins, Version: s.o.Version, Logger: s.o.Logger,
	}
	return nil
}

// describeTransports names the transports for the audit log.
func (s *server) describeTransports() string {
	switch http := "http " + s.o.Listen; {
	case s.o.Stdin == nil:
		return http
	case s.o.Listen == "":
		return "stdio"
	default:
		return "stdio, " + http
	}
}

// runTransports serves clients over each transport until ctx ends. The first that ends, for any reason, ends the
// others by stop.
func (s *server) runTransports(ctx context.Context, stop func(), transports []func(context.Context) error) (err error) {
	ended, down := make(chan error, len(transports)), make(chan error, 1)
	context.AfterFunc(ctx, func() { down <- s.all.shutdownAll(finishMCP) })
	for _, run := range transports {
		go func() { ended <- run(ctx) }()
	}
	for range transports {
		err = errors.Join(err, <-ended)
		stop()
	}
	return errors.Join(err, <-down)
}

// usageError turns a tool.Error about a name in the configuration into a config.UsageError.
func usageError(err error) error {
	var te *tool.Error
	if errors.As(err, &te) {
		return config.UsageError{Msg: te.Msg, Hint: te.Hint}
	}
	return err
}
