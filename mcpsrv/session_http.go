package mcpsrv

import (
	"net/http"
	"sync"
	"time"

	"tooldex/access"
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
