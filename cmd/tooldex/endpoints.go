package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"tooldex/mcpsrv"
	"tooldex/selection"
	"tooldex/tool"
)

// endpoints are the MCP servers that one process offers: that of all tools, one for each profile, and one for each mode
// under the mode's name. Each is made when it is first asked for.
type endpoints struct {
	base     mcpsrv.Options // of the one for all tools
	profiles map[string]profile

	mu     sync.Mutex
	made   map[string]endpoint
	closed bool
}

type endpoint struct {
	*mcpsrv.Server
	http http.Handler
}

// wholeName is the name of the endpoint for all tools.
const wholeName = ""

func newEndpoints(base mcpsrv.Options, profiles map[string]profile) *endpoints {
	e := &endpoints{base: base, profiles: profiles, made: map[string]endpoint{}}
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		warnUnknownServers(base.Logger, name, profiles[name], base.Catalog.Set())
	}
	return e
}

// warnUnknownServers tells of servers that have no tools yet, which may be misspelled or yet to come.
func warnUnknownServers(log *slog.Logger, name string, p profile, set *tool.Set) {
	for _, server := range p.Servers {
		known := slices.ContainsFunc(set.Servers(), func(c tool.Count) bool { return c.Name == server })
		if !known {
			log.Warn("a profile names a server of which no tool is known", "profile", name, "server", server)
		}
	}
}

// get returns an endpoint. The error is of code NotFound for a name that is neither a profile's nor a mode's, and
// Unavailable after close.
func (e *endpoints) get(name string) (endpoint, error) {
	p, ok := e.profiles[name]
	if !ok && name != wholeName {
		p.Mode = mcpsrv.Mode(name)
		if checkMode(p.Mode) != nil {
			return endpoint{}, &tool.Error{Code: tool.NotFound, Op: "find profile", Msg: fmt.Sprintf("there is no profile %q", name), Hint: e.hint()}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if one, ok := e.made[name]; ok {
		return one, nil
	}
	if e.closed {
		return endpoint{}, &tool.Error{Code: tool.Unavailable, Op: "find profile", Msg: "the server is closing"}
	}
	o := p.apply(e.base)
	if ok {
		o.Profile = name
	}
	srv := mcpsrv.New(o)
	one := endpoint{srv, srv.Handler()}
	e.made[name] = one
	return one, nil
}

// apply returns the options of a profile's server.
func (p profile) apply(o mcpsrv.Options) mcpsrv.Options {
	policy := selection.Policy{Servers: p.Servers}
	o.Searcher, o.Caller, o.Catalog = policy.Searcher(o.Searcher), policy.Caller(o.Caller), policy.Catalog(o.Catalog)
	if o.Upstreams != nil {
		o.Upstreams = policy.Upstreams(o.Upstreams)
	}
	if p.Mode != "" {
		o.Mode = p.Mode
	}
	if p.Summary != "" {
		o.Summary = p.Summary
	}
	o.Always = slices.Concat(o.Always, p.Always)
	return o
}

func (e *endpoints) hint() string {
	names := slices.Sorted(maps.Keys(e.profiles))
	for _, mode := range mcpsrv.Modes() {
		names = append(names, string(mode))
	}
	return "there are " + strings.Join(names, ", ")
}

// each does something with every server that was made.
func (e *endpoints) each(do func(*mcpsrv.Server)) {
	e.mu.Lock()
	made := slices.Collect(maps.Values(e.made))
	e.mu.Unlock()
	for _, one := range made {
		do(one.Server)
	}
}

// ServeHTTP serves /mcp and /mcp/{profile}.
func (e *endpoints) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one, err := e.get(strings.Trim(strings.TrimPrefix(r.URL.Path, "/mcp"), "/"))
	switch tool.CodeOf(err) {
	case tool.NotFound:
		http.Error(w, err.Error(), http.StatusNotFound)
	case tool.Unavailable:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		one.http.ServeHTTP(w, r)
	}
}

// close ends all of them. New ones are refused.
func (e *endpoints) close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	var errs error
	e.each(func(s *mcpsrv.Server) { errs = errors.Join(errs, s.Close()) })
	return errs
}
