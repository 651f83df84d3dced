package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"tooldex/tool"
)

// use puts what every request goes through in order: it gets an id, is logged, survives a panic, is checked, and is
// bounded in size and time. The checks come before the routes, so that a stranger does not learn which there are.
func (s *Server) use() {
	s.echo.Pre(
		requestID,
		middleware.RequestLoggerWithConfig(middleware.RequestLoggerConfig{
			HandleError: true, LogLatency: true, LogMethod: true, LogURIPath: true, LogStatus: true, LogRemoteIP: true, LogRequestID: true,
			LogValuesFunc: s.logRequest,
		}),
		middleware.RecoverWithConfig(middleware.RecoverConfig{
			DisableStackAll: true, DisableErrorHandler: true,
			LogErrorFunc: func(_ echo.Context, err error, stack []byte) error {
				return &tool.Error{Code: tool.Internal, Op: "http", Msg: "panic", Err: fmt.Errorf("%w\n%s", err, stack)}
			},
		}),
		s.checkHost, s.checkOrigin, s.checkToken,
		s.bound,
		middleware.GzipWithConfig(middleware.GzipConfig{Skipper: streams, MinLength: 1024}),
	)
}

// streams reports whether an answer may stay open, and so must not be buffered or timed.
func streams(c echo.Context) bool {
	path := c.Request().URL.Path
	return path == mcpPath || strings.HasPrefix(path, mcpPath+"/")
}

var goodID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// requestID takes the client's id for a request if it is a plain one, and otherwise makes one.
func requestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !goodID.MatchString(id) {
			id = rand.Text()[:16]
			c.Request().Header.Set(echo.HeaderXRequestID, id)
		}
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		return next(c)
	}
}

func (s *Server) logRequest(c echo.Context, v middleware.RequestLoggerValues) error {
	level := slog.LevelInfo
	if v.Status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	// The query is left out: it holds what people search for.
	s.o.Logger.LogAttrs(c.Request().Context(), level, "request", slog.String("request", v.RequestID), slog.String("method", v.Method),
		slog.String("path", v.URIPath), slog.Int("status", v.Status), slog.Duration("took", v.Latency), slog.String("from", v.RemoteIP))
	return nil
}

// checkHost refuses names that are not ours. A page in a browser can have its own name resolve to a loopback address and
// so reach this server; it cannot do that with an address in numbers.
func (s *Server) checkHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if host := hostname(c.Request().Host); !s.ownHost(host) {
			return &tool.Error{Code: tool.Denied, Op: "check host", Msg: "this server does not answer to the name " + short(host), Hint: "add the name to the allowed hosts"}
		}
		return next(c)
	}
}

func (s *Server) ownHost(host string) bool {
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
		if u, err := url.Parse(origin); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, c.Request().Host) {
			return next(c)
		}
		return &tool.Error{Code: tool.Denied, Op: "check origin", Msg: "pages of " + short(origin) + " may not use this server", Hint: "add the origin to the allowed ones"}
	}
}

// open are the pages that need no token, for those who watch over the process.
var open = [...]string{"/healthz", "/readyz"}

// checkToken compares digests, so that neither the token nor its length shows in the time it takes.
func (s *Server) checkToken(next echo.HandlerFunc) echo.HandlerFunc {
	if s.o.Token == "" {
		return next
	}
	want := sha256.Sum256([]byte(s.o.Token))
	return func(c echo.Context) error {
		if path := c.Request().URL.Path; slices.Contains(open[:], path) || s.ofPanel(path) {
			return next(c)
		}
		scheme, token, _ := strings.Cut(c.Request().Header.Get(echo.HeaderAuthorization), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="tooldex"`)
			return echo.NewHTTPError(http.StatusUnauthorized, "the request bears no token, or another than ours")
		}
		return next(c)
	}
}

// bound limits the size and the time of a request. A call of a tool, and a start, takes as long as its upstream is given.
func (s *Server) bound(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body != nil && r.Body != http.NoBody {
			control := http.NewResponseController(c.Response().Writer)
			if control.SetReadDeadline(time.Now().Add(bodyTimeout)) == nil { // a recorder in a test has none
				r.Body = &timedBody{r.Body, control}
			}
			if !streams(c) {
				r.Body = http.MaxBytesReader(c.Response().Writer, r.Body, s.o.MaxBody)
			}
		}
		if !streams(c) && !strings.HasSuffix(r.URL.Path, callSuffix) && !strings.HasSuffix(r.URL.Path, startSuffix) {
			ctx, cancel := context.WithTimeout(r.Context(), s.o.Timeout)
			defer cancel()
			c.SetRequest(r.WithContext(ctx))
			defer c.SetRequest(r) // so that what comes after sees whether the client went, not that the time was called off
		}
		return next(c)
	}
}

// timedBody lifts the deadline once the body is read: left in place it would end the request, however long that may take.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{}) // it could be set, so it can be lifted
	}
	return n, err
}

// short quotes what a client sent for an error.
func short(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Sprintf("%q", s)
}
