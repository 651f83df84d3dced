package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/tool"
)

// Credentials keeps what users give for servers that are called on their behalf. No method returns a value. Its methods
// are safe for concurrent use.
type Credentials interface {
	// Own lists what servers want of a user, and what is stored of it.
	Own(who access.Principal) ([]CredentialLine, error)
	// All lists what is stored of all users. The error is NotFound for who may not see that.
	All() ([]CredentialLine, error)
	// Store stores a credential of a user, or of the operator if user is OperatorUser, which NotFound refuses to who may
	// not. The error is NotFound for a server or a name that is not wanted.
	Store(who access.Principal, user, server, name, value string) error
	// Remove removes credentials of a user for a server, those of all names if name is "", and returns how many. user is
	// the key of another, which NotFound refuses to who may not see it; "" means that of who.
	Remove(who access.Principal, user, server, name string) (int, error)
	// BeginLogin begins a login to a server, of a user as Store has it. It returns where the browser of the person goes,
	// and a cookie without which the answer that comes back is not taken.
	BeginLogin(ctx context.Context, who access.Principal, user, server string) (visit string, cookie *http.Cookie, err error)
}

// OperatorUser names the operator, by whose credentials the tools of a server are listed, among users.
const OperatorUser = "operator"

// CredentialLine is a credential as it is listed. It never has the value.
type CredentialLine struct {
	Server string     `json:"server"`
	Name   string     `json:"name" jsonschema:"as the server's configuration has it in ${user:NAME}; oauth login for a login"`
	Stored bool       `json:"stored"`
	Login  string     `json:"login,omitempty" jsonschema:"the page at which a person logs in; left out for other credentials"`
	Set    *time.Time `json:"set,omitempty" jsonschema:"when it was stored"`
	User   string     `json:"user,omitempty" jsonschema:"whose it is, where those of all are listed; it is no secret"`
	Who    string     `json:"who,omitempty" jsonschema:"the same, for people"`
}

// credentialList is the answer to a list of credentials.
type credentialList struct {
	Credentials []CredentialLine `json:"credentials"`
}

// storeCredential is the body of PUT /api/credentials/{server}.
type storeCredential struct {
	Name  string `json:"name" jsonschema:"as the server's configuration has it in ${user:NAME}"`
	Value string `json:"value" jsonschema:"the secret; it is never shown again"`
	User  string `json:"user,omitempty" jsonschema:"operator: it is for listing the tools; needs a token for all tools. One's own if left out"`
}

// beginLogin is the body of POST /api/credentials/{server}/login.
type beginLogin struct {
	User string `json:"user,omitempty" jsonschema:"operator: the login is for listing the tools; needs a token for all tools. One's own if left out"`
}

// begunLogin is the answer to it.
type begunLogin struct {
	Visit string `json:"visit" jsonschema:"where the browser goes that sent the request; it must keep the cookie of the answer"`
}

// removedCredentials is the answer to DELETE /api/credentials/{server}.
type removedCredentials struct {
	Removed int `json:"removed" jsonschema:"how many there were"`
}

const credentialsPath = "/api/credentials"

var (
	listCredentialParams   = []param{{name: "all", kind: "boolean", text: "of all users, for a token for all tools"}}
	removeCredentialParams = []param{
		{name: "name", text: "of which name; all if left out"},
		{name: "user", text: "whose, as the list of all has it, or operator, for a token for all tools; one's own if left out"},
	}
)

// credentials returns Options.Credentials, or a NotFound error if nothing is kept.
func (s *Server) credentials() (Credentials, error) {
	if s.o.Credentials == nil {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "credentials", Msg: "no credentials of users are kept here",
			Hint: "the operator sets credentials.keyFile or TOOLDEX_CREDENTIALS_KEY",
		}
	}
	return s.o.Credentials, nil
}

// credentialServer returns the server in the path of a request, which ends with suffix.
func credentialServer(c echo.Context, suffix string) (string, error) {
	path := strings.TrimPrefix(c.Request().URL.EscapedPath(), credentialsPath+"/")
	name, err := url.PathUnescape(strings.TrimSuffix(path, suffix))
	if err != nil {
		return "", invalidField("the server", "is not escaped correctly")
	}
	return name, nil
}

// listCredentials answers GET /api/credentials.
func (s *Server) listCredentials(c echo.Context) error {
	q := readQuery(c)
	all := q.flag("all")
	if err := q.done(); err != nil {
		return err
	}
	keep, err := s.credentials()
	if err != nil {
		return err
	}
	var lines []CredentialLine
	if all {
		lines, err = keep.All()
	} else {
		lines, err = keep.Own(access.PrincipalOf(c.Request().Context()))
	}
	if err != nil {
		return err
	}
	return writeJSON(c, credentialList{orEmpty(lines)})
}

// putCredential answers PUT /api/credentials/{server}.
func (s *Server) putCredential(c echo.Context) error {
	var body storeCredential
	if err := readBody(c, &body); err != nil {
		return err
	}
	if body.User != "" && body.User != OperatorUser {
		return invalidField("user", "can only be "+OperatorUser)
	}
	server, err := credentialServer(c, "")
	if err != nil {
		return err
	}
	keep, err := s.credentials()
	if err != nil {
		return err
	}
	if err := keep.Store(access.PrincipalOf(c.Request().Context()), body.User, server, body.Name, body.Value); err != nil {
		return err
	}
	return writeJSON(c, health{"ok"})
}

// deleteCredential answers DELETE /api/credentials/{server}.
func (s *Server) deleteCredential(c echo.Context) error {
	q := readQuery(c)
	name, user := q.text("name"), q.text("user")
	if err := q.done(); err != nil {
		return err
	}
	server, err := credentialServer(c, "")
	if err != nil {
		return err
	}
	keep, err := s.credentials()
	if err != nil {
		return err
	}
	n, err := keep.Remove(access.PrincipalOf(c.Request().Context()), user, server, name)
	if err != nil {
		return err
	}
	return writeJSON(c, removedCredentials{n})
}

// postLogin answers POST /api/credentials/{server}/login.
func (s *Server) postLogin(c echo.Context) error {
	var body beginLogin
	if c.Request().ContentLength != 0 {
		if err := readBody(c, &body); err != nil {
			return err
		}
	}
	if body.User != "" && body.User != OperatorUser {
		return invalidField("user", "can only be "+OperatorUser)
	}
	server, err := credentialServer(c, "/login")
	if err != nil {
		return err
	}
	keep, err := s.credentials()
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	visit, cookie, err := keep.BeginLogin(ctx, access.PrincipalOf(ctx), body.User, server)
	if err != nil {
		return err
	}
	c.SetCookie(cookie)
	return writeJSON(c, begunLogin{visit})
}

// CallbackPath is where authorization servers send browsers back to.
const CallbackPath = "/login/callback"

// mountCallback adds the route of the end of logins, if Options.EndLogin is set.
func (s *Server) mountCallback() {
	if s.o.EndLogin != nil {
		s.echo.GET(CallbackPath, s.getCallback)
	}
}

// isCallbackPath reports whether a path is that of the end of logins. A browser comes there without a token; a cookie
// says which login it began.
func (s *Server) isCallbackPath(path string) bool { return s.o.EndLogin != nil && path == CallbackPath }

// getCallback answers a browser that comes back from an authorization server, in plain text.
func (s *Server) getCallback(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	text, err := s.o.EndLogin(c.Request())
	if err != nil {
		return err
	}
	return c.String(http.StatusOK, text+" You can close this window.\n")
}
