package mcpsrv

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// Bounds of what a session may have enabled in dynamic mode, beside limits.enabled.
const (
	maxFound        = 20 // tools that one search enables
	enabledIdle     = 5 * time.Minute
	announceTimeout = 10 * time.Second
)

// enableTools adds tools to one client's list, and notifies the client before it gets the answer to its request.
func (s *Server) enableTools(ctx context.Context, conn *mcp.ServerSession, ids []tool.ID) {
	if len(ids) == 0 {
		return
	}
	one := s.sessions.registerSession(conn)
	one.mu.Lock()
	changed := one.enabled.addTools(ids, s.o.limits.enabled)
	one.enabledUsed = time.Now()
	if one.expiry == nil {
		one.expiry = time.AfterFunc(enabledIdle, func() { s.expireTools(conn, one) })
	}
	one.mu.Unlock()
	if changed {
		s.announceTools(ctx, conn)
	}
}

// expireTools empties the enabled tools of a session if none was used for enabledIdle. Otherwise it sets the timer to
// the time when that may be so.
func (s *Server) expireTools(conn *mcp.ServerSession, one *session) {
	one.mu.Lock()
	if left := enabledIdle - time.Since(one.enabledUsed); left > 0 {
		one.expiry.Reset(left)
		one.mu.Unlock()
		return
	}
	one.expiry = nil
	changed := one.enabled.clearTools()
	one.mu.Unlock()
	if changed {
		s.announceToolsSoon(conn)
	}
}

// announceToolsSoon notifies one client that its list has changed, outside of any request.
func (s *Server) announceToolsSoon(conn *mcp.ServerSession) {
	ctx, cancel := context.WithTimeout(s.closing, announceTimeout)
	defer cancel()
	s.announceTools(ctx, conn)
}

// recordUse notes a call with arguments that fit: the tool stays enabled, and a row of mistakes ends.
func (s *Server) recordUse(conn *mcp.ServerSession, id tool.ID) {
	one := s.sessions.findSession(conn)
	if one == nil {
		return
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.enabled.markUsed(id) {
		one.enabledUsed = time.Now()
	}
	one.mistaken, one.mistakes = "", 0
}

// countMistake notes a call whose arguments did not fit, and returns how many in a row were of this tool.
func (s *Server) countMistake(conn *mcp.ServerSession, id tool.ID) int {
	one := s.sessions.registerSession(conn)
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.mistaken != id {
		one.mistaken, one.mistakes = id, 0
	}
	one.mistakes++
	return one.mistakes
}

// listInFull lists a tool in full to one client from now on, where it was a stub, and notifies it.
func (s *Server) listInFull(ctx context.Context, conn *mcp.ServerSession, id tool.ID) {
	one := s.sessions.registerSession(conn)
	one.mu.Lock()
	changed := one.full.addTools([]tool.ID{id}, maxFull)
	one.mu.Unlock()
	if changed {
		s.announceTools(ctx, conn)
	}
}

// maxFull bounds how many tools one session has in full in lazy mode.
const maxFull = 1000

// sessionTools returns the tools that one session lists beyond the shared listing, and records that the client has seen
// them. The slices belong to the caller.
func (s *Server) sessionTools(conn *mcp.ServerSession, set *tool.Set) (enabled, full []tool.ID) {
	one := s.sessions.findSession(conn)
	if one == nil {
		return nil, nil
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	one.announced = one.ownFingerprint(set)
	return slices.Clone(one.enabled.order), slices.Clone(one.full.order)
}

// ownFingerprint identifies what the client would be shown of its own tools. The caller holds mu.
func (one *session) ownFingerprint(set *tool.Set) string {
	ids := slices.Concat(one.enabled.order, one.full.order)
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

// announceOwnTools notifies those clients whose own tools have changed in the catalogue. It does not wait for them.
func (s *Server) announceOwnTools(set *tool.Set) {
	for _, one := range s.sessions.allSessions() {
		one.mu.Lock()
		now := one.ownFingerprint(set)
		changed := one.announced != "" && one.announced != now
		if changed {
			one.announced = now
		}
		one.mu.Unlock()
		if changed {
			s.sessions.startTask(func() { s.announceToolsSoon(one.conn) })
		}
	}
}

// announceTools notifies one client that its list has changed. With the context of a request, the notification takes
// the stream of its answer, which every client reads.
func (s *Server) announceTools(ctx context.Context, conn *mcp.ServerSession) {
	_, err := s.send(ctx, "notifications/tools/list_changed",
		&mcp.ServerRequest[*mcp.ToolListChangedParams]{Session: conn, Params: &mcp.ToolListChangedParams{}})
	if err != nil && ctx.Err() == nil {
		s.o.Logger.Debug("change of the list not delivered", "err", err)
	}
}
