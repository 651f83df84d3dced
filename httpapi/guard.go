package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"golang.org/x/time/rate"

	"tooldex/tool"
)

// setSecurityHeaders sets the headers that keep browsers from guessing content types and from showing these pages
// inside others.
func (s *Server) setSecurityHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		return next(c)
	}
}

// limitRate refuses what one address asks beyond Options.Rate. It runs before the token is checked, so that it bounds
// guesses too.
func (s *Server) limitRate() echo.MiddlewareFunc {
	store := middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
		Rate: rate.Limit(s.o.Rate), Burst: int(2*s.o.Rate) + 1,
	})
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if s.o.Rate <= 0 {
				return next(c)
			}
			if allowed, err := store.Allow(rateKey(c.RealIP())); err != nil || !allowed {
				return echo.NewHTTPError(http.StatusTooManyRequests, "too many requests from this address")
			}
			return next(c)
		}
	}
}

// rateKey returns what counts as one address. A client of IPv6 has at least 64 bits to choose from, so its network
// counts.
func rateKey(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Unmap().Is4() {
		return ip
	}
	p, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return ip
	}
	return p.String()
}

// checkHost refuses host names that are not ours. A page in a browser can make its own name resolve to a loopback
// address and so reach this server (DNS rebinding); it cannot do that with a numeric address.
func (s *Server) checkHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if host := hostnameOf(c.Request().Host); !s.allowsHost(host) {
			return &tool.Error{Code: tool.Denied, Op: "check host", Msg: "this server does not answer to the name " +
				quoteShort(host), Hint: "add the name to the allowed hosts"}
		}
		return next(c)
	}
}

// allowsHost reports whether a host name is a loopback name, an IP address, or one of Options.Hosts.
func (s *Server) allowsHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.Contains(s.o.Hosts, "*") {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(s.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// hostnameOf returns a Host header without its port and brackets.
func hostnameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// checkOrigin refuses requests from pages of other origins.
func (s *Server) checkOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		origin := c.Request().Header.Get(echo.HeaderOrigin)
		if origin == "" || s.readsCard(c.Request()) || slices.Contains(s.o.Origins, "*") || slices.Contains(s.o.Origins, origin) {
			return next(c)
		}
		if u, err := url.Parse(origin); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" &&
			strings.EqualFold(u.Host, c.Request().Host) {
			return next(c)
		}
		return &tool.Error{Code: tool.Denied, Op: "check origin", Msg: "pages of " + quoteShort(origin) +
			" may not use this server", Hint: "add the origin to the allowed ones"}
	}
}

// markHeader is a header, of any value, that a page of another origin cannot send without a preflight.
const markHeader = "X-Tooldex"

// checkForgery refuses requests that change something and that a page of another site may have made a browser send. A
// form post carries neither a token, nor JSON, nor our header; any other method needs a preflight, which browsers do
// not get answered. MCP's handler checks for itself.
func (s *Server) checkForgery(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions || isStream(c) ||
			s.needsToken() {
			return next(c)
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" &&
			!slices.Contains(s.o.Origins, r.Header.Get(echo.HeaderOrigin)) {
			return &tool.Error{
				Code: tool.Denied, Op: "check origin",
				Msg: "pages of another site may not change anything here",
			}
		}
		if r.Method != http.MethodPost || r.Header.Get(markHeader) != "" || isJSON(r) {
			return next(c)
		}
		if r.ContentLength != 0 {
			return errNotJSON
		}
		return &tool.Error{
			Code: tool.Denied, Op: "check origin", Msg: "any page could have sent this request",
			Hint: "send the header " + markHeader + ": 1",
		}
	}
}
