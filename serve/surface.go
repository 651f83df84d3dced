package serve

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"tooldex/access"
	"tooldex/config"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/mcpsrv"
	"tooldex/service"
	"tooldex/skills"
	"tooldex/tool"
	"tooldex/upstream"
)

// surface is what the clients of one view talk to. It is never changed once surfaces.get has returned it. The HTTP
// server is built lazily, because most views are used over MCP alone.
type surface struct {
	*service.View
	mcp        *mcpsrv.Server
	mcpHandler http.Handler                    // streamable HTTP
	sseHandler http.Handler                    // the transport of before 2025-03-26
	http       func() (*httpapi.Server, error) // built at the first call
}

// surfaces builds the surfaces of one process and keeps them: that of all tools, one for each profile, one for each
// mode under the mode's name, those of single servers that clients ask for, and those again for clients that may only
// read. It is safe for concurrent use.
type surfaces struct {
	views *service.Views
	mcp   mcpsrv.Options  // what all MCP servers have in common
	http  httpapi.Options // what all HTTP servers have in common
	// gateway ends the connections of users whose credentials change; nil: no credentials are managed.
	gateway *gateway.Gateway
	logins  *userLogins // of users, in their browsers; nil with gateway
	// serverFor and endLogin pass requests on to other tenants; nil where there are none.
	serverFor func(context.Context, access.View, bool) (*httpapi.Server, func(), error)
	endLogin  func(*http.Request) (string, error)
	read      func() error // returns what is still being read, nil once it was; nil for nothing

	mu     sync.Mutex // guards the rest; not held while a surface is called
	byKey  map[access.View]*surface
	closed bool // no new surface is built
}

// newSurfaces returns an empty cache of surfaces, and logs profiles that name servers without tools.
func newSurfaces(views *service.Views, mcp mcpsrv.Options) *surfaces {
	all := &surfaces{views: views, mcp: mcp, byKey: map[access.View]*surface{}}
	cfg := views.Service.Config()
	for _, name := range slices.Sorted(maps.Keys(cfg.Profiles)) {
		warnUnknownServers(views.Service, name, cfg.Profiles[name])
	}
	return all
}

// warnUnknownServers logs servers of a profile that are neither configured nor have tools: their names may be wrong.
func warnUnknownServers(s *service.Service, name string, p config.Profile) {
	for _, server := range p.Servers {
		if server != skills.Server && !slices.ContainsFunc(s.Catalog.Set().Servers(), func(c tool.Count) bool { return c.Name == server }) &&
			!slices.ContainsFunc(s.Servers(), func(u upstream.Server) bool { return u.Name == server }) {
			s.Logger().Warn("a profile names a server that is not known", "profile", name, "server", server)
		}
	}
}

// surfaceOf returns the surface of a view, whose profile may also be a mode. The error is NotFound for a name that is
// neither, and for a server that does not exist there; it is Unavailable after shutdown.
func (all *surfaces) surfaceOf(key access.View) (*surface, error) {
	// Names are checked before the cache is searched, so that a profile that was removed is not served from it.
	if err := all.views.CheckName(key.Profile); err != nil {
		return nil, err
	}
	if key.Server != "" {
		if err := all.views.CheckServer(key); err != nil {
			return nil, err
		}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if one, ok := all.byKey[key]; ok {
		return one, nil
	}
	if all.closed {
		return nil, &tool.Error{Code: tool.Unavailable, Op: "find profile", Msg: "the server is closing"}
	}
	// Building takes no I/O, so the lock may be held.
	one := &surface{View: all.views.New(key)}
	one.mcp = mcpsrv.New(all.mcpOptions(one.View))
	one.mcpHandler, one.sseHandler = one.mcp.Handler(), one.mcp.SSEHandler()
	one.http = sync.OnceValues(func() (*httpapi.Server, error) { return httpapi.New(all.httpOptions(one)) })
	all.byKey[key] = one
	return one, nil
}

// mcpOptions returns the options of the MCP server of a view.
func (all *surfaces) mcpOptions(v *service.View) mcpsrv.Options {
	o := all.mcp
	o.Searcher, o.Caller, o.Catalog, o.Confirms = v.Searcher, v.Caller, v.Catalog, v.NeedsConfirmation
	o.Schemas, o.MakeRoom = all.views.Schemas, all.makeRoom
	if v.Upstreams != nil {
		o.Upstreams = v.Upstreams
	}
	if v.Skills != nil {
		o.Skills = v.Skills
	}
	if all.views.Audit != nil {
		o.Auditor = all.views.Audit
	}
	cfg := all.views.Service.Config()
	if _, ok := cfg.Profiles[v.Key.Profile]; ok {
		o.Profile = v.Key.Profile
	}
	o.Scripts = cfg.Serve.Scripts == "on"
	if v.Key.ReadOnly { // what a client's model writes would be stored
		o.Enricher = nil
	}
	return withListing(o, cfg, v.Key)
}

// withListing returns o with the settings of tools/list for a view: those of its profile where it has some, else those
// of serve. A mode's name is a profile with just that mode. The tools of a single server are listed in full.
func withListing(o mcpsrv.Options, cfg *config.Config, key access.View) mcpsrv.Options {
	p, ok := cfg.Profiles[key.Profile]
	if !ok && config.IsMode(key.Profile) {
		p.Mode = key.Profile
	}
	if key.Server != "" {
		p.Mode = string(mcpsrv.Full)
	}
	// The settings of serve come first; those of the profile replace them below.
	o.Mode, o.Threshold, o.Followers, o.Summary = mcpsrv.Mode(cfg.Serve.Mode), cfg.Serve.Threshold, cfg.Serve.Follows,
		cfg.Serve.Summary
	o.MaxResult = cfg.Serve.MaxResult
	o.Always = slices.Concat(cfg.Serve.Always, p.Always)
	if o.Threshold <= 0 {
		o.Threshold = -1 // for mcpsrv zero is the default
	}
	if p.Mode != "" {
		o.Mode = mcpsrv.Mode(p.Mode)
	}
	if p.Summary != "" {
		o.Summary = p.Summary
	}
	return o
}

// applyListing applies the current settings of tools/list to all surfaces. Sessions go on; those of a removed profile
// see no tool.
func (all *surfaces) applyListing() {
	cfg := all.views.Service.Config()
	all.eachSurface(func(one *surface) { one.mcp.Reconfigure(withListing(all.mcp, cfg, one.Key)) })
}

// eachSurface calls do with every surface that exists at the time of the call, without holding the lock, so that do may
// build surfaces.
func (all *surfaces) eachSurface(do func(*surface)) {
	all.mu.Lock()
	made := slices.Collect(maps.Values(all.byKey))
	all.mu.Unlock()
	for _, one := range made {
		do(one)
	}
}

// ready returns why requests cannot be answered well at this moment, nil if they can.
func (all *surfaces) ready(context.Context) error {
	if err := all.views.Ready(); err != nil || all.read == nil {
		return err
	}
	return all.read()
}

// catalogChanged notifies clients that the tools have changed.
func (all *surfaces) catalogChanged() {
	all.eachSurface(func(one *surface) { one.mcp.CatalogChanged() })
}

// countSessions counts the open MCP sessions.
func (all *surfaces) countSessions() int {
	n := 0
	all.eachSurface(func(one *surface) { n += one.mcp.Sessions() })
	return n
}

// makeRoom makes room for one more MCP session: beyond the bound of all surfaces together it closes the one that was
// used least recently. It returns false if all are in use.
func (all *surfaces) makeRoom() bool {
	// The bound is for the process, not for a view, since sessions share its memory.
	most := all.mcp.MaxSessions
	if most <= 0 {
		most = mcpsrv.DefaultSessions
	}
	if all.countSessions() < most {
		return true
	}
	var oldest *surface
	var since time.Time
	all.eachSurface(func(one *surface) {
		if at, ok := one.mcp.OldestIdle(); ok && (oldest == nil || at.Before(since)) {
			oldest, since = one, at
		}
	})
	return oldest != nil && oldest.mcp.CloseOldestIdle()
}

// mcpHandler serves /mcp and /sse, and below each of them {profile} and servers/{server}, for the holders of a view:
// for one of a profile that profile alone, for others any.
func (all *surfaces) mcpHandler(key access.View) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A path below /mcp names a profile, a mode, or servers/NAME.
		below, legacy := strings.CutPrefix(r.URL.Path, "/sse")
		below = strings.Trim(strings.TrimPrefix(below, "/mcp"), "/")
		asked := access.View{Profile: below, ReadOnly: key.ReadOnly}
		if server, ok := strings.CutPrefix(below, "servers/"); ok {
			asked.Profile, asked.Server = service.WholeProfile, server
		}
		// A token of a profile must not reach another one by its path.
		if key.Profile != service.WholeProfile {
			if asked.Profile != service.WholeProfile && asked.Profile != key.Profile {
				http.Error(w, "there is no such profile", http.StatusNotFound)
				return
			}
			asked.Profile = key.Profile
		}
		one, err := all.surfaceOf(asked)
		switch code := tool.CodeOf(err); {
		case err == nil && legacy:
			one.sseHandler.ServeHTTP(w, r)
		case err == nil:
			one.mcpHandler.ServeHTTP(w, r)
		case code == tool.Unavailable:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		default:
			http.Error(w, err.Error(), http.StatusNotFound)
		}
	})
}

// shutdownAll ends all MCP servers at the same time, once they have answered their requests or the time is over. No
// surface is built after it was called.
func (all *surfaces) shutdownAll(within time.Duration) error {
	all.mu.Lock()
	all.closed = true
	all.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var ends sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	all.eachSurface(func(one *surface) {
		ends.Go(func() {
			err := one.mcp.Shutdown(ctx)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	})
	ends.Wait()
	return errors.Join(errs...)
}
