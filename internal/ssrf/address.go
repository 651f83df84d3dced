package ssrf

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"tooldex/tool"
)

// Allowed are addresses and names that may be dialed though they are private. The zero Allowed has none.
type Allowed struct {
	all   bool
	hosts []string
	nets  []netip.Prefix
}

// ParseAllowed reads a list of addresses (10.1.2.3), networks (10.0.0.0/8) and names (auth.internal); "*" is all there
// are. The error is of code Invalid.
func ParseAllowed(list []string) (Allowed, error) {
	var out Allowed
	for _, text := range list {
		if text == "*" {
			out.all = true
			continue
		}
		if prefix, err := netip.ParsePrefix(text); err == nil {
			out.nets = append(out.nets, prefix.Masked())
			continue
		}
		if ip, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
			out.nets = append(out.nets, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
			continue
		}
		if text == "" || strings.ContainsAny(text, "/:@ ") {
			return Allowed{}, &tool.Error{
				Code: tool.Invalid, Op: "read addresses",
				Msg:  fmt.Sprintf("%q is neither an address, nor a network, nor a name", text),
				Hint: "give for example 10.0.0.0/8, 10.1.2.3 or auth.internal, without a port",
			}
		}
		out.hosts = append(out.hosts, comparableHost(text))
	}
	return out, nil
}

func (a Allowed) has(host string, ip netip.Addr) bool {
	return a.all || slices.Contains(a.hosts, host) || slices.ContainsFunc(a.nets,
		func(n netip.Prefix) bool { return n.Contains(ip) })
}

// Loopback reports whether a host is this machine itself, by the name it has for that or in numbers.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// comparableHost is a host as it is compared.
func comparableHost(host string) string {
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}

// hostPort is the host and port of an address, as they are dialed.
func hostPort(u *url.URL) (host, port string) {
	port = u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return comparableHost(u.Hostname()), port
}

// within are the networks beside those that netip knows of which do not lie in the open internet.
var within = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("64:ff9b:1::/48"), // translations within one network
}

// metadata are addresses at which clouds tell a machine its secrets. They are dialed for nobody who did not write them
// out.
var metadata = [...]netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("168.63.129.16/32"), netip.MustParsePrefix("fd00:ec2::/32"),
}

// carriers are the networks of IPv6 whose addresses hold one of IPv4, and where in them.
var carriers = [...]struct {
	net netip.Prefix
	at  int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("::/96"), 12},
}

// effectiveAddress is the address that is reached in the end.
func effectiveAddress(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	for _, c := range carriers {
		if b := ip.As16(); ip.Is6() && c.net.Contains(ip) && ip != netip.IPv6Loopback() && !ip.IsUnspecified() {
			return netip.AddrFrom4([4]byte(b[c.at : c.at+4]))
		}
	}
	return ip
}

// isPrivate reports whether an address lies elsewhere than in the open internet. Ip is bare.
func isPrivate(ip netip.Addr) bool {
	return !ip.IsGlobalUnicast() || ip.IsPrivate() || isMetadata(ip) || slices.ContainsFunc(within[:],
		func(n netip.Prefix) bool { return n.Contains(ip) })
}

// isMetadata reports whether ip is where cloud machines serve their own credentials.
func isMetadata(ip netip.Addr) bool {
	return slices.ContainsFunc(metadata[:], func(n netip.Prefix) bool { return n.Contains(ip) })
}
