package mcpsrv

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/tool"
	"tooldex/validate"
)

// Options configures a Server. Searcher, Caller and Catalog are required; the zero value of the rest works. The Caller
// checks the arguments of calls, as validate.NewCaller does: the Server itself puts right what models often misspell,
// and shows the schema to those whose arguments are refused.
type Options struct {
	Searcher tool.Searcher
	Caller   tool.Caller
	Catalog  tool.Catalog
	// Upstreams are passed on what clients ask for beside tools; nil means that there is nothing but tools.
	Upstreams Upstreams
	Related   Related // names tools near one that declares none; nil names none
	// Schemas are the compiled input schemas. Give those of the Caller's validate.NewCaller, so that each is compiled
	// once; nil means that the Server keeps its own.
	Schemas *validate.Schemas
	Learner Learner // is told of searches and calls; nil: nobody is
	Auditor Auditor // is told of calls that never come to Caller; nil: nobody is
	// Confirms tells of which tools calls have to be confirmed by a person, so that models know; the Caller sees to it.
	// Nil: of none.
	Confirms func(*tool.Tool) bool
	// Enricher takes requests that clients' models write for tools that are hard to find; nil: there is no prompt that
	// asks for them.
	Enricher Enricher
	Profile  string // whose tools these are, for what is learned from use; "" is the common one
	Version  string // of this program, told to clients; "" means "dev"
	Mode     Mode
	// Threshold is the largest catalogue, in tokens of its plain listing, that Auto lists in full; zero means
	// DefaultThreshold, and less than zero that none is.
	Threshold int
	// Followers names further clients, as they name themselves in initialize, that list again when told that the list
	// changed. Auto serves them in Dynamic.
	Followers []string
	// Always names tools that every client is shown, as [tool.Set.Resolve] takes them, beside those with Always set.
	// The log tells once of a name that names none.
	Always []string
	// Summary replaces the summary of the catalogue in the description of search_tools.
	Summary string
	// MaxSessions bounds the HTTP sessions. Beyond it a new one begins in the place of the one that was used longest
	// ago; if all are in use, it is refused. Zero or less means DefaultSessions.
	MaxSessions int
	// DrainTime is how long a Run whose input has ended waits for answers that are still being worked on; zero means not
	// at all.
	DrainTime time.Duration
	// AnyHost leaves out the check that a request arriving on a loopback address names a loopback host, for a caller
	// that checks hosts itself.
	AnyHost bool
	Logger  *slog.Logger // nil means no log

	limits limits // bounds that tests lower
}

// limits are bounds that docs/reference/limits.md lists. The zero value of each means its default.
type limits struct {
	enabled     int           // tools that one session has enabled in Dynamic
	requests    int           // of all clients that are worked on at once; beyond it a call is answered that the server is busy
	sessionIdle time.Duration // after which a session over HTTP without a request ends
}

// DefaultSessions is how many HTTP sessions there may be, unless Options say otherwise.
const DefaultSessions = 2000

func (o Options) withDefaults() Options {
	o.Version = cmp.Or(o.Version, "dev")
	o.Mode = cmp.Or(o.Mode, Search)
	o.Threshold = cmp.Or(o.Threshold, DefaultThreshold)
	o.limits.enabled = cmp.Or(o.limits.enabled, 40)
	o.limits.requests = cmp.Or(o.limits.requests, 1024)
	o.limits.sessionIdle = cmp.Or(o.limits.sessionIdle, 30*time.Minute)
	if o.MaxSessions <= 0 {
		o.MaxSessions = DefaultSessions
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Schemas == nil {
		o.Schemas = validate.NewSchemas(o.Logger)
	}
	return o
}

// Auditor keeps account of calls.
type Auditor interface {
	// Refused is told of a call that the Server refuses by itself: of a name that is no tool for who asks, in which
	// case c has no ID, of a tool that is disabled, or with arguments that are no object.
	Refused(ctx context.Context, name string, c tool.Call, err error)
}

// Related finds the tools that are nearest to one in meaning, nearest first.
type Related interface {
	Related(ctx context.Context, id tool.ID, n int) ([]tool.ID, error)
}

// Server is an MCP server over a catalogue. It is safe for concurrent use. Close ends it.
type Server struct {
	o        Options
	run      string // tells the connections of this run from those of others
	mcp      *mcp.Server
	send     mcp.MethodHandler // sends to one client what the SDK sends to all
	live     atomic.Pointer[liveOptions]
	meta     []metaTool
	outputs  *validate.Schemas // of structured results
	listings listings
	sessions *sessionRegistry

	pending  pendingCalls
	logLevel atomic.Pointer[mcp.LoggingLevel] // the most verbose that a client asked for

	work     inFlight    // requests that are worked on
	answers  inFlight    // requests that are not answered yet, with those that take no work
	stopping atomic.Bool // Shutdown or Close has begun

	closing context.Context // ends when Close begins
	close   context.CancelFunc
	cutting context.Context // ends when requests are cut off, at the latest with closing
	cut     context.CancelCauseFunc

	mu          sync.Mutex
	announced   string                     // fingerprint of the listing that clients were last told of
	choices     map[string]bool            // of Auto, that the log has
	headerTools map[string]json.RawMessage // schemas of the tools of checkHeaders, by name
}

// New returns a ready Server. It starts nothing; it asks the catalogue for its set, to know later what has changed.
func New(o Options) *Server {
	s := &Server{
		o: o.withDefaults(), run: rand.Text(), choices: map[string]bool{},
		headerTools: map[string]json.RawMessage{},
	}
	s.live.Store(liveOptionsOf(s.o))
	s.sessions = newSessionRegistry(s.endSubscriptions)
	s.closing, s.close = context.WithCancel(context.Background())
	s.cutting, s.cut = context.WithCancelCause(s.closing)
	s.meta = metaTools()
	s.outputs = validate.NewSchemas(s.o.Logger)
	options := &mcp.ServerOptions{
		Logger:       slog.New(warnHandler{s.o.Logger.Handler()}),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = listTTL, listScope
		},
	}
	if s.o.Upstreams != nil {
		announceFeatures(options.Capabilities)
		options.SubscribeHandler, options.UnsubscribeHandler = s.subscribe, s.unsubscribe
		options.RootsListChangedHandler = s.rootsChanged
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "tooldex", Title: "tooldex", Version: s.o.Version}, options)
	s.mcp.AddReceivingMiddleware(s.interceptRequest)
	s.mcp.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		s.send = next
		return next
	})
	s.addPrompt()
	if err := s.addMethods(); err != nil {
		s.o.Logger.Error("methods of the server's own are not served", "err", err)
	}
	set := s.currentSet()
	s.syncHeaderTools(set)
	s.announced = s.fingerprint(set)
	return s
}

// fingerprint tells apart what clients would be listed, but for what each has of its own. Those in lazy mode may have
// asked for all of it.
func (s *Server) fingerprint(set *tool.Set) string {
	mode := s.live.Load().catalogueMode(set)
	if mode == Lazy {
		mode = eager
	}
	return s.toolListing(set, mode).fingerprint
}

// interceptRequest answers tools/list and tools/call in place of the SDK, which would refuse schemas that real servers use,
// know only registered tools, and decode results.
func (s *Server) interceptRequest(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		leave, err := s.admitRequest(method)
		if err != nil {
			return s.refuseRequest(ctx, req, err)
		}
		defer leave()
		switch r := req.(type) {
		case *mcp.ServerRequest[*mcp.ListToolsParams]:
			return s.listTools(r)
		case *mcp.ServerRequest[*mcp.CallToolParamsRaw]:
			ctx, cancel := s.servingContext(ctx)
			defer cancel()
			return s.callTool(ctx, r)
		}
		if res, err, ok := s.forwardFeature(ctx, next, method, req); ok {
			return res, err
		}
		if conn, ok := req.GetSession().(*mcp.ServerSession); ok && method == "initialize" {
			s.sessions.register(conn, access.PrincipalOf(ctx).Key) // before its ID is known to anybody
		}
		res, err := next(ctx, method, req)
		s.addInstructions(req, res)
		return res, err
	}
}

// refuseRequest answers a request that is not worked on.
func (s *Server) refuseRequest(ctx context.Context, req mcp.Request, err error) (mcp.Result, error) {
	if _, ok := req.(*mcp.ServerRequest[*mcp.CallToolParamsRaw]); ok {
		return s.toolError(err), nil
	}
	return nil, s.requestError(ctx, err)
}

// currentSet returns the tools of this moment.
func (s *Server) currentSet() *tool.Set {
	if set := s.o.Catalog.Set(); set != nil {
		return set
	}
	return tool.NewSet(nil, "")
}

// CatalogChanged tells connected clients to list again, if what tools/list answers them has changed since they were
// last told. Call it after every change of the catalogue. It does not block.
func (s *Server) CatalogChanged() {
	set := s.currentSet()
	s.syncHeaderTools(set)
	now := s.fingerprint(set)
	s.mu.Lock()
	same := s.announced == now
	s.announced = now
	s.mu.Unlock()
	if same {
		s.announceOwnTools(set)
		return
	}
	// The SDK announces a change only when one of its own features changes. This one is never listed or called:
	// intercept answers before the SDK looks at it.
	s.mcp.AddTool(&mcp.Tool{Name: "catalogue", InputSchema: objectSchema}, nil)
}

// Close ends calls in flight and all sessions, and refuses new ones. It returns when they have ended, is idempotent,
// and always returns nil.
func (s *Server) Close() error {
	s.stopping.Store(true)
	s.close()
	s.closeSessions()
	s.sessions.close()
	return nil
}

func (s *Server) closeSessions() {
	var all sync.WaitGroup
	for session := range s.mcp.Sessions() {
		all.Go(func() { _ = session.Close() }) // its error is that of a connection that is going anyway
	}
	all.Wait()
}

// warnHandler drops the SDK's account of every session and request, and keeps what went wrong.
type warnHandler struct{ slog.Handler }

func (w warnHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnHandler{w.Handler.WithAttrs(attrs)}
}

func (w warnHandler) WithGroup(name string) slog.Handler {
	return warnHandler{w.Handler.WithGroup(name)}
}
