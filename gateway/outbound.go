package gateway

import (
	"net/http"
	"net/url"
	"sync"

	"tooldex/internal/outbound"
)

// guards keep a server from sending us to private addresses. They outlive its sessions, since they remember what its
// name stood for at first.
type guards struct {
	o outbound.Options // but for Home

	mu  sync.Mutex
	all map[string]*outbound.Guard // by origin: variables of a configuration may change
}

// of returns the guard of a server's address.
func (g *guards) of(u *url.URL) *outbound.Guard {
	origin := u.Scheme + "://" + u.Host
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[string]*outbound.Guard{}
	}
	if g.all[origin] == nil {
		o := g.o
		o.Home = u
		g.all[origin] = outbound.NewGuard(o)
	}
	return g.all[origin]
}

// loginClient asks the authorization servers that a server names. They may lie beside it, as those of a developer do.
func loginClient(server *url.URL, o outbound.Options) *http.Client {
	o.Home, o.Neighbours = server, true
	return &http.Client{Timeout: refreshTimeout, Transport: outbound.NewGuard(o).Transport()}
}
