package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"

	"tooldex/access"
	"tooldex/httpapi"
	"tooldex/metrics"
	"tooldex/selection"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/upstream"
)

// listenHTTP serves HTTP on an address until ctx ends. It completes the options that all HTTP servers share, so it must
// come before the first of them is built.
func (s *server) listenHTTP(ctx context.Context, addr string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return &tool.Error{
			Code: tool.Invalid, Op: "listen", Msg: "cannot listen on " + addr,
			Hint: "is another tooldex running? choose another address with --listen", Err: err,
		}
	}
	s.admission.gate.Refused = s.countRefusal
	gate, oauth, err := s.admission.openGate(s.profileExists, l.Addr(), s.endSessions)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.web = webAccess{gate: gate, base: s.browserAddress(l.Addr())}
	if oauth != nil {
		s.web.resource = &httpapi.Resource{URL: oauth.Resource, Issuers: oauth.Issuers, Scopes: oauth.Scopes}
	}
	s.home.offerHTTP()
	s.others.each((*tenant).offerHTTP) // that of standard input
	whole, err := s.home.all.surfaceOf(access.View{})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	api, err := whole.http()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var watching sync.WaitGroup
	watching.Go(func() { gate.Watch(ctx) })
	defer watching.Wait()
	defer stop()
	s.logStart(l.Addr().String(), gate)
	s.o.Listening(l.Addr(), s.admission.own)
	return api.Serve(ctx, l)
}

// browserAddress returns the address at which browsers reach the service: what the configuration says, or where it
// listens on loopback; "" if neither is set.
func (s *server) browserAddress(at net.Addr) string {
	if base := s.o.Config.Config().OAuth.Resource; base != "" {
		return base
	}
	if local, err := IsLoopback(at.String()); err != nil || !local {
		return ""
	}
	return "http://" + at.String()
}

// profileExists reports whether the current configuration has a profile. A reload may add and remove profiles.
func (s *server) profileExists(name string) bool {
	_, ok := s.o.Config.Config().Profiles[name]
	return ok
}

// countRefusal counts what a quota refused, where the requests of its token count.
func (s *server) countRefusal(who access.Principal, view access.View, kind string) {
	name := s.o.Config.Config().TenantOf(view.Profile)
	count := func(t *tenant) {
		if t.name == name {
			t.views.Meter.QuotaRefused(who.Name, kind)
		}
	}
	count(s.home)
	s.others.each(count)
}

// endSessions ends what was begun with a token that has ended.
func (s *server) endSessions(key string) {
	end := func(t *tenant) {
		t.all.eachSurface(func(one *surface) { one.mcp.EndSessions(key) })
		t.gateway.EndUser(key, "")
	}
	end(s.home)
	s.others.each(end)
}

// serverFor returns the HTTP server of a view, from the tenant of its profile, as httpapi.Options.ServerFor asks for
// it. This is the only way from a token to a tenant.
func (s *server) serverFor(ctx context.Context, view access.View, stream bool) (*httpapi.Server, func(), error) {
	name := s.o.Config.Config().TenantOf(view.Profile)
	if name == "" {
		return s.home.all.ownServer(ctx, view, stream)
	}
	t, done, err := s.others.acquire(ctx, name, stream)
	if err != nil {
		if ctx.Err() == nil {
			s.o.Logger.Warn("a tenant cannot be opened", "tenant", name, "error", err)
		}
		return nil, nil, errNotOpen
	}
	one, _, err := t.all.ownServer(ctx, view, stream)
	if err != nil {
		done()
		return nil, nil, err
	}
	return one, done, nil
}

// errNotOpen is what clients hear of a tenant that cannot be opened. Why is in the log, since it may be about others.
var errNotOpen = &tool.Error{
	Code: tool.Unavailable, Op: "serve", Msg: "the tools cannot be served at the moment", Hint: "try again in a few seconds",
}

// endLogin takes what a browser brings back from a login, for the tenant that waits for it.
func (s *server) endLogin(r *http.Request) (string, error) {
	waiting := s.home
	s.others.each(func(t *tenant) {
		if t.all.logins.waitsFor(r.URL.Query().Get("state")) {
			waiting = t
		}
	})
	return waiting.all.logins.end(r)
}

// httpOptions returns the options of the HTTP server of a view. They are listed one by one, rather than copied from
// all.http, so that a new option is not open to all views by mistake.
func (all *surfaces) httpOptions(one *surface) httpapi.Options {
	views, key := all.views, one.Key
	s := views.Service
	edits := overlayEditor{s}
	o := httpapi.Options{
		Searcher: one.Searcher, Caller: one.Caller, Confirms: one.NeedsConfirmation, Catalog: one.Catalog,
		Upstreams: visibleStates{one.View, all.http.Upstreams}, Learner: s.Learner,
		Ready: all.ready, Selector: selector{all, key.ReadOnly},
		Preferences: preferences{views, all}, Profile: key.Profile, Metrics: hiddenReport{views.Meter},
		Always: func() map[tool.ID]bool { return all.alwaysIncluded(one.View) },
		MCP:    all.mcpHandler(key), ReadOnly: key.ReadOnly, Version: all.http.Version, Logger: all.http.Logger,
		Access: all.http.Access, // the checks are made once, by the server of everything
	}
	if one.View.Skills != nil {
		o.Skills = one.View.Skills
	}
	if views.Audit != nil {
		o.Auditor = views.Audit
	}
	if s.Credentials != nil && all.gateway != nil {
		o.Credentials = userCredentials{s.Credentials, all.gateway, all.logins, one.View}
	}
	if key.Profile == service.WholeProfile { // these report on all servers and tools
		o.Metrics, o.Prometheus, o.Overlays, o.Insight = views.Meter, views.Meter, edits, edits
		o.People = all.http.People
		if views.Audit != nil {
			o.Records = views.Audit
		}
		o.Operator, o.Editor, o.Quarantine = all.http.Operator, all.http.Editor, s.Catalog
		o.RefuseEdit = all.http.RefuseEdit
	}
	if key == (access.View{}) { // it answers for all others, too
		o.Catalog = s.Catalog // hidden tools as well, or they could not be shown again
		o.Upstreams, o.Ailing, o.Trace = all.http.Upstreams, views.Problems, all.http.Trace
		o.Panel, o.Resource, o.Grace = all.http.Panel, all.http.Resource, finishHTTP
		o.Card = views.Service.Config().Serve.Card
		if o.ServerFor = all.serverFor; o.ServerFor == nil {
			o.ServerFor = all.ownServer
		}
		if o.EndLogin = all.endLogin; o.EndLogin == nil && all.logins != nil {
			o.EndLogin = all.logins.end
		}
		o.Rate, o.Hosts, o.Origins = all.http.Rate, all.http.Hosts, all.http.Origins
	}
	return o
}

// alwaysIncluded returns the tools that every client of a view is shown, by the catalogue, the preferences or the
// settings. Names of tools that do not exist are ignored.
func (all *surfaces) alwaysIncluded(v *service.View) map[tool.ID]bool {
	set, cfg, out := v.Catalog.Set(), all.views.Service.Config(), map[tool.ID]bool{}
	for _, t := range set.All() {
		if t.Always {
			out[t.ID()] = true
		}
	}
	for _, name := range slices.Concat(cfg.Serve.Always, cfg.Profiles[v.Key.Profile].Always) {
		if t, err := set.Resolve(name); err == nil {
			out[t.ID()] = true
		}
	}
	return out
}

// ownServer returns the HTTP server of a view of these surfaces, with the errors of surfaceOf. The function that it
// returns does nothing.
func (all *surfaces) ownServer(_ context.Context, key access.View, _ bool) (*httpapi.Server, func(), error) {
	one, err := all.surfaceOf(key)
	if err != nil {
		return nil, nil, err
	}
	srv, err := one.http()
	return srv, func() {}, err
}

// visibleStates restricts the states of upstream servers to those that a view shows.
type visibleStates struct {
	view *service.View
	next httpapi.Upstreams
}

// Status implements httpapi.Upstreams.
func (s visibleStates) Status() []upstream.Status {
	var out []upstream.Status
	for _, one := range s.next.Status() {
		if s.view.AllowsServer(one.Server) {
			out = append(out, one)
		}
	}
	return out
}

// hiddenReport counts, but reports nothing: its numbers would be those of all views.
type hiddenReport struct{ httpapi.Metrics }

// Report implements httpapi.Metrics.
func (hiddenReport) Report(context.Context, string) (*metrics.Metrics, error) {
	return nil, &tool.Error{
		Code: tool.NotFound, Op: "metrics", Msg: "your token cannot view activity",
		Hint: "ask for a token without a profile",
	}
}

// Uses implements httpapi.Metrics.
func (hiddenReport) Uses(context.Context) (map[tool.ID]metrics.Use, error) { return nil, nil }

// selector chooses tools for the profile of each query. The HTTP server checks before that the client may use it.
type selector struct {
	all      *surfaces
	readOnly bool
}

// Select implements httpapi.Selector.
func (s selector) Select(ctx context.Context, q selection.Query) (*selection.Selection, error) {
	one, err := s.of(q.Profile)
	if err != nil {
		return nil, err
	}
	return one.Selector.Select(ctx, q)
}

// Called implements httpapi.Selector.
func (s selector) Called(profile, session string, id tool.ID) {
	if one, err := s.of(profile); err == nil {
		one.Selector.Called(session, id)
	}
}

// of returns the surface of a profile. The error is NotFound for a name that is none, such as that of a mode.
func (s selector) of(profile string) (*surface, error) {
	if err := s.all.views.CheckProfile(profile); err != nil { // get would accept a mode
		return nil, err
	}
	return s.all.surfaceOf(access.View{Profile: profile, ReadOnly: s.readOnly})
}

// preferences stores what profiles prefer, and notifies clients of changes.
type preferences struct {
	*service.Views
	all *surfaces
}

// SetPreferences implements httpapi.Preferences.
func (p preferences) SetPreferences(ctx context.Context, profile string, base uint64,
	to selection.Preferences,
) (selection.Preferences, uint64, error) {
	out, version, err := p.Views.SetPreferences(ctx, profile, base, to)
	if err == nil {
		p.all.catalogChanged()
	}
	return out, version, err
}
