package mcpsrv

import (
	"iter"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/tool"
)

// session is the state of one connection: of a session over HTTP, or of a client on standard input. A stateless request
// has one only if it subscribes to something. It is dropped when the connection ends.
type session struct {
	conn  *mcp.ServerSession
	id    string // of a session over HTTP; "" otherwise
	owner string // Key of the principal that began it; "" if it came without a token
	who   string // its name, for people
	begun time.Time

	// Guarded by the registry's mu.
	watched    bool                   // a goroutine waits for the connection to end
	open       int                    // requests and streams over HTTP that are being answered
	lastUsed   time.Time              // when the last of them began or ended
	subscribed map[resourceKey]string // resources of upstreams, with the URIs under which the client asked

	// mu guards the fields below. It is never held together with the registry's mu.
	mu          sync.Mutex
	enabled     recentTools // what searches made visible, in dynamic mode
	enabledUsed time.Time   // when a tool in enabled was last found or called
	expiry      *time.Timer // empties enabled; nil if it is empty
	full        recentTools // what is listed in full, in lazy mode
	readsOn     bool        // it had a result that was cut, so read_result is listed
	announced   string      // fingerprint of enabled and full as the client last saw them listed; "" if it never did
	// mistaken is the tool of the last call whose arguments did not fit, and mistakes how many in a row were of it.
	mistaken tool.ID
	mistakes int
}

// sessionRegistry keeps all sessions, and waits for the goroutines that belong to them. mu guards the maps and closed.
// It is safe for concurrent use.
type sessionRegistry struct {
	onEnd func(lost []resourceKey) // called when a session ends with the resources to which no other subscribes
	tasks sync.WaitGroup           // one for each session, and those of start

	mu     sync.Mutex
	byConn map[*mcp.ServerSession]*session
	byID   map[string]*session // those over HTTP
	closed bool

	live    func() iter.Seq[*mcp.ServerSession] // the connections that have not ended
	sweepAt int                                 // sessions from which on ended ones are dropped
}

const (
	minSweep  = 256         // sessions that are kept without a look at which have ended
	beginTime = time.Minute // more than a session takes to begin
)

// newSessionRegistry returns an empty registry. onEnd is called without locks held.
func newSessionRegistry(onEnd func([]resourceKey), live func() iter.Seq[*mcp.ServerSession]) *sessionRegistry {
	return &sessionRegistry{
		onEnd: onEnd, byConn: map[*mcp.ServerSession]*session{}, byID: map[string]*session{}, live: live, sweepAt: minSweep,
	}
}

// findSession returns the session of a connection, or nil if it has no state.
func (r *sessionRegistry) findSession(conn *mcp.ServerSession) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byConn[conn]
}

// beginSession registers a connection that begins, and the principal that began it. It costs no goroutine: most sessions are opened
// and never keep anything. Those that ended are dropped when many have gathered.
func (r *sessionRegistry) beginSession(conn *mcp.ServerSession, by access.Principal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.byConn[conn] != nil {
		return
	}
	r.addLocked(conn, by.Key).who = by.Name
	if len(r.byConn) >= r.sweepAt {
		r.dropEndedLocked()
		r.sweepAt = max(minSweep, 2*len(r.byConn))
	}
}

// registerSession returns the session of a connection to keep something in it, and begins it if there is none. The
// registry then waits for the connection to end. After close it returns one that is not kept.
func (r *sessionRegistry) registerSession(conn *mcp.ServerSession) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.registerLocked(conn)
}

// registerLocked is registerSession with mu held. After closeAll it returns a session that nobody else sees, so that
// late requests need no special case.
func (r *sessionRegistry) registerLocked(conn *mcp.ServerSession) *session {
	one, ok := r.byConn[conn]
	if !ok {
		if r.closed {
			return &session{conn: conn, id: conn.ID(), lastUsed: time.Now()}
		}
		one = r.addLocked(conn, "")
	}
	if !one.watched && !r.closed {
		one.watched = true
		r.tasks.Go(func() {
			_ = conn.Wait() // however it ended
			r.removeSession(one)
		})
	}
	return one
}

// addLocked adds the session of a connection. Mu is held. Only connections over HTTP have an ID.
func (r *sessionRegistry) addLocked(conn *mcp.ServerSession, owner string) *session {
	one := &session{conn: conn, id: conn.ID(), owner: owner, begun: time.Now(), lastUsed: time.Now()}
	r.byConn[conn] = one
	if one.id != "" {
		one.open = 1 // the request that began it
		r.byID[one.id] = one
	}
	return one
}

// liveLocked returns the connections that have not ended.
func (r *sessionRegistry) liveLocked() map[*mcp.ServerSession]bool {
	out := map[*mcp.ServerSession]bool{}
	for conn := range r.live() {
		out[conn] = true
	}
	return out
}

// dropIfEnded drops a session over HTTP whose connection has ended and that nobody waits for.
func (r *sessionRegistry) dropIfEnded(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.byID[id]; one != nil && !one.watched && !r.liveLocked()[one.conn] {
		delete(r.byConn, one.conn)
		delete(r.byID, id)
	}
}

// dropEndedLocked drops the sessions whose connection has ended and that nobody waits for.
func (r *sessionRegistry) dropEndedLocked() {
	live := r.liveLocked()
	for conn, one := range r.byConn {
		// The SDK may not count a session yet that has only begun.
		if !one.watched && !live[conn] && time.Since(one.lastUsed) > beginTime {
			delete(r.byConn, conn)
			delete(r.byID, one.id)
		}
	}
}

// removeSession drops a session whose connection has ended.
func (r *sessionRegistry) removeSession(one *session) {
	r.mu.Lock()
	delete(r.byConn, one.conn)
	delete(r.byID, one.id)
	var lost []resourceKey
	// The session is out of byConn here, so urisLocked returns the subscriptions of the others.
	for key := range one.subscribed {
		if len(r.urisLocked(key)) == 0 {
			lost = append(lost, key)
		}
	}
	r.mu.Unlock()
	one.mu.Lock()
	if one.expiry != nil {
		one.expiry.Stop()
	}
	one.mu.Unlock()
	if len(lost) > 0 {
		r.onEnd(lost)
	}
}

// closeAll returns once all connections have ended and all tasks have returned. Nothing new is kept or started.
func (r *sessionRegistry) closeAll() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.tasks.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.byConn) // those without a waiter have ended, too
	clear(r.byID)
}

// startTask runs a task that closeAll waits for. After closeAll it does nothing.
func (r *sessionRegistry) startTask(task func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.tasks.Go(task)
	}
}

// allSessions returns all sessions, in no order.
func (r *sessionRegistry) allSessions() []*session {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*session, 0, len(r.byConn))
	for _, one := range r.byConn {
		out = append(out, one)
	}
	return out
}

// ownerOf returns the owner of a session over HTTP: "" for one that began without a token, and for one that does not
// exist.
func (r *sessionRegistry) ownerOf(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.byID[id]; one != nil {
		return one.owner
	}
	return ""
}

// countRequests notes that requests of a session over HTTP have begun (1) or ended (-1).
func (r *sessionRegistry) countRequests(id string, change int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.byID[id]; one != nil {
		one.open += change
		one.lastUsed = time.Now()
	}
}

// removeIdle drops the session over HTTP that has no open request and was used least recently, and returns its
// connection for the caller to close; nil if all are in use.
func (r *sessionRegistry) removeIdle() *mcp.ServerSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.oldestIdleLocked()
	if oldest == nil {
		return nil
	}
	delete(r.byID, oldest.id) // so that it is not picked again while it closes
	if !oldest.watched {
		delete(r.byConn, oldest.conn)
	}
	return oldest.conn
}

// oldestIdle returns when the session that removeIdle would drop was last used, and whether there is one.
func (r *sessionRegistry) oldestIdle() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.oldestIdleLocked()
	if oldest == nil {
		return time.Time{}, false
	}
	return oldest.lastUsed, true
}

// oldestIdleLocked returns the session over HTTP that has no open request and was used least recently; nil if all are
// in use.
func (r *sessionRegistry) oldestIdleLocked() *session {
	live := r.liveLocked()
	var oldest *session
	for _, one := range r.byID {
		if one.open <= 0 && live[one.conn] && (oldest == nil || one.lastUsed.Before(oldest.lastUsed)) {
			oldest = one
		}
	}
	return oldest
}

// addSubscription registers a client's subscription to a resource, which the client calls by uri.
func (r *sessionRegistry) addSubscription(conn *mcp.ServerSession, key resourceKey, uri string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.registerLocked(conn)
	if one.subscribed == nil {
		one.subscribed = map[resourceKey]string{}
	}
	one.subscribed[key] = uri
}

// dropSubscription drops a subscription, and reports whether it was the last to that resource.
func (r *sessionRegistry) dropSubscription(conn *mcp.ServerSession, key resourceKey) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.byConn[conn]
	if one == nil {
		return false
	}
	_, had := one.subscribed[key]
	delete(one.subscribed, key)
	return had && len(r.urisLocked(key)) == 0
}

// urisOf returns the URIs under which clients subscribed to a resource, each once.
func (r *sessionRegistry) urisOf(key resourceKey) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.urisLocked(key)
}

// urisLocked is urisOf for callers that hold mu.
func (r *sessionRegistry) urisLocked(key resourceKey) []string {
	seen := map[string]bool{}
	var uris []string
	for _, one := range r.byConn {
		if uri, ok := one.subscribed[key]; ok && !seen[uri] {
			seen[uri] = true
			uris = append(uris, uri)
		}
	}
	return uris
}
