package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"tooldex/mcpsrv"
	"tooldex/metrics"
	"tooldex/selection"
	"tooldex/tool"
	"tooldex/validate"
)

// endpoints are the MCP servers that one process offers: that of all tools, one for each profile, one for each mode
// under the mode's name, and those again for clients that may only read. Each is made when it is first asked for.
type endpoints struct {
	book   *profileBook
	meter  *metrics.Meter // counts what they do
	chosen *selections    // knows what profiles prefer; nil if they prefer nothing
	guards guards         // what stands around calls

	mu     sync.Mutex
	base   mcpsrv.Options // of the one for all tools; what of it changes is read under mu
	made   map[view]endpoint
	closed bool
}

type endpoint struct {
	*mcpsrv.Server
	http http.Handler
}

// wholeName is the name of the endpoint for all tools.
const wholeName = ""

func newEndpoints(base mcpsrv.Options, book *profileBook, meter *metrics.Meter) *endpoints {
	if base.Schemas == nil {
		base.Schemas = validate.NewSchemas(base.Logger)
	}
	e := &endpoints{base: base, book: book, meter: meter, made: map[view]endpoint{}}
	for name, p := range book.sorted() {
		warnUnknownServers(base.Logger, name, p, base.Catalog.Set())
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

// get returns an endpoint; the profile of v may also be a mode. The error is of code NotFound for a name that is
// neither, and Unavailable after close.
func (e *endpoints) get(v view) (endpoint, error) {
	name := v.profile
	p, ok := e.book.get(name)
	if !ok && name != wholeName {
		p.Mode = mcpsrv.Mode(name)
		if checkMode(p.Mode) != nil {
			return endpoint{}, &tool.Error{
				Code: tool.NotFound, Op: "find profile",
				Msg: fmt.Sprintf("there is no profile %q", name), Hint: e.hint(),
			}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if one, ok := e.made[v]; ok {
		return one, nil
	}
	if e.closed {
		return endpoint{}, &tool.Error{Code: tool.Unavailable, Op: "find profile", Msg: "the server is closing"}
	}
	policy := e.policy(v)
	o := p.apply(e.base, policy)
	o.Searcher, o.Caller = e.searcher(v, policy, o.Catalog), e.caller(v, policy)
	o.Auditor, o.Confirms = e.guards.log, e.guard(v).Needs
	if ok {
		o.Profile = name
	}
	if v.readOnly { // what its model writes would be stored
		o.Enricher = nil
	}
	srv := mcpsrv.New(o)
	one := endpoint{srv, srv.Handler()}
	e.made[v] = one
	return one, nil
}

// policy tells what a view shows, without what the profile prefers to hide. A mode has the preferences of the whole.
func (e *endpoints) policy(v view) selection.Policy {
	p := e.book.policy(e.base.Catalog, v)
	if _, ok := e.book.get(v.profile); !ok {
		v.profile = wholeName
	}
	if e.chosen != nil {
		p.Preferred = e.chosen.preferred(v.profile)
	}
	return p
}

// apply returns the options of a profile's server, but for what searches and calls.
func (p profile) apply(o mcpsrv.Options, policy selection.Policy) mcpsrv.Options {
	o.Catalog = policy.Catalog(o.Catalog)
	if o.Upstreams != nil {
		o.Upstreams = policy.Upstreams(o.Upstreams)
	}
	return p.ways(o)
}

// ways returns o with what a profile says of how its tools are listed.
func (p profile) ways(o mcpsrv.Options) mcpsrv.Options {
	if p.Mode != "" {
		o.Mode = p.Mode
	}
	if p.Summary != "" {
		o.Summary = p.Summary
	}
	o.Always = slices.Concat(o.Always, p.Always)
	return o
}

// reconfigure serves other profiles, and in other ways, from now on. Sessions go on; those of a profile that is gone
// see no tool.
func (e *endpoints) reconfigure(base mcpsrv.Options) {
	e.mu.Lock()
	e.base.Mode, e.base.Threshold, e.base.Followers, e.base.Always, e.base.Summary = base.Mode, base.Threshold,
		base.Followers, base.Always, base.Summary
	base = e.base
	made := maps.Clone(e.made)
	e.mu.Unlock()
	for v, one := range made {
		p, ok := e.book.get(v.profile)
		if mode := mcpsrv.Mode(v.profile); !ok && checkMode(mode) == nil {
			p.Mode = mode
		}
		one.Reconfigure(p.ways(base))
	}
}

func (e *endpoints) hint() string {
	names := slices.Sorted(maps.Keys(e.book.all()))
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

// sessions counts those that are open.
func (e *endpoints) sessions() int {
	n := 0
	e.each(func(s *mcpsrv.Server) { n += s.Sessions() })
	return n
}

// ServeHTTP serves /mcp and /mcp/{profile}.
func (e *endpoints) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.serve(w, r, view{profile: endpointName(r)})
}

// endpointName is the profile that a path names.
func endpointName(r *http.Request) string {
	return strings.Trim(strings.TrimPrefix(r.URL.Path, "/mcp"), "/")
}

func (e *endpoints) serve(w http.ResponseWriter, r *http.Request, v view) {
	one, err := e.get(v)
	switch tool.CodeOf(err) {
	case tool.NotFound:
		http.Error(w, err.Error(), http.StatusNotFound)
	case tool.Unavailable:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		one.http.ServeHTTP(w, r)
	}
}

// shutdown ends all of them, once they have answered what they were asked or the time is over. New ones are refused.
func (e *endpoints) shutdown(within time.Duration) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var ends sync.WaitGroup
	var errs []error
	var mu sync.Mutex
	e.each(func(s *mcpsrv.Server) {
		ends.Go(func() {
			err := s.Shutdown(ctx)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	})
	ends.Wait()
	return errors.Join(errs...)
}
