package serve

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"tooldex/audit"
	"tooldex/config"
	"tooldex/enrich"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/mcpsrv"
	"tooldex/service"
	"tooldex/web"
)

// tenant is what one tenant has for itself: its service, which sees the configuration of this tenant alone, and what
// stands between that and clients. Nothing in it knows of other tenants.
type tenant struct {
	*server
	o       Options // those of the server, with a log that names the tenant
	name    string  // "" for the home tenant
	service *service.Service
	gateway *gateway.Gateway
	views   *service.Views
	all     *surfaces
	updater *updater
	editor  *serverEditor
	ctx     context.Context // of all background work of the tenant
	stop    func()          // ends ctx
	begun   bool            // begin was called
}

// openTenant opens the service of a tenant and builds what stands before it. No upstream server is asked for anything
// yet. Background work ends with ctx, or with tenant.end, which the caller has to call.
func (s *server) openTenant(ctx context.Context, name string) (*tenant, error) {
	t := &tenant{server: s, o: s.o, name: name}
	if name != "" {
		t.o.Logger = s.o.Logger.With("tenant", name)
	}
	t.ctx, t.stop = context.WithCancel(ctx)
	settings := configFor(s.o.Config, name)
	first := settings()
	var err error
	if t.service, err = s.o.Open(t.ctx, settings); err != nil {
		t.stop()
		return nil, err
	}
	t.updater = newUpdater(t, first)
	t.gateway = t.service.NewGateway(gateway.Options{
		Messages: s.messages, OnListChanged: t.updater.announceServer, CloseGrace: upstreamGrace,
		LoginPage:  func(server string) string { return t.all.logins.page(server) },
		OnFeatures: func(string) { t.all.eachSurface(func(one *surface) { one.mcp.FeaturesChanged() }) },
		OnResourceUpdated: func(server, uri string) {
			t.all.eachSurface(func(one *surface) { one.mcp.ResourceUpdated(server, uri) })
		},
	})
	t.views, err = t.service.NewViews(t.ctx, service.ViewOptions{
		Gateway: t.gateway, Tracer: s.tracer, Sessions: func() int { return t.all.countSessions() },
	})
	if err != nil {
		t.stop()
		return nil, errors.Join(err, t.gateway.Close(), t.service.Close())
	}
	t.buildSurfaces()
	return t, nil
}

// configFor returns the configuration of a tenant at each moment.
func configFor(l *config.Loader, name string) func() *config.Config {
	type derived struct{ whole, own *config.Config }
	var last atomic.Pointer[derived] // searches ask for it, and it changes rarely
	return func() *config.Config {
		whole := l.Config()
		d := last.Load()
		if d == nil || d.whole != whole {
			d = &derived{whole, whole.ForTenant(name)}
			last.Store(d)
		}
		return d.own
	}
}

// buildSurfaces makes what clients of the tenant talk to.
func (t *tenant) buildSurfaces() {
	cfg := t.service.Config().Serve
	t.all = newSurfaces(t.views, mcpsrv.Options{
		Related: t.service.Engine, Learner: t.service.Learner, Enricher: enrich.New(t.service.Catalog),
		Version:      t.o.Version,
		Logger:       t.o.Logger,
		AnyHost:      true, // httpapi checks hosts, for all of its paths
		DrainTime:    finishMCP,
		MaxSessions:  cfg.MaxSessions,
		AnswerWithin: time.Duration(cfg.AnswerWithin) * time.Second,
	})
	t.all.read, t.all.gateway = t.updater.ready, t.gateway
	t.all.logins = newUserLogins(t.ctx, t.gateway)
	t.editor = newServerEditor(t.ctx, t.service, t.gateway, t.all.catalogChanged)
	t.all.http = httpapi.Options{
		Upstreams: knownStates{t.gateway, t.service}, Operator: operator{t.gateway, t.updater}, Editor: t.editor,
		RefuseEdit: t.admission.refuseEdit(cfg.Edits), People: people{t.all, t.admission.gate.File},
		Trace: t.tracer.Request, Panel: web.Handler(), Rate: t.admission.rate, Hosts: cfg.Hosts, Origins: cfg.Origins,
		Version: t.o.Version, Logger: t.o.Logger,
	}
	t.offerHTTP()
}

// offerHTTP completes the options of HTTP servers by what is known once the server listens.
func (t *tenant) offerHTTP() {
	t.all.http.Access, t.all.http.Resource = t.web.gate, t.web.resource
	if t.web.base != "" {
		t.all.logins.setBase(t.web.base)
	}
}

// begin records the start, and begins to follow servers and the store and to count. The error is that of a record that
// is required.
func (t *tenant) begin(ctx context.Context, transports string) error {
	if err := t.views.Audit.Served(ctx, audit.Start, t.o.Version, transports); err != nil && t.views.Audit.Required() {
		return err
	}
	t.updater.start(t.ctx)
	t.service.Learner.Start()
	t.views.Meter.Start()
	t.begun = true
	return nil
}

// end ends the background work, the servers and the service, and returns when that is done. Clients must have been
// served before, and ctx may have ended.
func (t *tenant) end(ctx context.Context) error {
	t.stop()
	t.updater.wait()
	t.editor.wait()
	t.all.logins.wait()
	defer func() { _ = t.service.Close() }() // what remains of a temporary folder is no failure of serving
	if !t.begun {
		return t.gateway.Close()
	}
	_ = t.views.Audit.Served(context.WithoutCancel(ctx), audit.Stop, t.o.Version, "") // a failure is in the log
	return errors.Join(t.gateway.Close(), t.service.Learner.Close(), t.views.Meter.Close(), t.views.Audit.Close())
}
