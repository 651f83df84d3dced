package mcpsrv

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/internal/limit"
	"tooldex/tool"
	"tooldex/validate"
)

// Options configures a Server. Searcher, Caller and Catalog are required; the zero value of the rest works. The Caller
// must check the arguments of calls, as validate.NewCaller does. The Server itself corrects what models often misspell,
// and adds the schema to the error if the arguments are refused.
type Options struct {
	Searcher tool.Searcher
	Caller   tool.Caller
	Catalog  tool.Catalog
	// Upstreams answers requests for what servers offer beside tools; nil means nothing but tools is offered.
	Upstreams Upstreams
	// Skills are served as resources, beside those of Upstreams, which must not be nil then; nil means that there are
	// none.
	Skills tool.Skills
	// Related finds the tools nearest to one whose author named no related tools; nil means that none are named.
	Related Related
	// Schemas are the compiled input schemas. Pass those of the Caller's validate.NewCaller, so that each is compiled
	// once; nil means that the Server keeps its own.
	Schemas *validate.Schemas
	// Learner learns from searches, calls and feedback; nil means that nothing is learned.
	Learner Learner
	// Auditor records the calls that never reach Caller; nil means that these are not recorded.
	Auditor Auditor
	// Confirms reports whether a person has to confirm calls of a tool, so that models can be informed; the Caller
	// enforces it. Nil means no tool needs it.
	Confirms func(*tool.Tool) bool
	// Enricher takes search phrases that clients' models write for tools that are hard to find; nil leaves out the
	// prompt that asks for them.
	Enricher Enricher
	// Scripts offers run_script, which runs programs that call tools.
	Scripts bool
	// Profile is whose tools these are, for what is learned from use; "" is the common one.
	Profile string
	// Version of this program, as initialize reports it; "" means "dev".
	Version string
	Mode    Mode
	// Threshold is the largest catalogue, in tokens of its plain listing, that Auto lists in full. Zero means
	// DefaultThreshold; a negative one means that none is.
	Threshold int
	// Followers names further clients, as they name themselves in initialize, that list again after a change of the
	// list. Auto serves them in Dynamic.
	Followers []string
	// Always names tools that every client is shown, as [tool.Set.Resolve] accepts them, beside those with Always set.
	// A name that resolves to nothing is logged once.
	Always []string
	// Summary replaces the summary of the catalogue in the description of search_tools.
	Summary string
	// MaxResult bounds the text of a tool's result, in tokens: of a larger one the model gets the beginning, and how to
	// read on. Zero or less means no bound.
	MaxResult int
	// AnswerWithin is when a call is answered with an error whose client did not ask for progress, since clients give
	// up after a minute or so. Zero means no bound.
	AnswerWithin time.Duration
	// MaxSessions bounds the HTTP sessions. Beyond it a new one replaces the least recently used; if all are in use, it
	// is refused. Zero or less means DefaultSessions.
	MaxSessions int
	// MakeRoom makes room for one more HTTP session among the Servers that share a bound, which then replaces
	// MaxSessions. It returns false if there is none. Nil means that this Server is bounded alone.
	MakeRoom func() bool
	// DrainTime is how long a Run whose input has ended waits for answers that are in progress; zero means not at all.
	DrainTime time.Duration
	// AnyHost leaves out the check that a request to a loopback address names a loopback host, for a caller that checks
	// hosts itself.
	AnyHost bool
	// Logger receives warnings and errors; nil means no log. Standard output belongs to the protocol, so it must not
	// write there.
	Logger *slog.Logger

	limits limits // bounds that tests lower
}

// limits are bounds that docs/reference/limits.md lists. The zero value of each means its default.
type limits struct {
	enabled     int           // tools that one session has enabled in Dynamic
	requests    int           // handled at once for all clients; beyond it the answer is that the server is busy
	sessionIdle time.Duration // after which a session over HTTP without a request ends
}

// DefaultSessions is the default of Options.MaxSessions.
const DefaultSessions = 2000

// withDefaults returns o with its defaults filled in.
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

// Auditor records calls.
type Auditor interface {
	// Refused records a call that the Server refuses by itself: of a name that is no tool for this client, in which
	// case c has no ID; of a disabled tool; or with arguments that are no object.
	Refused(ctx context.Context, name string, c tool.Call, err error)
}

// Related finds the tools that are nearest to one in meaning, nearest first.
type Related interface {
	Related(ctx context.Context, id tool.ID, n int) ([]tool.ID, error)
}

// Server is an MCP server over a catalogue. It is safe for concurrent use. Close or Shutdown ends it.
type Server struct {
	o        Options
	run      string // differs between runs of the program, for names of connections
	mcp      *mcp.Server
	send     mcp.MethodHandler // sends to one client what the SDK would send to all
	live     atomic.Pointer[liveOptions]
	meta     []metaTool        // our own tools; never changed
	outputs  *validate.Schemas // compiled output schemas
	listings listings
	sessions *sessionRegistry

	pending pendingCalls
	scripts chan struct{} // holds one value for each script that runs
	kept    keptResults   // those that were cut
	sse     sseSessions
	// logLevel is the most verbose level that a client asked for; nil if none did.
	logLevel atomic.Pointer[mcp.LoggingLevel]

	// work counts the requests that are being handled, up to limits.requests.
	work inFlight
	// answers counts the requests that are not answered yet, including those that need no work, such as notifications.
	answers  inFlight
	stopping atomic.Bool // Shutdown or Close has begun

	closing context.Context // ends when Close begins
	close   context.CancelFunc
	cutting context.Context // ends when requests are cut off, at the latest with closing
	cut     context.CancelCauseFunc

	mu sync.Mutex
	// announced is the fingerprint of the listing at the last announcement.
	announced string
	// choices holds what Auto chose for which client, as far as that was logged.
	choices map[string]bool
	// headerTools holds the schemas registered by syncHeaderTools, by name.
	headerTools map[string]json.RawMessage
}

// New returns a ready Server. It starts nothing. It reads the catalogue's set once, to detect later changes.
func New(o Options) *Server {
	s := &Server{
		o: o.withDefaults(), run: rand.Text(), choices: map[string]bool{},
		headerTools: map[string]json.RawMessage{}, scripts: make(chan struct{}, maxScripts),
	}
	s.live.Store(liveOptionsOf(s.o))
	s.sessions = newSessionRegistry(s.endSubscriptions, s.liveConnections)
	s.closing, s.close = context.WithCancel(context.Background())
	s.cutting, s.cut = context.WithCancelCause(s.closing)
	s.meta = metaTools()
	if s.o.Scripts {
		s.meta = append(s.meta, scriptTool())
	}
	s.outputs = validate.NewSchemas(s.o.Logger)
	options := &mcp.ServerOptions{
		Logger: slog.New(sdkLog{s.o.Logger.Handler()}),
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{ListChanged: true}, Experimental: listCapability(),
		},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = listTTL, listScope
		},
	}
	if s.o.Upstreams != nil {
		announceFeatures(options.Capabilities)
		if s.o.Skills != nil {
			options.Capabilities.AddExtension(skillsExtension, map[string]any{})
		}
		options.SubscribeHandler, options.UnsubscribeHandler = s.subscribeResource, s.unsubscribeResource
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
		s.o.Logger.Error("our own methods could not be registered", "err", err)
	}
	set := s.currentSet()
	s.syncHeaderTools(set)
	s.announced = s.sharedFingerprint(set)
	return s
}

// sharedFingerprint identifies the listing that all clients share, without the tools of single sessions. Clients in
// lazy mode may have asked for the full listing, so the full one counts there.
func (s *Server) sharedFingerprint(set *tool.Set) string {
	mode := s.live.Load().catalogueMode(set)
	if mode == Lazy {
		mode = eager
	}
	return s.toolListing(set, mode).fingerprint
}

// interceptRequest is the middleware through which every request passes. It answers tools/list and tools/call instead
// of the SDK, which would refuse schemas that real servers use, offers only registered tools, and decodes results. It
// forwards requests for upstreams' features, and passes the rest to next.
func (s *Server) interceptRequest(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		leave, err := s.admitRequest(method)
		if err != nil {
			return s.refuseRequest(ctx, req, err)
		}
		defer leave()
		ctx, end := limit.WithHold(withCurrentToken(ctx, req))
		defer end()
		switch r := req.(type) {
		case *mcp.ServerRequest[*mcp.ListToolsParams]:
			return s.listTools(ctx, r)
		case *mcp.ServerRequest[*mcp.CallToolParamsRaw]:
			ctx, cancel := s.servingContext(ctx)
			defer cancel()
			return s.callTool(ctx, r)
		}
		if res, err, ok := s.forwardFeature(ctx, next, method, req); ok {
			return res, err
		}
		if conn, ok := req.GetSession().(*mcp.ServerSession); ok && method == "initialize" {
			s.sessions.beginSession(conn, access.PrincipalOf(ctx)) // before its ID is known to anybody
		}
		res, err := next(ctx, method, req)
		s.addInstructions(req, res)
		return res, err
	}
}

// withCurrentToken returns ctx with the access token of the request itself. In a session ctx is that of the request
// which began it, whose token may have expired. All requests of a session come from one principal, so that the current
// token is of the same kind, and verified.
func withCurrentToken(ctx context.Context, req mcp.Request) context.Context {
	extra := req.GetExtra()
	if extra == nil || access.TokenOf(ctx) == "" {
		return ctx
	}
	if _, token, ok := strings.Cut(extra.Header.Get("Authorization"), " "); ok {
		return access.WithToken(ctx, strings.TrimSpace(token))
	}
	return ctx
}

// refuseRequest answers a request that was not admitted, with a tool error if it was a call.
func (s *Server) refuseRequest(ctx context.Context, req mcp.Request, err error) (mcp.Result, error) {
	if _, ok := req.(*mcp.ServerRequest[*mcp.CallToolParamsRaw]); ok {
		return s.toolError(err), nil
	}
	return nil, s.requestError(ctx, err)
}

// currentSet returns the tools of this moment. It is never nil.
func (s *Server) currentSet() *tool.Set {
	if set := s.o.Catalog.Set(); set != nil {
		return set
	}
	return tool.NewSet(nil, "")
}

// CatalogChanged notifies connected clients if their listing has changed since the last notification. Call it after
// every change of the catalogue. It does not block.
func (s *Server) CatalogChanged() {
	set := s.currentSet()
	s.syncHeaderTools(set)
	now := s.sharedFingerprint(set)
	s.mu.Lock()
	same := s.announced == now
	s.announced = now
	s.mu.Unlock()
	if same {
		s.announceOwnTools(set)
		return
	}
	// The SDK announces a change only when one of its own features changes. This tool is never listed or called:
	// interceptRequest answers first.
	s.mcp.AddTool(&mcp.Tool{Name: "catalogue", InputSchema: objectSchema}, nil)
}

// Close ends calls in flight and all sessions, and refuses new ones. It returns when they have ended, is idempotent,
// and always returns nil.
func (s *Server) Close() error {
	s.stopping.Store(true)
	s.close()
	s.closeSessions()
	s.sessions.closeAll()
	return nil
}

// closeSessions closes all connections at once, and returns when they have ended.
func (s *Server) closeSessions() {
	var all sync.WaitGroup
	for session := range s.mcp.Sessions() {
		all.Go(func() { _ = session.Close() }) // its error is that of a connection that ends anyway
	}
	all.Wait()
}
