package gateway

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"tooldex/internal/limit"
	"tooldex/internal/ssrf"
	"tooldex/tool"
	"tooldex/upstream"
)

// Options configure a Gateway. The zero value is ready for use.
type Options struct {
	// Logger receives what servers print to stderr, their stray output, and what happens to them. Nil means none.
	// Secrets from variables and headers of a configuration are redacted.
	Logger *slog.Logger
	// Name and Version are how the gateway introduces itself to servers. Empty means "tooldex" and "0".
	Name, Version string

	// StartTimeout bounds how long a server may take to start and initialize, unless its configuration has a bound of
	// its own. Up to 5 min of installation by a package runner such as npx do not count. Zero means 60 s.
	StartTimeout time.Duration
	// CallTimeout bounds a call, and a page of a listing, unless the server's configuration has a timeout of its own.
	// Zero means 2 min.
	CallTimeout time.Duration
	stopGrace   time.Duration // between closing a process's input, terminating and killing it; zero means 2 s
	// CloseGrace is the time between closing a process's input, terminating and killing it when the Gateway is closed.
	// Zero means 2 s.
	CloseGrace   time.Duration
	requestGrace time.Duration // how long a server's own requests may stay unread; zero means openRequestsGrace
	queueTimeout time.Duration // how long a call waits for a slot of a server; zero means 30 s
	firstBackoff time.Duration // pause after a first failed start, doubled by each further one; zero means 500 ms
	maxBackoff   time.Duration // longest such pause; zero means 1 min

	// MessageMemory bounds the bytes of messages of all servers, results and pages of listings among them, that are in
	// memory at once, from their arrival to the end of the request that they answer. One server gets a quarter of it,
	// and so does one message. A message that finds no room fails its call. Messages of up to 64 KiB do not count. Zero
	// means 64 MiB.
	MessageMemory int64
	// Messages counts these bytes, and may be shared by several gateways of the same MessageMemory. Nil means that the
	// gateway has its own.
	Messages    *limit.Bytes
	roomTimeout time.Duration // how long a message waits for room; zero means 5 s

	maxMessage  int // bytes of one message of a server; zero means a quarter of MessageMemory
	concurrency int // calls that one server runs at once; zero means 64
	queueLength int // further calls that wait for one server; zero means 1024, less means none
	// Bytes of a message longer than maxMessage that are read and dropped. Zero means maxSkipped.
	maxSkippedBytes int

	idleTimeout time.Duration // a server unused for this long is stopped; zero means 10 min, less means never

	// Dir is the folder that stores, from run to run, what servers offer beside their tools. Empty stores nothing.
	Dir string
	// Known returns how many tools of a server are stored, for the status of one that was not asked yet. Nil means
	// none.
	Known func(server string) int

	// AllowPrivate lists private addresses (10.1.2.3), networks (10.0.0.0/8) and names to which servers may redirect
	// us, or where their authorization servers may be; "*" is all. Other values are logged and ignored. Addresses of
	// the configuration are always allowed.
	AllowPrivate []string

	// LookupEnv finds the variables of configurations and the environment that child processes inherit. Nil finds
	// none.
	LookupEnv func(name string) (string, bool)
	// Secret returns the secret of a name, for ${keyring:NAME} in configurations. Nil finds none.
	Secret func(name string) (string, error)
	// EnvNames lists the variables that LookupEnv finds. Child processes also inherit those of proxies, npm, nvm and uv
	// among them. Nil lists none.
	EnvNames func() []string
	// OnListChanged is called with a server's name after it announced a change of its tools, and after each start.
	// Announcements that come together are one call. Calls for one server never overlap, those for several may.
	// It may call the gateway, but not Close, which waits for it.
	OnListChanged func(server string)
	// OnFeatures is called with a server's name after a change of what it offers beside its tools, OnResourceUpdated
	// after a change of a resource to which a client has subscribed. Neither may block.
	OnFeatures        func(server string)
	OnResourceUpdated func(server, uri string)

	// Users has the credentials of users, for servers with ${user:NAME} in a header and for servers whose tokens are
	// those of users. Nil means that such servers are not used.
	Users Users
	// LoginPage returns the address at which a user logs in to a server, "" if there is none at this moment. Nil means
	// that there never is: the user is told to log in with the command.
	LoginPage func(server string) string

	outbound ssrf.Options // AllowPrivate, and networks of tests
	// ownTokens returns the bearer of a session whose tokens are those of a user, and the advice if the server refuses
	// them. Nil means that there are none.
	ownTokens func(x *expandedServer, at *url.URL, logger *slog.Logger) (bearer, string, error)
	starts    chan struct{} // has an item for each start in progress
	roomOf    string        // precedes the names of servers in Messages: those of several gateways may have the same
}

// withDefaults returns o with every zero value replaced, so that the rest of the package need not know the defaults.
func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if o.outbound.Allow, err = ssrf.ParseAllowed(o.AllowPrivate); err != nil {
		o.Logger.Error("private addresses are not allowed", "error", err)
	}
	if o.LookupEnv == nil {
		o.LookupEnv = func(string) (string, bool) { return "", false }
	}
	o.Name, o.Version = cmp.Or(o.Name, "tooldex"), cmp.Or(o.Version, "0")
	o.StartTimeout = cmp.Or(o.StartTimeout, time.Minute)
	o.CallTimeout = cmp.Or(o.CallTimeout, 2*time.Minute)
	o.stopGrace = cmp.Or(o.stopGrace, 2*time.Second)
	o.CloseGrace = cmp.Or(o.CloseGrace, o.stopGrace)
	o.requestGrace = cmp.Or(o.requestGrace, openRequestsGrace)
	o.queueTimeout = cmp.Or(o.queueTimeout, 30*time.Second)
	o.firstBackoff = cmp.Or(o.firstBackoff, 500*time.Millisecond)
	o.maxBackoff = cmp.Or(o.maxBackoff, time.Minute)
	o.idleTimeout = cmp.Or(o.idleTimeout, 10*time.Minute)
	o.MessageMemory = cmp.Or(o.MessageMemory, defaultMessageMemory)
	o.roomTimeout = cmp.Or(o.roomTimeout, 5*time.Second)
	if o.Messages == nil {
		o.Messages = NewMessages(o.MessageMemory, nil)
	}
	o.maxMessage = cmp.Or(o.maxMessage, int(o.MessageMemory/4))
	o.maxSkippedBytes = cmp.Or(o.maxSkippedBytes, maxSkipped)
	o.concurrency, o.queueLength = max(cmp.Or(o.concurrency, 64), 1), max(cmp.Or(o.queueLength, 1024), 0)
	return o
}

// Gateway keeps the upstream servers. It is a [tool.Caller], and safe for concurrent use.
type Gateway struct {
	opts    Options
	running sync.WaitGroup // every goroutine of every upstream

	setting sync.Mutex // held by Set and Close from start to end
	mu      sync.RWMutex
	// By name. mu guards the maps and closed, not the values.
	upstreams map[string]*Upstream
	users     map[userKey]*userUpstream // of servers with credentials of users
	renewals  renewalLocks
	closed    bool
}

var _ tool.Caller = (*Gateway)(nil)

// New returns a Gateway without servers. Close it when done.
func New(o Options) *Gateway {
	o.starts = make(chan struct{}, startsAtOnce)
	g := &Gateway{upstreams: map[string]*Upstream{}, users: map[userKey]*userUpstream{}}
	g.opts = o.withDefaults()
	g.opts.roomOf = fmt.Sprintf("%p ", g)
	return g
}

// Set makes servers the ones that are served. Those that are configured as before are left alone, in any state they
// are in. New ones are started when they are first needed. Those that are gone, disabled or changed are stopped, and
// their running calls fail as Unavailable; Set returns when they have ended. Of two servers with one name the later
// counts. A server whose configuration cannot work is kept; each call to it, and then its status, returns the reason.
// The slice may be changed after Set. After Close, Set does nothing.
func (g *Gateway) Set(servers []upstream.Server) {
	g.setting.Lock()
	defer g.setting.Unlock()
	want := make(map[string]upstream.Server, len(servers))
	for _, s := range servers {
		if s.Disabled {
			delete(want, s.Name)
			continue
		}
		want[s.Name] = s
	}
	stopAll(g.replaceUpstreams(want), g.opts.stopGrace)
}

// replaceUpstreams makes want the served ones and returns those to stop, which get no new calls any more.
func (g *Gateway) replaceUpstreams(want map[string]upstream.Server) (old []*Upstream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	for name, u := range g.upstreams {
		if cfg, ok := want[name]; !ok || !reflect.DeepEqual(cfg, u.cfg) {
			old = append(append(old, u), g.takeUserUpstreams(name)...)
			delete(g.upstreams, name)
		}
	}
	for name, cfg := range want {
		if g.upstreams[name] == nil {
			g.upstreams[name] = newUpstream(copyServer(cfg), g.operatorOptions(cfg), &g.running)
		}
	}
	return old
}

// stopAll stops servers at the same time, so that it takes as long as the slowest, and waits for all of them.
func stopAll(list []*Upstream, grace time.Duration) {
	var wg sync.WaitGroup
	for _, u := range list {
		wg.Go(func() { u.stopProcess(grace) })
	}
	wg.Wait()
}

// copyServer copies what the caller may go on to change.
func copyServer(s upstream.Server) upstream.Server {
	s.Args, s.Env, s.Headers = slices.Clone(s.Args), maps.Clone(s.Env), maps.Clone(s.Headers)
	s.Auth, s.Tags, s.Paths = maps.Clone(s.Auth), slices.Clone(s.Tags), slices.Clone(s.Paths)
	return s
}

// Upstream returns the server of this name.
func (g *Gateway) Upstream(name string) (*Upstream, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	u, ok := g.upstreams[name]
	return u, ok
}

// Call runs a tool on its server, which it starts if need be. When ctx ends, Call cancels the request on the server and
// returns a Timeout error that wraps ctx.Err().
//
// Arguments and _meta go upstream as they are, except for white space between tokens, the client's progress token,
// which is replaced, and the members of _meta that describe the client's own connection. The result holds the server's
// bytes, except for _meta["io.modelcontextprotocol/serverInfo"].
//
// Progress has been called for the last time when Call returns, so it must not block for long. If it is slower than the
// server by more than 256 notifications, the newest replaces the one before.
//
// A request that the server cannot have begun to work on, because it had ended or no longer knows the session, is sent
// once more after a restart; any other is sent once. Errors are *tool.Error: NotFound for an unknown server or tool,
// Invalid for arguments that are no object, that the server refuses, and for results larger than 16 MiB; Denied if the
// server requires authorization; Timeout; Unavailable if the server cannot be started, ended during the call, or is
// busy. A JSON-RPC error of the server is in the chain as *jsonrpc.Error.
func (g *Gateway) Call(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
	if err := checkCall(c); err != nil {
		return nil, err
	}
	u, ok := g.Upstream(c.ID.Server())
	if !ok {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "call", Msg: fmt.Sprintf("there is no server %q", truncateText(c.ID.Server(), 80)),
			Hint: "search for the tool again; its server may have been removed or disabled",
		}
	}
	res, err := g.callFor(ctx, u, c)
	if err != nil && g.askToLogin(ctx, u, c.Client, err) {
		return g.callFor(ctx, u, c)
	}
	return res, err
}

// callFor is Call for a server, on the connection of who calls.
func (g *Gateway) callFor(ctx context.Context, u *Upstream, c tool.Call) (*tool.CallResult, error) {
	own, err := g.upstreamFor(ctx, u)
	if err != nil {
		return nil, err
	}
	return own.callTool(ctx, c)
}

// Wake starts the servers that are configured to be started eagerly, and from then on starts them again when they end,
// with growing pauses while they fail. It does not wait for them. Call it again after Set.
func (g *Gateway) Wake() {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, u := range g.upstreams {
		if u.cfg.Eager {
			u.keepRunning()
		}
	}
}

// MessageMemory returns how many bytes of servers' messages are in memory, of those that Options.MessageMemory bounds,
// and how often one found no room.
func (g *Gateway) MessageMemory() (held, refused int64) {
	_, held = g.opts.Messages.Waiting()
	return held, g.opts.Messages.Refused()
}

// Status returns the state of every server, sorted by name. The slice belongs to the caller.
func (g *Gateway) Status() []upstream.Status {
	g.mu.RLock()
	list := slices.Collect(maps.Values(g.upstreams))
	g.mu.RUnlock()
	out := make([]upstream.Status, len(list))
	for i, u := range list {
		out[i] = u.currentStatus()
	}
	slices.SortFunc(out, func(a, b upstream.Status) int { return strings.Compare(a.Server, b.Server) })
	return out
}

// Close stops all servers, ends their processes, and returns when nothing of them runs any more. Calls under way fail
// as Unavailable. It always returns nil, and may be called again.
func (g *Gateway) Close() error {
	g.setting.Lock()
	defer g.setting.Unlock()
	old := g.replaceUpstreams(nil)
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	stopAll(old, g.opts.CloseGrace)
	g.running.Wait()
	return nil
}
