package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/tool"
)

// Identifier identifies who sent a token. *access.Gate is one.
type Identifier interface {
	// Guarded reports whether requests need a token now.
	Guarded() bool
	// Identify returns what a token, which may be "", grants to a request to a path. Its errors are *tool.Error: with
	// [access.ErrToken] in their chain for a token that is not good, Denied for one that is not good for this path,
	// Unavailable if that cannot be found out now.
	Identify(ctx context.Context, token, path string) (access.Grant, error)
}

// openPaths need no token, so that monitors can use them.
var openPaths = [...]string{"/healthz", "/readyz"}

// isOpenPath reports whether a path is one of openPaths.
func isOpenPath(path string) bool { return slices.Contains(openPaths[:], path) }

// needsToken reports whether requests need a token now.
func (s *Server) needsToken() bool { return s.o.Access != nil && s.o.Access.Guarded() }

// isPublic reports whether a request is served without a token.
func (s *Server) isPublic(r *http.Request) bool {
	path := r.URL.Path
	return isOpenPath(path) || s.isPanelPath(path) || s.isMetadataPath(path) || s.isCallbackPath(path) || s.readsCard(r)
}

// checkToken refuses requests without a good token, where one is required. It stores in the context of the others who
// sent them, and which Server answers them.
func (s *Server) checkToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if s.isPublic(r) || s.o.Access == nil {
			return next(c)
		}
		required := s.needsToken()
		token, err := bearerToken(r)
		if err != nil && required {
			return err
		}
		if token == "" && !required {
			return next(c)
		}
		grant, err := s.o.Access.Identify(r.Context(), token, r.URL.Path)
		if err != nil && !required { // clients may send what they like where nothing is asked
			return next(c)
		}
		if err != nil {
			s.setChallenge(c, token != "", err)
			return err
		}
		if err := grant.Quota.Request(); err != nil {
			return err
		}
		r = r.WithContext(access.WithQuota(access.WithPrincipal(r.Context(), grant.Principal), grant.Quota))
		if grant.Issued {
			r = r.WithContext(access.WithToken(r.Context(), token))
		}
		if !isStream(c) {
			grant.Expires = time.Time{} // an answer that takes a while may come after the end of an access token
		}
		ctx, end := endWithToken(r.Context(), grant)
		defer end()
		c.SetRequest(r.WithContext(ctx))
		// What comes after must see whether the client disconnected, not that this context was cancelled.
		defer c.SetRequest(r)
		if grant.View != (access.View{}) && s.o.ServerFor != nil {
			inner, done, err := s.o.ServerFor(ctx, grant.View, isStream(c))
			if err != nil {
				return err
			}
			defer done()
			c.Set(answererKey, inner)
		}
		err = next(c)
		if cause := context.Cause(ctx); err != nil && errors.Is(cause, access.ErrToken) {
			s.setChallenge(c, true, cause) // whatever error the end of the context became
			return cause
		}
		return err
	}
}

// errTokenEnded ends what is under way with a token that is revoked or expires.
var errTokenEnded = &tool.Error{
	Code: tool.Denied, Op: "check token", Msg: "the token was revoked or has expired while the request was under way",
	Hint: "send another token", Err: access.ErrToken,
}

// bearerToken returns the token of a request, or "" if there is none. Two Authorization headers are an error, since
// nothing says which one counts.
func bearerToken(r *http.Request) (string, error) {
	values := r.Header.Values(echo.HeaderAuthorization)
	if len(values) > 1 {
		return "", &tool.Error{
			Code: tool.Invalid, Op: "check token", Msg: "two tokens were sent",
			Hint: "send one Authorization header",
		}
	}
	if len(values) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", nil
	}
	return strings.TrimSpace(token), nil
}

// endWithToken returns a context for a request, which ends with errTokenEnded when its token expires or is revoked.
func endWithToken(ctx context.Context, grant access.Grant) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	unlink, stop := func() bool { return true }, func() {}
	if grant.Alive != nil {
		unlink = context.AfterFunc(grant.Alive, func() { cancel(errTokenEnded) })
	}
	if !grant.Expires.IsZero() {
		ctx, stop = context.WithDeadlineCause(ctx, grant.Expires, errTokenEnded)
	}
	return ctx, func() {
		unlink()
		stop()
		cancel(nil)
	}
}

// setChallenge returns to a client, as RFC 6750 and RFC 9728 define it, what is wrong with its token and where it gets
// another.
func (s *Server) setChallenge(c echo.Context, bore bool, err error) {
	params := []string{`Bearer realm="tooldex"`}
	switch {
	case !errors.Is(err, access.ErrToken) && tool.CodeOf(err) != tool.Denied:
		return
	case !errors.Is(err, access.ErrToken):
		params = append(params, `error="insufficient_scope"`, `error_description="`+messageOf(err)+`"`)
	case bore:
		params = append(params, `error="invalid_token"`, `error_description="`+messageOf(err)+`"`)
	}
	if s.o.Resource != nil {
		params = append(params, `resource_metadata="`+s.o.Resource.metadataURL(c.Request().URL.Path)+`"`)
		if len(s.o.Resource.Scopes) > 0 {
			params = append(params, `scope="`+headerSafe(strings.Join(s.o.Resource.Scopes, " "))+`"`)
		}
	}
	c.Response().Header().Set(echo.HeaderWWWAuthenticate, strings.Join(params, ", "))
}

// messageOf returns the message of an error for a header.
func messageOf(err error) string {
	var known *tool.Error
	if errors.As(err, &known) {
		return headerSafe(known.Msg)
	}
	return ""
}

// headerSafe keeps the characters of a text that may stand between quotes in a header.
func headerSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, s)
}

// answererKey is where a request keeps the Server that answers it instead of the one that checked it.
const answererKey = "answerer"

// answerAs passes a request to the Server of its token's view, if it has one.
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

// editIDs are the operations that change which commands run as the owner of this process, or on whose behalf servers
// are used.
var editIDs = [...]string{
	"putServer", "deleteServer", "enableServer", "disableServer", "tryServer", "loginServer", "logoutServer",
}

// checkEdit wraps the handler of an operation of editIDs: Options.RefuseEdit decides who may do it.
func (s *Server) checkEdit(handle echo.HandlerFunc) echo.HandlerFunc {
	if s.o.RefuseEdit == nil {
		return handle
	}
	return func(c echo.Context) error {
		if err := s.o.RefuseEdit(access.PrincipalOf(c.Request().Context())); err != nil {
			s.setChallenge(c, false, err)
			return err
		}
		return handle(c)
	}
}

// harmlessIDs are the operations that change nothing here, though they are not called by GET. What a call changes
// elsewhere is for the Caller to decide.
var harmlessIDs = [...]string{"searchJSON", "searchToolsJSON", "selectTools", "callTool"}

// guardRoute wraps the handler of a route. It refuses changes if Options.ReadOnly is set, and reports them to the
// auditor, done or refused.
func (s *Server) guardRoute(r route) echo.HandlerFunc {
	if r.method == http.MethodGet || slices.Contains(harmlessIDs[:], r.id) {
		return r.handle
	}
	if slices.Contains(editIDs[:], r.id) {
		r.handle = s.checkEdit(r.handle)
	}
	if !s.o.ReadOnly {
		return s.recordChanges(r.id, r.handle)
	}
	return s.recordChanges(r.id, func(echo.Context) error {
		return &tool.Error{
			Code: tool.Denied, Op: r.id, Msg: "this token does not allow changes",
			Hint: "ask for a token that is not read-only",
		}
	})
}
