package mcpsrv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/internal/limit"
)

// sseParam is the parameter of the address to which the client of a session posts its messages.
const sseParam = "sessionid"

// sseSessions holds the sessions over HTTP with server-sent events, by ID. The zero value is empty. It is safe for
// concurrent use.
type sseSessions struct {
	mu   sync.Mutex
	byID map[string]*sseSession
}

// sseSession is one stream, and where its messages go. It lives as long as its client keeps the stream open.
type sseSession struct {
	owner string // Key of the principal that began it; "" if it came without a token
	post  http.Handler
	used  func() // defers the end of an idle session
}

// add registers a session under a new ID, unless there are most of them.
func (x *sseSessions) add(one *sseSession, most int) (id string, ok bool) {
	id = rand.Text()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.byID) >= most {
		return "", false
	}
	if x.byID == nil {
		x.byID = map[string]*sseSession{}
	}
	x.byID[id] = one
	return id, true
}

// find returns the session of an ID that belongs to a principal, or nil.
func (x *sseSessions) find(id, owner string) *sseSession {
	x.mu.Lock()
	defer x.mu.Unlock()
	if one := x.byID[id]; one != nil && one.owner == owner {
		return one
	}
	return nil
}

// remove forgets a session.
func (x *sseSessions) remove(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.byID, id)
}

// SSEHandler serves the transport of the revision 2024-11-05, HTTP with server-sent events, for clients that know no
// other: GET opens a session and its stream, POST sends a message to it. Sessions count and end as those of Handler do,
// and belong to the principal that began them.
func (s *Server) SSEHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.stopping.Load() || s.closing.Err() != nil:
			refuseUnavailable(w, "the server is stopping")
		case !s.o.AnyHost && isRebound(r):
			http.Error(w, "this server does not answer to the name "+r.Host, http.StatusForbidden)
		case r.Method == http.MethodGet:
			s.openStream(w, r)
		case r.Method == http.MethodPost:
			s.postMessage(w, r)
		default:
			w.Header().Set("Allow", "GET, POST")
			http.Error(w, "this page does not support the method", http.StatusMethodNotAllowed)
		}
	})
}

// isRebound reports whether a request reached a loopback address under a name that is none of it, as a page does that
// makes its own name resolve to the address.
func isRebound(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || !local.IP.IsLoopback() {
		return false
	}
	host := (&url.URL{Host: r.Host}).Hostname()
	addr, err := netip.ParseAddr(host)
	return host != "localhost" && (err != nil || !addr.IsLoopback())
}

// openStream begins a session, and returns when it has ended: when the client or the server closes it, or when it was
// without a message for too long.
func (s *Server) openStream(w http.ResponseWriter, r *http.Request) {
	if !s.makeRoom() {
		refuseUnavailable(w, "no session can begin now")
		return
	}
	ctx, end := context.WithCancel(r.Context())
	defer end()
	defer context.AfterFunc(s.closing, end)()
	transport := &mcp.SSEServerTransport{Response: w}
	idle := time.AfterFunc(s.o.limits.sessionIdle, end)
	defer idle.Stop()
	one := &sseSession{
		owner: access.PrincipalOf(r.Context()).Key, post: transport,
		used: func() { idle.Reset(s.o.limits.sessionIdle) },
	}
	// makeRoom counts sessions that the SDK knows, which it does only after the client has its stream.
	id, ok := s.sse.add(one, s.o.MaxSessions)
	if !ok {
		refuseUnavailable(w, "no session can begin now")
		return
	}
	defer s.sse.remove(id)
	transport.Endpoint = r.URL.EscapedPath() + "?" + sseParam + "=" + id
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	session, err := s.mcp.Connect(context.WithValue(ctx, runKey{}, ctx), sseTransport{
		listParamTransport{drainingTransport{transport, s.o.DrainTime, &s.answers}},
		transport, one.used,
		limit.ShareOf(r.Context()), func() {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // the end would wait for what is being written
			end()
		},
	}, nil)
	if err != nil {
		http.Error(w, "the session cannot begin", http.StatusInternalServerError)
		return
	}
	defer context.AfterFunc(ctx, func() { _ = session.Close() })()
	_ = session.Wait() // however it ended
}

// postMessage passes a message on to its session. The answer goes to the stream.
func (s *Server) postMessage(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	one := s.sse.find(r.URL.Query().Get(sseParam), access.PrincipalOf(r.Context()).Key)
	if one == nil {
		http.Error(w, "there is no such session", http.StatusNotFound)
		return
	}
	if _, ok := s.readMessage(w, r); ok {
		one.used()
		one.post.ServeHTTP(w, r)
	}
}

// sseTransport is a transport that serves only the revisions which have it, notes when it is used, and ends the session
// of a client that leaves too much unread.
type sseTransport struct {
	mcp.Transport
	versions mcp.ProtocolVersionSupporter
	used     func()
	share    limit.Share
	end      func()
}

// SupportsProtocolVersion implements mcp.ProtocolVersionSupporter.
func (t sseTransport) SupportsProtocolVersion(version string) bool {
	return t.versions.SupportsProtocolVersion(version)
}

// Connect implements mcp.Transport.
func (t sseTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &sseConn{Connection: conn, of: t}, nil
}

// sseConn is a connection of an sseTransport. All answers of a session take one stream, and wait for each other there.
type sseConn struct {
	mcp.Connection
	of      sseTransport
	writing atomic.Int64 // messages that are being written, or wait for that
}

// Write implements mcp.Connection. It counts what waits behind another message; who serves the stream counts what is
// being written.
func (c *sseConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	c.of.used()
	defer c.writing.Add(-1)
	if c.writing.Add(1) == 1 {
		return c.Connection.Write(ctx, msg)
	}
	n := messageSize(msg)
	if !c.of.share.Begin(n) {
		c.of.end()
		return fmt.Errorf("write to stream: %w", errUnread)
	}
	defer c.of.share.End(n)
	return c.Connection.Write(ctx, msg)
}

// errUnread ends the session of a client that leaves too much unread.
var errUnread = errors.New("too many bytes wait to be read")

// messageSize returns about how many bytes a message takes in memory.
func messageSize(msg jsonrpc.Message) int64 {
	const each = 1 << 10 // of a goroutine that waits
	switch m := msg.(type) {
	case *jsonrpc.Response:
		return each + int64(len(m.Result))
	case *jsonrpc.Request:
		return each + int64(len(m.Params))
	}
	return each
}
