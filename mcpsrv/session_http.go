package mcpsrv

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"tooldex/access"
	"tooldex/internal/sanitize"
)

// sessionHeader names the session of a request over HTTP.
const sessionHeader = "Mcp-Session-Id"

// absentID is a session ID that no session has.
const absentID = "-"

// hideForeignSession replaces the session ID of a request if the session belongs to another principal. The answer is
// then the same as for a session that does not exist.
func (s *Server) hideForeignSession(r *http.Request) {
	if id := r.Header.Get(sessionHeader); id != "" && s.sessions.ownerOf(id) != access.PrincipalOf(r.Context()).Key {
		r.Header.Set(sessionHeader, absentID)
	}
}

// makeRoom closes the least recently used session if MaxSessions are open. It returns false if all are in use. Many
// clients never end their sessions, which use memory until then.
func (s *Server) makeRoom() bool {
	if s.o.MakeRoom != nil {
		return s.o.MakeRoom()
	}
	return s.Sessions() < s.o.MaxSessions || s.CloseOldestIdle()
}

// OldestIdle returns when the HTTP session without open requests that was used least recently was last used. It returns
// false if there is none.
func (s *Server) OldestIdle() (time.Time, bool) { return s.sessions.oldestIdle() }

// CloseOldestIdle closes the session that OldestIdle is about, whose client begins another when it is told that this
// one is gone. It returns false if there is none.
func (s *Server) CloseOldestIdle() bool {
	idle := s.sessions.removeIdle()
	if idle == nil {
		return false
	}
	_ = idle.Close() // its error is that of a connection that ends anyway
	return true
}

// serveSession passes a request of the protocol with sessions to the SDK, and counts it for its session, so that
// makeRoom does not close a session in use. A new session begins only if there is room.
func (s *Server) serveSession(w http.ResponseWriter, r *http.Request, next http.Handler) {
	id := r.Header.Get(sessionHeader)
	if id != "" {
		s.sessions.countRequests(id, 1)
		defer s.sessions.countRequests(id, -1)
	} else if r.Method == http.MethodPost {
		if s.stopping.Load() || !s.makeRoom() {
			refuseUnavailable(w, "no session can begin now")
			return
		}
	}
	next.ServeHTTP(w, r)
	switch {
	case id == "":
		s.sessions.countRequests(w.Header().Get(sessionHeader), -1) // the one that begin counted
	case r.Method == http.MethodDelete:
		s.sessions.dropIfEnded(id)
	}
}

// refuseUnavailable answers 503, and allows another try after a second.
func refuseUnavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, why, http.StatusServiceUnavailable)
}

// EndSessions ends the sessions over HTTP that the principal with this Key began. It returns when they have ended.
func (s *Server) EndSessions(key string) {
	var all sync.WaitGroup
	for _, one := range s.sessions.allSessions() {
		if one.id != "" && one.owner == key {
			all.Go(func() { _ = one.conn.Close() }) // its error is that of a connection that ends anyway
		}
	}
	all.Wait()
}

// ConnectedClient describes a session for people.
type ConnectedClient struct {
	Name, Version string // as the client calls itself; "" if it does not say
	Who           string // whose token began the session; "" without a token
	Begun         time.Time
	LastUsed      time.Time // when its last request over HTTP began or ended; Begun for other transports
}

// Clients returns the open sessions, those that began first before the others. A stateless request has none.
func (s *Server) Clients() []ConnectedClient { return s.sessions.clients() }

// clients implements Server.Clients.
func (r *sessionRegistry) clients() []ConnectedClient {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []ConnectedClient
	for conn := range r.liveLocked() {
		one := r.byConn[conn]
		if one == nil {
			continue // a stateless request
		}
		c := ConnectedClient{Who: one.who, Begun: one.begun, LastUsed: one.lastUsed}
		if p := conn.InitializeParams(); p != nil && p.ClientInfo != nil {
			c.Name, c.Version = sanitize.Clip(p.ClientInfo.Name, maxClientName), sanitize.Clip(p.ClientInfo.Version, maxClientName)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b ConnectedClient) int { return a.Begun.Compare(b.Begun) })
	return out
}

// maxClientName bounds what clients say of themselves, in bytes.
const maxClientName = 100
