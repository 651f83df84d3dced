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

// setSecurityHeaders tells browsers to take nothing for what it is not, and to show nothing of this server within other pages.
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

// limitRate refuses what one address asks beyond Options.Rate. It comes before the token is looked at, so that it
// bounds guesses too.
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

// rateKey is what counts as one address: a client of IPv6 has at least 64 bits to choose from.
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

// checkHost refuses names that are not ours. A page in a browser can have its own name resolve to a loopback address
// and so reach this server; it cannot do that with an address in numbers.
func (s *Server) checkHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if host := hostname(c.Request().Host); !s.allowsHost(host) {
			return &tool.Error{Code: tool.Denied, Op: "check host", Msg: "this server does not answer to the name " +
				quoteShort(host), Hint: "add the name to the allowed hosts"}
		}
		return next(c)
	}
}

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

// hostname returns a Host header without its port and brackets.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// checkOrigin refuses requests that a page of another origin makes.
func (s *Server) checkOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		origin := c.Request().Header.Get(echo.HeaderOrigin)
		if origin == "" || slices.Contains(s.o.Origins, "*") || slices.Contains(s.o.Origins, origin) {
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

// markHeader is a header, of any value, that a page of another origin cannot send without asking first.
const markHeader = "X-Tooldex"

// checkForgery refuses requests that change something and that a page of another site had a browser send, or could
// have: what a form posts carries neither a token, nor JSON, nor a header of ours, and any other method needs our
// leave, which browsers do not get. MCP's handler looks after itself.
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
				Msg: "pages of another site may change nothing here",
			}
		}
		if r.Method != http.MethodPost || r.Header.Get(markHeader) != "" || isJSON(r) {
			return next(c)
		}
		if r.ContentLength != 0 {
			return errNotJSON
		}
		return &tool.Error{
			Code: tool.Denied, Op: "check origin", Msg: "the request could be that of any page",
			Hint: "send the header " + markHeader + ": 1",
		}
	}
}
