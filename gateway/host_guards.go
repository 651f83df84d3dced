package gateway

import (
	"net/http"
	"net/url"
	"sync"

	"tooldex/internal/ssrf"
)

// hostGuards keep a server from sending us to private addresses. They outlive its sessions, since a guard remembers
// which addresses the server's name had at first. The zero value allows no private address but the configured one.
type hostGuards struct {
	o ssrf.Options // but for Home

	mu  sync.Mutex
	all map[string]*ssrf.Guard // by origin: variables of a configuration may change
}

// guardFor returns the guard of a server's address. It returns the same one for each address of one origin.
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

// loginClient returns a client for the authorization servers that a server names. They may be on the server's own
// network, as those of a developer are.
func loginClient(server *url.URL, o ssrf.Options) *http.Client {
	o.Home, o.Neighbours = server, true
	return &http.Client{Timeout: refreshTimeout, Transport: ssrf.NewGuard(o).Transport()}
}
