package ssrf

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"

	"tooldex/tool"
)

// Options configure a Guard.
type Options struct {
	// Home is what a person configured. Its own host and port may be private; a name of the open internet may not
	// become private later, and no name may be that of a cloud's metadata service. Nil means that there is none.
	Home *url.URL
	// Neighbours allows what Home sends us to on Home's own machine, at other ports: an authorization server beside it.
	Neighbours bool
	Allow      Allowed // what else may be private
	// Private decides in the place of the networks that there are, for tests, whose servers all lie on one machine. Nil
	// means that it does not.
	Private func(ip netip.Addr, port string) bool
}

// Guard decides which addresses are dialed. It remembers what Home was at first, so keep one for as long as Home is
// configured. It is safe for concurrent use.
type Guard struct {
	o          Options
	host, port string // of Home
	literal    bool   // Home is an address in numbers, or this machine's own name

	mu      sync.Mutex
	dialed  bool       // Home was
	private bool       // it was private then
	at      netip.Addr // where

	proxies map[string]bool // hosts and ports of proxies, which the person configured
}

// NewGuard returns a ready Guard.
func NewGuard(o Options) *Guard {
	g := &Guard{o: o, proxies: map[string]bool{}}
	if o.Home != nil {
		g.host, g.port = hostPort(o.Home)
		ip, err := netip.ParseAddr(g.host)
		g.literal = err == nil || g.host == "localhost"
		if g.host == "localhost" {
			ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		}
		if g.literal { // what it is need not be found out by dialing
			ip = effectiveAddress(ip)
			g.dialed, g.private, g.at = true, g.isPrivate(ip, g.port), ip
		}
	}
	return g
}

// isPrivate reports whether an address is private, as Options.Private has it if it is set.
func (g *Guard) isPrivate(ip netip.Addr, port string) bool {
	if g.o.Private != nil {
		return g.o.Private(ip, port)
	}
	return isPrivate(ip)
}

// Transport returns a transport as the standard one, that dials what the guard permits. A proxy of the environment is
// used as always; what it resolves for us cannot be looked at, only addresses in numbers.
func (g *Guard) Transport() *http.Transport {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		base = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	out := base.Clone()
	out.DialContext = g.dialChecked
	if proxy := out.Proxy; proxy != nil {
		out.Proxy = func(r *http.Request) (*url.URL, error) { return g.noteProxy(proxy, r) }
	}
	return out
}

// noteProxy notes the proxy of a request, and looks at what it is asked for.
func (g *Guard) noteProxy(choose func(*http.Request) (*url.URL, error), r *http.Request) (*url.URL, error) {
	by, err := choose(r)
	if by == nil || err != nil {
		return by, err
	}
	host, port := hostPort(r.URL)
	if ip, err := netip.ParseAddr(host); err == nil {
		if err := g.checkAddress(host, port, ip); err != nil {
			return nil, err
		}
	}
	proxyHost, proxyPort := hostPort(by)
	g.mu.Lock()
	g.proxies[net.JoinHostPort(proxyHost, proxyPort)] = true
	g.mu.Unlock()
	return by, nil
}

// dialChecked is that of the standard transport, with a look at the address when it is known.
func (g *Guard) dialChecked(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{
		Timeout: 30 * time.Second, KeepAlive: 30 * time.Second,
		Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("dialed address %q: %w", address, err)
			}
			return g.checkAddress(comparableHost(host), port, at.Addr())
		},
	}
	return d.DialContext(ctx, network, addr)
}

// checkAddress is the decision. The error is of code Denied.
func (g *Guard) checkAddress(host, port string, ip netip.Addr) error {
	ip = effectiveAddress(ip)
	g.mu.Lock()
	defer g.mu.Unlock()
	home := g.host != "" && host == g.host && port == g.port
	private := g.isPrivate(ip, port)
	if home && !g.dialed {
		g.dialed, g.private, g.at = true, private, ip
	}
	switch {
	case !private, g.o.Allow.has(host, ip), g.proxies[net.JoinHostPort(host, port)]:
		return nil
	case home && (g.literal || g.private && !isMetadata(ip)):
		return nil
	case g.o.Neighbours && g.dialed && g.private && !isMetadata(ip) && (ip == g.at || ip.IsLoopback() &&
		g.at.IsLoopback()):
		return nil
	}
	return &tool.Error{
		Code: tool.Denied, Op: "dial", Msg: fmt.Sprintf("%s is the private address %s, which no configuration names",
			host, ip),
		Hint: "if it is meant, name it in TOOLDEX_ALLOW_PRIVATE",
	}
}
