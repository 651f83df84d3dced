package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/tool"
)

// Token is a secret that requests may bear, and who answers them then.
type Token struct {
	Digest [sha256.Size]byte // of the secret
	// Server answers the requests that bear the token: it may know of fewer tools, or be read only. Its own checks are not
	// made, and its Serve need not be called. Nil means the Server that has this Token.
	Server *Server
}

// open are the pages that need no token, for those who watch over the process.
var open = [...]string{"/healthz", "/readyz"}

// isOpen reports whether a path is that of one of them.
func isOpen(path string) bool { return slices.Contains(open[:], path) }

// guarded reports whether requests need a token.
func (s *Server) guarded() bool { return s.o.Token != "" || len(s.o.Tokens) > 0 }

// checkToken compares digests, and all of them, so that neither a token nor its length shows in the time it takes.
func (s *Server) checkToken() echo.MiddlewareFunc {
	tokens := slices.Clone(s.o.Tokens)
	if s.o.Token != "" {
		tokens = append(tokens, Token{Digest: sha256.Sum256([]byte(s.o.Token))})
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if path := c.Request().URL.Path; !s.guarded() || isOpen(path) || s.ofPanel(path) {
				return next(c)
			}
			scheme, secret, _ := strings.Cut(c.Request().Header.Get(echo.HeaderAuthorization), " ")
			got := sha256.Sum256([]byte(strings.TrimSpace(secret)))
			which := -1
			for i := range tokens {
				which = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(got[:], tokens[i].Digest[:]), i, which)
			}
			if !strings.EqualFold(scheme, "Bearer") || which < 0 {
				c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="tooldex"`)
				return echo.NewHTTPError(http.StatusUnauthorized, "the request bears no token, or another than ours")
			}
			if inner := tokens[which].Server; inner != nil {
				c.Set(answererKey, inner)
			}
			return next(c)
		}
	}
}

// answererKey is where a request keeps the Server that answers it in the place of the one that checked it.
const answererKey = "answerer"

// answerAs has the Server of the request's token answer, if there is one.
func answerAs(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		inner, ok := c.Get(answererKey).(*Server)
		if !ok {
			return next(c)
		}
		inner.echo.Router().Find(c.Request().Method, echo.GetPath(c.Request()), c)
		return c.Handler()(c)
	}
}

// harmless are the operations that change nothing here, though they are not asked for by GET. What a call changes
// elsewhere is the business of the Caller.
var harmless = [...]string{"searchJSON", "searchToolsJSON", "selectTools", "callTool"}

// mayRun wraps the handler of a route for Options.ReadOnly. What changes something is told to the auditor, done or refused.
func (s *Server) mayRun(r route) echo.HandlerFunc {
	if r.method == http.MethodGet || slices.Contains(harmless[:], r.id) {
		return r.handle
	}
	if !s.o.ReadOnly {
		return s.accounted(r.id, r.handle)
	}
	return s.accounted(r.id, func(echo.Context) error {
		return &tool.Error{Code: tool.Denied, Op: r.id, Msg: "nothing may be changed with this token", Hint: "ask for one that is not read only"}
	})
}
