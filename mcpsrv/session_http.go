package mcpsrv

import (
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionHeader names the session of a request over HTTP.
const sessionHeader = "Mcp-Session-Id"

// seats bounds the sessions over HTTP, which cost memory until they end: many clients never end theirs. In the place of
// the one that was used longest ago a new one begins. The zero value is ready.
type seats struct {
	mu  sync.Mutex
	all map[string]*seat // by the session's ID; some of sessions that have ended
}

// seat says how a session is used.
type seat struct {
	open int // requests and streams
	used time.Time
}

// take notes that a request of a session begins.
func (l *seats) take(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]*seat{}
	}
	one := l.all[id]
	if one == nil {
		one = &seat{}
		l.all[id] = one
	}
	one.open++
	one.used = time.Now()
}

// leave notes that it has ended.
func (l *seats) leave(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.all[id]; one != nil {
		one.open--
		one.used = time.Now()
	}
}

// oldest returns which of these sessions has no open request and was used longest ago, nil if all are in use. It
// forgets all others.
func (l *seats) oldest(sessions []*mcp.ServerSession) *mcp.ServerSession {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := make(map[string]*seat, len(sessions))
	var oldest *mcp.ServerSession
	var since time.Time
	for _, s := range sessions {
		one := l.all[s.ID()]
		if one == nil {
			continue // it has only begun, or is none of HTTP
		}
		kept[s.ID()] = one
		if one.open == 0 && (oldest == nil || one.used.Before(since)) {
			oldest, since = s, one.used
		}
	}
	l.all = kept
	return oldest
}

// seat makes room for one session more. It reports false if all there may be are in use.
func (s *Server) seat() bool {
	var sessions []*mcp.ServerSession
	for one := range s.mcp.Sessions() {
		sessions = append(sessions, one)
	}
	if len(sessions) < s.o.MaxSessions {
		return true
	}
	oldest := s.seats.oldest(sessions)
	if oldest == nil {
		return false
	}
	_ = oldest.Close() // its client begins another when it hears that this one is gone
	return true
}

// serveSession hands a request of the protocol with sessions on to the SDK.
func (s *Server) serveSession(w http.ResponseWriter, r *http.Request, next http.Handler) {
	id := r.Header.Get(sessionHeader)
	if id != "" {
		s.seats.take(id)
		defer s.seats.leave(id)
	} else if r.Method == http.MethodPost {
		if s.stopping.Load() || !s.seat() {
			unavailable(w, "no session can begin now")
			return
		}
	}
	next.ServeHTTP(w, r)
	if began := w.Header().Get(sessionHeader); id == "" && began != "" {
		s.seats.take(began)
		s.seats.leave(began)
	}
}

func unavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, why, http.StatusServiceUnavailable)
}
