package mcpsrv

import (
	"maps"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// owners tell which principal began which session over HTTP, by the session's ID. Sessions that nobody in particular
// began are not among them. The zero value is ready.
type owners struct {
	mu   sync.Mutex
	all  map[string]string // by ID: the principal's Key
	most int               // entries from which on those of ended sessions are taken out
}

// fewOwners is how many are kept before it is looked which have ended.
const fewOwners = 256

// begun notes who begins a session, before its ID is told to anybody.
func (s *Server) begun(key string, conn *mcp.ServerSession) {
	id := conn.ID()
	if id == "" || key == "" {
		return
	}
	o := &s.owners
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all, o.most = map[string]string{}, fewOwners
	}
	o.all[id] = key
	if len(o.all) < o.most {
		return
	}
	open := map[string]bool{id: true} // which the SDK may not count yet
	for other := range s.mcp.Sessions() {
		open[other.ID()] = true
	}
	maps.DeleteFunc(o.all, func(id, _ string) bool { return !open[id] })
	o.most = max(fewOwners, 2*len(o.all))
}

func (o *owners) of(id string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all[id]
}

const nobodysID = "-" // which no session has

// disown makes a request that goes on with somebody else's session one with a session that is not there, so that it is
// answered like any such, in whatever it differs.
func (s *Server) disown(r *http.Request) {
	if id := r.Header.Get(sessionHeader); id != "" && s.owners.of(id) != tool.PrincipalOf(r.Context()).Key {
		r.Header.Set(sessionHeader, nobodysID)
	}
}

// EndSessions ends the sessions over HTTP that a principal began, by its Key. It returns when they have ended.
func (s *Server) EndSessions(key string) {
	var all sync.WaitGroup
	for session := range s.mcp.Sessions() {
		if id := session.ID(); id != "" && s.owners.of(id) == key {
			all.Go(func() { _ = session.Close() }) // its error is that of a connection that is going anyway
		}
	}
	all.Wait()
}
