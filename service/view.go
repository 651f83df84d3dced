package service

import (
	"context"
	"fmt"
	"slices"

	"tooldex/access"
	"tooldex/audit"
	"tooldex/config"
	"tooldex/confirm"
	"tooldex/metrics"
	"tooldex/selection"
	"tooldex/tool"
	"tooldex/trace"
	"tooldex/trust"
	"tooldex/validate"
)

// WholeProfile is the name of the profile of all tools.
const WholeProfile = ""

// View is the service as the holders of one profile see it, or those who may only read. A profile that the
// configuration changes is changed in its views at once; the view of a profile that is gone shows nothing.
type View struct {
	Key access.View
	// Searcher finds the tools of the view, and Caller calls them. They are the only ways from a client to a tool.
	Searcher tool.Searcher
	Caller   tool.Caller
	// Catalog has the tools of the view.
	Catalog tool.Catalog
	// Upstreams offers what the servers of the view have beside tools; nil without a gateway.
	Upstreams selection.Upstreams
	Selector  *selection.Selector // chooses tools for messages
	// Skills are those of the view; nil if no folders of skills are configured.
	Skills *SkillView
	// NeedsConfirmation reports whether a person has to confirm each call of a tool, at this moment.
	NeedsConfirmation func(*tool.Tool) bool

	policy selection.Policy
}

// AllowsServer reports whether the view shows something of a server.
func (v *View) AllowsServer(name string) bool { return v.policy.AllowsServer(name) }

// Views makes views of a service. Its methods are safe for concurrent use.
type Views struct {
	Service *Service
	Meter   *metrics.Meter
	Audit   *audit.Log // nil if calls are not recorded

	gateway     Gateway
	content     *trust.Content // judges arguments and results
	features    *heldFeatures  // what stands behind the gateway beside tools
	tracer      *trace.Tracer
	preferences *selection.PreferenceKeeper // of all profiles
	Schemas     *validate.Schemas           // those that arguments are checked against, shared by all views
}

// ViewOptions says what stands behind views.
type ViewOptions struct {
	Gateway  Gateway       // makes the calls; nil: every call is Unavailable
	Tracer   *trace.Tracer // nil traces nothing
	Sessions func() int    // how many clients are connected, for metrics; nil for none
}

// Gateway makes calls, and passes on what servers have beside tools. It is a *gateway.Gateway.
type Gateway interface {
	tool.Caller
	selection.Upstreams
}

// NewViews reads the preferences and opens the record of calls; nothing is written yet. Its errors are those of
// reading the store.
func (s *Service) NewViews(ctx context.Context, o ViewOptions) (*Views, error) {
	preferences, err := selection.NewPreferenceKeeper(ctx, s.Store, s.o.Logger)
	if err != nil {
		return nil, err
	}
	if o.Sessions == nil {
		o.Sessions = func() int { return 0 }
	}
	if err := audit.CheckSyslog(s.Config().Audit.Syslog); err != nil {
		return nil, err
	}
	content := &trust.Content{
		PolicyOf: s.Catalog.TrustPolicy,
		Secrets:  func() trust.Secrets { return trust.Secrets(s.Config().Trust.Secrets) },
	}
	return &Views{
		Service: s, Audit: s.openAudit(), gateway: o.Gateway, tracer: o.Tracer, preferences: preferences,
		content:  content,
		features: &heldFeatures{next: o.Gateway, catalog: s.Catalog, content: content, logger: s.o.Logger},
		Schemas:  validate.NewSchemas(s.o.Logger),
		Meter: metrics.New(metrics.Options{
			Disk: s.Store, Catalog: s.Catalog, Sessions: o.Sessions, Logger: s.o.Logger,
			Servers: s.serverStates, Version: s.o.Version, Sweeps: s.Owner, Messages: s.states.messageMemory,
		}),
	}, nil
}

// openAudit returns the audit log that the configuration sets up, nil for none. Calls of temporary tools are recorded
// only where the configuration names a folder.
func (s *Service) openAudit() *audit.Log {
	c := s.Config().Audit
	if !c.On || s.scratch != "" && c.Dir == "" {
		return nil
	}
	return NewAuditLog(s.Config(), audit.Options{Catalog: s.Catalog, Logger: s.o.Logger})
}

// profileNamed returns a profile of the current configuration.
func (x *Views) profileNamed(name string) (config.Profile, bool) {
	p, ok := x.Service.Config().Profiles[name]
	return p, ok
}

// profileLabel returns the profile that metrics count for a view: "" for all tools, also under the name of a mode.
func (x *Views) profileLabel(key access.View) string {
	if _, ok := x.profileNamed(key.Profile); !ok {
		return WholeProfile
	}
	return key.Profile
}

// CheckName returns a NotFound error for a name that is neither that of a profile nor of a mode.
func (x *Views) CheckName(name string) error {
	if _, ok := x.profileNamed(name); ok || name == WholeProfile || config.IsMode(name) {
		return nil
	}
	return &tool.Error{
		Code: tool.NotFound, Op: "find profile", Msg: fmt.Sprintf("there is no profile %q", name), Hint: x.profileHint(),
	}
}

// New builds the view of a profile, or of everything under the name of a mode. It checks nothing: the view of a profile
// that does not exist shows nothing until it does.
func (x *Views) New(key access.View) *View {
	s := x.Service
	v := &View{Key: key, policy: x.policyOf(key)}
	v.Catalog = v.policy.Catalog(s.Catalog)
	guard := confirm.New(confirm.Options{
		Catalog: s.Catalog,
		Rules:   func() confirm.Rules { return x.confirmRules(key) },
	})
	v.NeedsConfirmation = guard.Needs

	// The chain of searches. Filters narrow the query on its way in, so that a limit of 5 means 5.
	found := v.policy.Searcher(guard.Searcher(x.tracer.Searcher(s.limited)))
	v.Searcher = x.Meter.Searcher(found, v.Catalog, x.profileLabel(key))

	// The chain of calls. Whatever refuses a call stands inside the record, and what is counted was allowed.
	var last tool.Caller = noGateway{}
	if x.gateway != nil {
		last = x.gateway
		v.Upstreams = v.policy.Upstreams(x.features)
	}
	made := x.Meter.Caller(x.tracer.Caller(last), x.profileLabel(key))
	valid := validate.NewCaller(x.content.Caller(guard.Caller(made)), s.Catalog, x.Schemas)
	v.Caller = x.Audit.Caller(access.LimitCalls{}.Caller(v.policy.Caller(availability{valid, s.Catalog})))

	if s.Skills != nil {
		v.Skills = &SkillView{s.Skills, v.policy, x.content}
	}
	v.Selector = x.newSelector(v, found)
	return v
}

// policyOf returns what a view shows: always what its profile says at that moment, and nothing once the profile is
// gone. A mode's name shows everything, with the preferences of the whole.
func (x *Views) policyOf(key access.View) selection.Policy {
	profile := key.Profile
	if _, ok := x.profileNamed(profile); !ok && config.IsMode(profile) {
		profile = WholeProfile
	}
	out := selection.Policy{
		ReadOnly: key.ReadOnly, Tools: x.Service.Catalog,
		Preferred: func() *selection.Preferred { return x.preferences.Preferred(profile) },
	}
	if profile != WholeProfile || key.Server != "" {
		out.Current = func() selection.Reach { return x.currentReach(profile, key.Server) }
	}
	return out
}

// currentReach returns which tools a profile has at this moment, and only those of one server if it is not "".
func (x *Views) currentReach(profile, server string) selection.Reach {
	var reach selection.Reach
	if profile != WholeProfile {
		p, ok := x.profileNamed(profile)
		if !ok {
			return selection.Reach{Servers: []string{noServer}}
		}
		reach = selection.Reach{Servers: p.Servers, Only: p.Tools, Hidden: p.Hidden}
	}
	switch {
	case server == "":
	case len(reach.Servers) == 0 || slices.Contains(reach.Servers, server):
		reach.Servers = []string{server}
	default:
		reach.Servers = []string{noServer}
	}
	return reach
}

// CheckServer returns a NotFound error if the server of a view does not exist for the holders of its profile. The error
// is the same for a server that the profile hides and for one that is invented.
func (x *Views) CheckServer(key access.View) error {
	if x.policyOf(key).AllowsServer(key.Server) && x.Service.knowsServer(key.Server) {
		return nil
	}
	return &tool.Error{
		Code: tool.NotFound, Op: "find server", Msg: fmt.Sprintf("there is no server %q", key.Server),
		Hint: "list_tool_categories lists the servers",
	}
}

// noServer matches no server: a list with it alone shows nothing, where an empty one would show everything.
const noServer = "/"

// confirmRules returns which calls of a view need confirmation: by the profile's own mode, or that of the whole, and by
// the names of both.
func (x *Views) confirmRules(key access.View) confirm.Rules {
	c := x.Service.Config().Serve
	p, _ := x.profileNamed(key.Profile)
	out := confirm.Rules{
		Mode: confirm.Mode(c.Confirm), Tools: slices.Concat(c.ConfirmTools, p.ConfirmTools),
		Except: slices.Concat(c.ConfirmExcept, p.ConfirmExcept), Within: c.ConfirmWithin(),
	}
	if p.Confirm != "" {
		out.Mode = confirm.Mode(p.Confirm)
	}
	return out
}

// newSelector returns what chooses tools for the messages of a view. Its searches are not counted as searches.
func (x *Views) newSelector(v *View, searcher tool.Searcher) *selection.Selector {
	c := x.Service.Config()
	o := selection.Options{
		Searcher: searcher, Catalog: v.Catalog, Embedder: x.Service.model.Embedder, Preferred: v.policy.Preferred,
		Profile: v.Key.Profile, Confirms: v.NeedsConfirmation,
		MaxTools: c.Select.MaxTools, CacheSize: c.Select.CacheSize,
		Core: func() []string {
			p, _ := x.profileNamed(v.Key.Profile)
			return slices.Concat(x.Service.Config().Serve.Always, p.Always)
		},
	}
	if !c.Select.Lazy {
		o.Mode = selection.ModeAll
	}
	return selection.NewSelector(o)
}

// Ready returns why calls would be refused at this moment, nil if they would not.
func (x *Views) Ready() error {
	if x.Audit.Required() {
		return x.Audit.Err()
	}
	return nil
}

// Problems lists what does not work although requests are answered, for people. It is empty if all works.
func (x *Views) Problems() []string {
	var out []string
	if err := x.Audit.Err(); err != nil {
		out = append(out, "calls cannot be recorded: "+err.Error())
	}
	return append(out, x.Service.Store.Health()...)
}

// Close writes the rest of the metrics and the audit log. Errors are only logged.
func (x *Views) Close() {
	if err := x.Meter.Close(); err != nil {
		x.Service.o.Logger.Warn("the metrics could not be stored", "error", err)
	}
	if err := x.Audit.Close(); err != nil {
		x.Service.o.Logger.Warn("the audit log could not be written to the disk", "error", err)
	}
}

// availability refuses calls of tools that are disabled or held. Names of such tools are refused where they are
// resolved; this is for calls that were on their way when that happened.
type availability struct {
	next    tool.Caller
	catalog tool.Catalog
}

// Call implements tool.Caller.
func (a availability) Call(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
	set := a.catalog.Set()
	if err := set.CheckHeld(c.ID); err != nil {
		return nil, err
	}
	if t, ok := set.Get(c.ID); ok && t.Disabled {
		return nil, &tool.Error{
			Code: tool.Denied, Op: "call", Msg: fmt.Sprintf("tool %s is disabled", c.ID),
			Hint: "enable it in the panel or in an overlay",
		}
	}
	return a.next.Call(ctx, c)
}

// noGateway stands where there is no gateway to servers.
type noGateway struct{}

// Call implements tool.Caller.
func (noGateway) Call(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	return nil, &tool.Error{
		Code: tool.Unavailable, Op: "call", Msg: fmt.Sprintf("no server is connected that could run %s", c.ID),
		Hint: "open the service with a gateway",
	}
}
