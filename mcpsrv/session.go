package mcpsrv

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// The bounds of what a session may have enabled in dynamic mode.
const (
	maxFound        = 20 // tools that one search enables
	enabledIdle     = 5 * time.Minute
	announceTimeout = 10 * time.Second
)

// session is what the server remembers of one client's session. There is one only for sessions that gave a reason, and
// none for stateless requests. It goes when the session ends.
type session struct {
	mu      sync.Mutex
	enabled recentTools // what searches made visible, in dynamic mode
	used    time.Time   // when enabled was last of use
	expiry  *time.Timer // empties enabled; nil if there is nothing in it
	whole   recentTools // what is listed in full, in lazy mode
	told    string      // fingerprint of enabled and whole as the client last saw them listed; "" if never
	// mistaken is the tool of the last call that did not fit, and mistakes how many in a row were of it.
	mistaken tool.ID
	mistakes int
}

// sessions holds them by the connection's. The zero value is ready.
type sessions struct {
	mu     sync.Mutex
	all    map[*mcp.ServerSession]*session
	tasks  sync.WaitGroup // one for each connection in all, and what begin began
	closed bool
}

// known returns what is remembered of a session, or nil if that is nothing.
func (l *sessions) known(of *mcp.ServerSession) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[of]
}

// of returns what is remembered of a session, beginning now if that is nothing.
func (l *sessions) of(conn *mcp.ServerSession) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, ok := l.all[conn]; ok {
		return one
	}
	one := &session{}
	if l.closed {
		return one
	}
	if l.all == nil {
		l.all = make(map[*mcp.ServerSession]*session)
	}
	l.all[conn] = one
	l.tasks.Go(func() {
		_ = conn.Wait() // however it ended
		l.mu.Lock()
		delete(l.all, conn)
		l.mu.Unlock()
		one.mu.Lock()
		if one.expiry != nil {
			one.expiry.Stop()
		}
		one.mu.Unlock()
	})
	return one
}

// close forgets what there is once all connections have ended, and remembers nothing new.
func (l *sessions) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.tasks.Wait()
}

// begin runs a task that close waits for.
func (l *sessions) begin(task func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.tasks.Go(task)
	}
}

// snapshot returns all that is remembered.
func (l *sessions) snapshot() map[*mcp.ServerSession]*session {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[*mcp.ServerSession]*session, len(l.all))
	for conn, one := range l.all {
		out[conn] = one
	}
	return out
}

// enableTools makes tools visible to one client and tells it, before it gets the answer to its request.
func (s *Server) enableTools(ctx context.Context, conn *mcp.ServerSession, ids []tool.ID) {
	if len(ids) == 0 {
		return
	}
	one := s.sessions.of(conn)
	one.mu.Lock()
	changed := one.enabled.add(ids, s.o.limits.enabled)
	one.used = time.Now()
	if one.expiry == nil {
		one.expiry = time.AfterFunc(enabledIdle, func() { s.expireTools(conn, one) })
	}
	one.mu.Unlock()
	if changed {
		s.announceTools(ctx, conn)
	}
}

// expireTools empties what a session has enabled, if nothing of it was of use for a while, and otherwise looks again when
// that may be so.
func (s *Server) expireTools(conn *mcp.ServerSession, one *session) {
	one.mu.Lock()
	if left := enabledIdle - time.Since(one.used); left > 0 {
		one.expiry.Reset(left)
		one.mu.Unlock()
		return
	}
	one.expiry = nil
	changed := one.enabled.clear()
	one.mu.Unlock()
	if changed {
		s.announceToolsSoon(conn)
	}
}

// announceToolsSoon tells one client that its list has changed, outside of any request.
func (s *Server) announceToolsSoon(conn *mcp.ServerSession) {
	ctx, cancel := context.WithTimeout(s.closing, announceTimeout)
	defer cancel()
	s.announceTools(ctx, conn)
}

// recordUse notes that a tool was called.
func (s *Server) recordUse(conn *mcp.ServerSession, id tool.ID) {
	one := s.sessions.known(conn)
	if one == nil {
		return
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.enabled.markUsed(id) {
		one.used = time.Now()
	}
	one.mistaken, one.mistakes = "", 0
}

// countMistake notes that the arguments of a call did not fit, and tells how often in a row that was so for this tool.
func (s *Server) countMistake(conn *mcp.ServerSession, id tool.ID) int {
	one := s.sessions.of(conn)
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.mistaken != id {
		one.mistaken, one.mistakes = id, 0
	}
	one.mistakes++
	return one.mistakes
}

// listInFull has a tool listed in full to one client from now on, where it was a stub, and tells the client.
func (s *Server) listInFull(ctx context.Context, conn *mcp.ServerSession, id tool.ID) {
	one := s.sessions.of(conn)
	one.mu.Lock()
	changed := one.whole.add([]tool.ID{id}, maxWhole)
	one.mu.Unlock()
	if changed {
		s.announceTools(ctx, conn)
	}
}

// maxWhole bounds how many tools one session has in full in lazy mode.
const maxWhole = 1000

// sessionTools returns what a session lists beside what all clients do, and notes that it is told of that now.
func (s *Server) sessionTools(conn *mcp.ServerSession, set *tool.Set) (enabled, whole []tool.ID) {
	one := s.sessions.known(conn)
	if one == nil {
		return nil, nil
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	one.told = one.fingerprint(set)
	return slices.Clone(one.enabled.order), slices.Clone(one.whole.order)
}

// fingerprint tells apart what the client would be shown of its own tools. The caller holds mu.
func (one *session) fingerprint(set *tool.Set) string {
	ids := slices.Concat(one.enabled.order, one.whole.order)
	if len(ids) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, id := range ids {
		if t, ok := set.Get(id); ok {
			hash := t.Hash()
			sum.Write(hash[:])
		}
	}
	return string(sum.Sum(nil))
}

// announceOwnTools tells those clients of whose own tools one has changed.
func (s *Server) announceOwnTools(set *tool.Set) {
	for conn, one := range s.sessions.snapshot() {
		one.mu.Lock()
		now := one.fingerprint(set)
		changed := one.told != "" && one.told != now
		if changed {
			one.told = now
		}
		one.mu.Unlock()
		if changed {
			s.sessions.begin(func() { s.announceToolsSoon(conn) })
		}
	}
}

// announceTools tells one client that its list has changed. With the context of a request, the news goes the way of its
// answer, which every client reads.
func (s *Server) announceTools(ctx context.Context, conn *mcp.ServerSession) {
	_, err := s.send(ctx, "notifications/tools/list_changed",
		&mcp.ServerRequest[*mcp.ToolListChangedParams]{Session: conn, Params: &mcp.ToolListChangedParams{}})
	if err != nil && ctx.Err() == nil {
		s.o.Logger.Debug("change of the list not delivered", "err", err)
	}
}
