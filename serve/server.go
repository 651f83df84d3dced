package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"tooldex/access"
	"tooldex/config"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/internal/limit"
	"tooldex/mcpsrv"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/trace"
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
	// Open opens the service that a configuration describes: that of the process, after its configuration has been
	// found to permit serving, and later those of the tenants that profiles name. Run closes them.
	Open func(context.Context, func() *config.Config) (*service.Service, error)
	// Listen is an address for HTTP, "" for none. Stdin and Stdout carry MCP; both are nil for none.
	Listen string
	Stdin  io.ReadCloser
	Stdout io.WriteCloser
	// Listening is called once the server accepts requests over HTTP, with the address, and with the file of the
	// owner's token, "" if there is none.
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
	tracer    *trace.Tracer
	home      *tenant  // of everything that no profile gives to another tenant
	others    *tenants // those that profiles name
	web       webAccess
	wait      tenantTimes
	messages  *limit.Bytes // of the servers of all tenants, in memory
}

// webAccess is what the HTTP servers of all tenants have in common. It is set before the first of them is built.
type webAccess struct {
	gate     httpapi.Identifier // nil before the server listens
	resource *httpapi.Resource  // nil if no authorization servers are configured
	base     string             // the address at which browsers reach the service; "" if it is not known
}

// Run serves until ctx ends or the client on standard input goes away. It returns when clients have their answers, or
// an error in their place. Its errors are config.UsageError for a configuration that does not permit to serve, and
// those of opening the service and of listening.
func Run(ctx context.Context, o Options) error {
	return (&server{o: o, started: time.Now()}).run(ctx)
}

// run is Run.
func (s *server) run(ctx context.Context) (err error) {
	o := s.o
	if o.Listen != "" { // refused before anything is started
		if s.admission, err = newAdmission(o); err != nil {
			return err
		}
	}
	if o.Temporary && o.Config.Config().HasTenants() {
		return config.UsageError{Msg: "tools that are made for one run have no tenants", Hint: "leave out --demo"}
	}
	if s.tracer, err = trace.FromEnvironment(config.Getenv, o.Version, o.Logger); err != nil {
		return err
	}
	defer s.tracer.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.messages = gateway.NewMessages(int64(o.Config.Config().MessageMemory)<<20, collectOften())
	if s.home, err = s.openTenant(ctx, ""); err != nil {
		return err
	}
	s.others = newTenants(o.Config.Config().Serve.MaxTenants, s.wait, s.openTenant)
	s.home.all.serverFor, s.home.all.endLogin = s.serverFor, s.endLogin
	standard, err := s.standardSurface(ctx)
	if err == nil {
		err = s.home.begin(ctx, s.describeTransports())
	}
	if err != nil {
		stop()
		return errors.Join(err, s.others.close(0), s.home.end(ctx))
	}
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
	err = errors.Join(err, s.home.end(ctx))
	s.logLifecycle("stopped", "served", time.Since(s.started).Round(time.Second).String())
	return err
}

// standardSurface returns the surface of standard input and output, whose tenant stays open.
func (s *server) standardSurface(ctx context.Context) (*surface, error) {
	profile := s.o.Config.Config().Serve.Profile
	all := s.home.all
	if name := s.o.Config.Config().TenantOf(profile); name != "" {
		t, _, err := s.others.acquire(ctx, name, false) // it is not let go
		if err != nil {
			return nil, err
		}
		all = t.all
	}
	one, err := all.surfaceOf(access.View{Profile: profile})
	if err != nil { // the profile is one of the command line
		return nil, usageError(err)
	}
	return one, nil
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
// others by stop. It returns when no client of any tenant is served any more.
func (s *server) runTransports(ctx context.Context, stop func(), transports []func(context.Context) error) (err error) {
	ended, down := make(chan error, len(transports)), make(chan error, 2)
	context.AfterFunc(ctx, func() { down <- s.home.all.shutdownAll(finishMCP) })
	context.AfterFunc(ctx, func() { down <- s.others.close(finishMCP) })
	for _, run := range transports {
		go func() { ended <- run(ctx) }()
	}
	for range transports {
		err = errors.Join(err, <-ended)
		stop()
	}
	return errors.Join(err, <-down, <-down)
}

// usageError turns a tool.Error about a name in the configuration into a config.UsageError.
func usageError(err error) error {
	var te *tool.Error
	if errors.As(err, &te) {
		return config.UsageError{Msg: te.Msg, Hint: te.Hint}
	}
	return err
}
