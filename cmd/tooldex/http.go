package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/mcpsrv"
	"tooldex/tool"
	"tooldex/trace"
	"tooldex/web"
)

// serveHTTP answers on addr until ctx ends.
func (a *app) serveHTTP(ctx context.Context, addr string, who admission, s *stack, gw *gateway.Gateway, all *endpoints,
	chosen *selections, tracer *trace.Tracer,
) error {
	policy := all.policy(view{}) // lists show what is hidden, too: somebody must be able to show it again
	said := words{s, a.borrow != "off"}
	o := httpapi.Options{
		Searcher: all.searcher(view{}, policy, s.catalog), Caller: all.caller(view{}, policy),
		Auditor: all.guards.log, Confirms: all.guard(view{}).Needs, Ready: func(context.Context) error {
			return all.guards.ready()
		}, Ailing: func() []string {
			return slices.Concat(all.guards.ailing(),
				s.store.Trouble())
		},
		Catalog: s.catalog, Upstreams: gw, Learner: s.learner, MCP: all,
		Metrics: all.meter, Prometheus: all.meter, Trace: tracer.Request,
		Selector: chosen.view(view{}), Preferences: chosen, Overlays: said, Insight: said, Operator: gw,
		Quarantine: s.catalog, Panel: web.Handler(),
		Grace: finishingHTTP,
		Rate:  who.rate, Hosts: list(a.getenv("TOOLDEX_HOSTS")), Origins: list(a.getenv("TOOLDEX_ORIGINS")),
		Version: version, Logger: a.log,
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return &tool.Error{
			Code: tool.Invalid, Op: "listen", Msg: "cannot listen on " + addr,
			Hint: "is another tooldex running? choose another address with --listen", Err: err,
		}
	}
	gate, oauth, err := who.open(all.book, l.Addr(), func(key string) {
		all.each(func(s *mcpsrv.Server) {
			s.EndSessions(key)
		})
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if oauth != nil {
		o.Resource = &httpapi.Resource{URL: oauth.Resource, Issuers: oauth.Issuers, Scopes: oauth.Scopes}
	}
	o.Access = gate
	o.ServerFor = (&scopedServers{all: all, whole: o, gw: gw, made: map[view]*httpapi.Server{}}).server
	api, err := httpapi.New(o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var watching sync.WaitGroup
	watching.Go(func() { gate.Watch(ctx) })
	defer watching.Wait()
	defer stop()
	fmt.Fprintf(a.stderr, "serving on http://%[1]s (MCP at http://%[1]s/mcp)\n", l.Addr())
	return api.Serve(ctx, l)
}

// list splits a list that is separated by commas.
func list(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
