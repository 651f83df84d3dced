package main

import (
	"context"
	"fmt"
	"net"
	"strings"

	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/tool"
	"tooldex/web"
)

// serveHTTP answers on addr until ctx ends.
func (a *app) serveHTTP(ctx context.Context, addr string, s *stack, gw *gateway.Gateway, all *endpoints) error {
	token := a.getenv("TOOLDEX_TOKEN")
	said := words{s, a.borrow != "off"}
	api, err := httpapi.New(httpapi.Options{
		Searcher: s.engine, Caller: gw, Catalog: s.catalog, Upstreams: gw, Learner: s.learner, MCP: all,
		Overlays: said, Insight: said, Operator: gw, Panel: web.Handler(),
		OnShutdown: func() { _ = all.close() }, // what it says is said again in the end
		Token:      token, Hosts: list(a.getenv("TOOLDEX_HOSTS")), Origins: list(a.getenv("TOOLDEX_ORIGINS")),
		Version: version, Logger: a.log,
	})
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return &tool.Error{Code: tool.Invalid, Op: "listen", Msg: "cannot listen on " + addr, Hint: "is another tooldex running? choose another address with --listen", Err: err}
	}
	fmt.Fprintf(a.stderr, "serving on http://%[1]s (MCP at http://%[1]s/mcp)\n", l.Addr())
	return api.Serve(ctx, l)
}

// checkListen refuses addresses that others can reach, where no token is set: whoever can call tools can do whatever the
// tools do.
func checkListen(addr, token string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usageError{fmt.Sprintf("%q is not an address", addr), "give host:port, for example " + defaultListen}
	}
	ip := net.ParseIP(host)
	if token != "" || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return usageError{fmt.Sprintf("others can reach %s, and there is no token", addr), "set TOOLDEX_TOKEN, or listen on " + defaultListen}
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
