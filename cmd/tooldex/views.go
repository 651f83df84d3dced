package main

import (
	"context"
	"net/http"
	"sync"

	"tooldex/access"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/metrics"
	"tooldex/selection"
	"tooldex/tool"
)

// newMeter counts what a server does, for this process and all others that share its data.
func (a *app) newMeter(s *stack, sessions func() int) *metrics.Meter {
	return metrics.New(metrics.Options{Disk: s.store, Catalog: s.catalog, Sessions: sessions, Logger: a.log})
}

// scopedServers answer tokens that are bound to a view. What the server of a view offers is said one by one in narrow, so
// that nothing new is open to all of them by mistake.
type scopedServers struct {
	all   *endpoints
	whole httpapi.Options
	gw    *gateway.Gateway

	mu   sync.Mutex
	made map[view]*httpapi.Server
}

// server returns that of a view, made when it is first needed.
func (b *scopedServers) server(of access.View) (*httpapi.Server, error) {
	v := view{of.Profile, of.ReadOnly}
	b.mu.Lock()
	defer b.mu.Unlock()
	if srv := b.made[v]; srv != nil {
		return srv, nil
	}
	o := b.all.narrow(b.whole, b.gw, v)
	o.Access = b.whole.Access // its checks are not made again, and the description says that a token is needed
	srv, err := httpapi.New(o)
	if err == nil {
		b.made[v] = srv
	}
	return srv, err
}

// narrow returns the options of a server for a view.
func (e *endpoints) narrow(whole httpapi.Options, gw *gateway.Gateway, v view) httpapi.Options {
	policy := e.policy(v)
	o := httpapi.Options{
		Searcher: e.searcher(v, policy, policy.Catalog(whole.Catalog)), Caller: e.caller(v, policy),
		Auditor: whole.Auditor, Confirms: e.guard(v).Needs,
		Catalog: policy.Catalog(whole.Catalog), Upstreams: statuses{policy, gw}, Learner: whole.Learner,
		Ready:    whole.Ready,
		Selector: e.chosen.view(v), Preferences: whole.Preferences, Profile: v.profile,
		Metrics: counting{e.meter}, MCP: e.only(v), ReadOnly: v.readOnly, Version: whole.Version, Logger: whole.Logger,
	}
	if v.profile == wholeName { // what tells of all servers and tools
		o.Metrics, o.Prometheus, o.Overlays, o.Insight, o.Operator, o.Quarantine = whole.Metrics, whole.Prometheus,
			whole.Overlays, whole.Insight, whole.Operator, whole.Quarantine
	}
	return o
}

// counting counts, and tells nobody.
type counting struct{ *metrics.Meter }

// Report implements httpapi.Metrics.
func (counting) Report(context.Context, string) (*metrics.Metrics, error) {
	return nil, &tool.Error{
		Code: tool.NotFound, Op: "metrics",
		Msg: "what is done is told to nobody who may not see all tools",
	}
}

// statuses are the servers that a policy allows.
type statuses struct {
	policy selection.Policy
	next   httpapi.Upstreams
}

// Status implements httpapi.Upstreams.
func (s statuses) Status() []tool.Status {
	var out []tool.Status
	for _, one := range s.next.Status() {
		if s.policy.AllowsServer(one.Server) {
			out = append(out, one)
		}
	}
	return out
}

// only serves a view: at /mcp, and at /mcp/{profile} for its own profile, or for any if it has none.
func (e *endpoints) only(v view) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := endpointName(r)
		if v.profile != wholeName && name != wholeName && name != v.profile {
			http.Error(w, "there is no such profile", http.StatusNotFound)
			return
		}
		if v.profile != wholeName {
			name = v.profile
		}
		e.serve(w, r, view{name, v.readOnly})
	})
}
