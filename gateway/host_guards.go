package gateway

import (
	"net/http"
	"net/url"
	"sync"

	"tooldex/internal/ssrf"
)

// hostGuards keep a server from sending us to private addresses. They outlive its sessions, since they remember what its
// name stood for at first.
type hostGuards struct {
	o ssrf.Options // but for Home

	mu  sync.Mutex
	all map[string]*ssrf.Guard // by origin: variables of a configuration may change
}

// guardFor returns the guard of a server's address.
func (g *hostGuards) guardFor(u *url.URL) *ssrf.Guard {
	origin := u.Scheme + "://" + u.Host
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[string]*ssrf.Guard{}
	}
	if g.all[origin] == nil {
		o := g.o
		o.Home = u
		g.all[origin] = ssrf.NewGuard(o)
	}
	return g.all[origin]
}

// loginClient asks the authorization servers that a server names. They may lie beside it, as those of a developer do.
func loginClient(server *url.URL, o ssrf.Options) *http.Client {
	o.Home, o.Neighbours = server, true
	return &http.Client{Timeout: refreshTimeout, Transport: ssrf.NewGuard(o).Transport()}
}
