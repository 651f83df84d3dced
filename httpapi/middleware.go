package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"tooldex/access"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// useMiddleware installs what every request passes, in order: it gets an ID, is logged, survives a panic, is checked,
// and is bounded in size and time. The checks come before the routes, so that a stranger does not learn which routes
// exist. Echo builds the chain anew for each request, so state that a check keeps is created here.
func (s *Server) useMiddleware() {
	s.echo.Pre(
		dropAbandoned, requestID, s.traceRequest,
		middleware.RequestLoggerWithConfig(middleware.RequestLoggerConfig{
			HandleError: true, LogLatency: true, LogMethod: true, LogURIPath: true, LogStatus: true, LogRemoteIP: true,
			LogRequestID:  true,
			LogValuesFunc: s.logRequest,
		}),
		middleware.RecoverWithConfig(middleware.RecoverConfig{
			DisableStackAll: true, DisableErrorHandler: true,
			LogErrorFunc: func(_ echo.Context, err error, stack []byte) error {
				return &tool.Error{Code: tool.Internal, Op: "http", Msg: "panic", Err: fmt.Errorf("%w\n%s", err, stack)}
			},
		}),
	)
	for _, g := range []guard{
		{"headers", s.setSecurityHeaders},
		{"rate", s.limitRate()},
		{"host", s.checkHost},
		{"origin", s.checkOrigin},
		{"token", s.checkToken},
		{"forgery", s.checkForgery},
		{"bounds", s.boundRequest},
	} {
		if g.name != s.o.without {
			s.echo.Pre(g.check)
		}
	}
	s.echo.Pre(s.admitRequest, middleware.GzipWithConfig(middleware.GzipConfig{Skipper: isStream, MinLength: 1024}),
		answerAs)
}

// guard is a check that requests pass. A test leaves it out by its name, to see the attack succeed that it prevents.
type guard struct {
	name  string
	check echo.MiddlewareFunc
}

// isStream reports whether an answer may stay open, so that it must not be buffered or timed.
func isStream(c echo.Context) bool {
	path := c.Request().URL.Path
	return slices.ContainsFunc(mcpPaths[:], func(mcp string) bool {
		return path == mcp || strings.HasPrefix(path, mcp+"/")
	})
}

var goodID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// requestID takes the client's ID for a request if it is a plain one, and otherwise makes one.
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

// traceRequest calls Options.Trace. It is outside of the log, which makes sure that an error has been answered.
func (s *Server) traceRequest(next echo.HandlerFunc) echo.HandlerFunc {
	if s.o.Trace == nil {
		return next
	}
	return func(c echo.Context) error {
		r := c.Request()
		ctx, end := s.o.Trace(r)
		c.SetRequest(r.WithContext(ctx))
		defer func() { end(c.Path(), c.Response().Status) }()
		return next(c)
	}
}

// logRequest logs and counts a request once it is answered.
func (s *Server) logRequest(c echo.Context, v middleware.RequestLoggerValues) error {
	counted := s.o.Metrics
	if inner, ok := c.Get(answererKey).(*Server); ok { // it may be of another tenant, whose requests count there
		counted = inner.o.Metrics
	}
	if counted != nil {
		counted.Answered(v.Status)
	}
	level := slog.LevelInfo
	if v.Status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	// The query is left out: it holds what people search for.
	attrs := []slog.Attr{
		slog.String("request", v.RequestID), slog.String("method", v.Method), slog.String("path", v.URIPath),
		slog.Int("status", v.Status),
		slog.Duration("took", v.Latency), slog.String("from", v.RemoteIP),
	}
	if who := access.PrincipalOf(c.Request().Context()); who.Name != "" {
		attrs = append(attrs, slog.String("who", who.Name))
	}
	s.o.Logger.LogAttrs(c.Request().Context(), level, "request", attrs...)
	return nil
}

// waitsForUpstream reports whether the answer of a path takes as long as an upstream server does.
func waitsForUpstream(path string) bool {
	return strings.HasSuffix(path, callSuffix) || strings.HasSuffix(path, startSuffix) || strings.HasSuffix(path, trySuffix)
}

// boundRequest limits the size and the time of a request. A call of a tool, and the start of a server, takes as long as
// the upstream is given.
func (s *Server) boundRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, w, l := c.Request(), c.Response().Writer, s.o.limits
		if r.Body != nil && r.Body != http.NoBody {
			most := l.body
			if isStream(c) {
				most = maxMessage
			}
			// The server lifts the deadline when the body has been read. A recorder in a test has none.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(l.bodyTime))
			r.Body = http.MaxBytesReader(w, r.Body, most)
		}
		endless := isStream(c) || waitsForUpstream(r.URL.Path)
		var end time.Time
		if !endless {
			end = time.Now().Add(s.o.Timeout + l.bodyTime)
		}
		p := newStallWriter(w, l.stallTime, end)
		c.Response().Writer = p
		defer p.extendDeadline() // for what the server itself writes at the end
		if !endless {
			ctx, cancel := context.WithTimeout(r.Context(), s.o.Timeout)
			defer cancel()
			c.SetRequest(r.WithContext(ctx))
			// What comes after must see whether the client disconnected, not that this timeout was cancelled.
			defer c.SetRequest(r)
		}
		return next(c)
	}
}

// quoteShort quotes what a client sent, shortened, for an error.
func quoteShort(s string) string {
	const most = 80
	return fmt.Sprintf("%q", sanitize.Clip(s, most))
}
