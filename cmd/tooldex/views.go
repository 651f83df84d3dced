package main

import (
	"context"
	"net/http"

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

// tokensOf makes for each token the server that answers its requests. What a token's server offers is said here one by one, so
// that nothing new is open to all of them by mistake.
func tokensOf(tokens []boundToken, whole httpapi.Options, gw *gateway.Gateway, all *endpoints) ([]httpapi.Token, error) {
	var out []httpapi.Token
	made := map[view]*httpapi.Server{{}: nil} // the view of everything is that of the server itself
	for _, t := range tokens {
		srv, ok := made[t.view]
		if !ok {
			var err error
			if srv, err = httpapi.New(all.narrow(whole, gw, t.view)); err != nil {
				return nil, err
			}
			made[t.view] = srv
		}
		out = append(out, httpapi.Token{Digest: t.digest, Server: srv})
	}
	return out, nil
}

// narrow returns the options of a server for a view.
func (e *endpoints) narrow(whole httpapi.Options, gw *gateway.Gateway, v view) httpapi.Options {
	policy := e.policy(v)
	o := httpapi.Options{
		Searcher: e.meter.Searcher(policy.Searcher(e.base.Searcher), policy.Catalog(whole.Catalog)), Caller: e.meter.Caller(policy.Caller(e.base.Caller)),
		Catalog: policy.Catalog(whole.Catalog), Upstreams: statuses{policy, gw}, Learner: whole.Learner, Ready: whole.Ready,
		Selector: e.chosen.view(v), Preferences: whole.Preferences, Profile: v.profile,
		Metrics: counting{e.meter}, MCP: e.only(v), ReadOnly: v.readOnly, Tokens: []httpapi.Token{{}}, Version: whole.Version, Logger: whole.Logger,
	}
	if v.profile == wholeName { // what tells of all servers and tools
		o.Metrics, o.Prometheus, o.Overlays, o.Insight, o.Operator = whole.Metrics, whole.Prometheus, whole.Overlays, whole.Insight, whole.Operator
	}
	return o
}

// counting counts, and tells nobody.
type counting struct{ *metrics.Meter }

// Report implements httpapi.Metrics.
func (counting) Report(context.Context, string) (*tool.Metrics, error) {
	return nil, &tool.Error{Code: tool.NotFound, Op: "metrics", Msg: "what is done is told to nobody who may not see all tools"}
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
