package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"tooldex/tool"
	"tooldex/upstream"
)

// LoginOptions configure a login to a server.
type LoginOptions struct {
	// Visit shows a person the address at which to agree. It must not block for long. Required.
	Visit func(url string)
	// ClientID and ClientSecret are of a client that was registered by hand, for authorization servers that do not let
	// programs register themselves. Both may be empty.
	ClientID, ClientSecret string
	// Back is where the browser is sent with the answer, and Answer waits for the query that it brings there. Without
	// Back that is a port of this machine, for this login alone.
	Back   string
	Answer func(ctx context.Context) (url.Values, error)
}

// Login has a person let this program use a server that asks for authorization, by OAuth 2.1 with PKCE, and stores the
// tokens below Options.Dir in a file of mode 0600; those of a server with oauth.perUser are kept by Options.Users, for
// the user of ctx alone. From then on they are sent with each request to that server, unless its configuration has an
// Authorization header, and renewed when they expire. It waits until the person has agreed or
// ctx ends. Errors are *tool.Error: NotFound for an unknown server; Invalid for one that is not reached over HTTP or
// does not ask for a login; Denied if it was refused; Timeout; Unavailable if the servers do not play along.
func (g *Gateway) Login(ctx context.Context, server string, o LoginOptions) error {
	x, file, err := g.loginTarget(server)
	if err != nil {
		return err
	}
	if x.oauth.PerUser { // before a person agrees to what cannot be kept
		if _, _, err := g.opts.Users.Value(g.opts.Users.Of(ctx), server, x.url, LoginName); err != nil {
			return err
		}
	}
	at, err := url.Parse(x.url)
	if err != nil {
		return invalidLogin(server, "has no address")
	}
	client := loginClient(at, g.opts.outbound)
	// The refusal names the authorization server, which Authorize reads from the response.
	req, resp, err := probeAuthorization(ctx, client, x)
	if err != nil {
		return &tool.Error{
			Code: tool.Unavailable, Op: "login", Msg: fmt.Sprintf("server %q cannot be reached", server),
			Err: x.redact.redactError(err),
		}
	}
	if resp.StatusCode != http.StatusUnauthorized {
		_ = resp.Body.Close()
		return invalidLogin(server, fmt.Sprintf("does not ask for a login: it answers with HTTP status %d", resp.StatusCode))
	}
	if o.Back == "" {
		callback, err := listenForCode()
		if err != nil {
			_ = resp.Body.Close()
			return &tool.Error{
				Code: tool.Unavailable, Op: "login", Msg: "no local port can be opened for the answer",
				Err: err,
			}
		}
		defer callback.close()
		visit := o.Visit
		o.Visit = func(address string) {
			callback.expect(address)
			visit(address)
		}
		o.Back, o.Answer = callback.url, callback.waitForCode
	}
	if o.ClientID == "" {
		o.ClientID, o.ClientSecret = x.oauth.ClientID, cmp.Or(x.oauth.ClientSecret, o.ClientSecret)
	}
	handler, err := auth.NewAuthorizationCodeHandler(g.loginConfig(ctx, x, client, o, func(grant string) error {
		if x.oauth.PerUser {
			return g.opts.Users.Keep(ctx, server, x.url, LoginName, grant)
		}
		return replaceFile(file, []byte(grant))
	}))
	if err == nil {
		err = handler.Authorize(ctx, req, resp)
	}
	return loginError(ctx, server, x.redact, err)
}

// invalidLogin returns the error of a server that nobody can log in to.
func invalidLogin(server, why string) error {
	return &tool.Error{Code: tool.Invalid, Op: "login", Msg: fmt.Sprintf("server %q %s", server, why)}
}

// loginTarget returns what a login needs of a server, and the file of its tokens, "" if there is no folder for one.
func (g *Gateway) loginTarget(server string) (x *expandedServer, file string, err error) {
	u, ok := g.Upstream(server)
	if !ok {
		return nil, "", &tool.Error{Code: tool.NotFound, Op: "login", Msg: fmt.Sprintf("there is no server %q",
			truncateText(server, 80)), Hint: "tooldex servers list shows them"}
	}
	perUser := u.cfg.UsersLogIn()
	file = tokenFile(g.opts.Dir, server)
	switch {
	case u.exchanges():
		return nil, "", invalidLogin(server, "has no login: it is used with the access tokens of its callers")
	case u.cfg.ReachedBy() == upstream.Stdio:
		return nil, "", invalidLogin(server, "is a command, which has no login")
	case u.cfg.ReachedBy() == upstream.OpenAPI:
		return nil, "", invalidLogin(server, "is an API, which has no login: give its credentials as auth")
	case perUser && g.opts.Users == nil:
		return nil, "", noUsersError(server)
	case file == "" && !perUser:
		return nil, "", invalidLogin(server, "cannot be logged in to: there is no folder for its tokens")
	}
	cfg := copyServer(u.cfg)
	maps.DeleteFunc(cfg.Headers, func(_, value string) bool { return userVariable.MatchString(value) }) // not part of a login
	x, err = expandServer(cfg, g.opts.LookupEnv, g.opts.Secret)
	return x, file, err
}

// loginConfig returns the parameters of a login for the SDK, which calls keep with the grant.
func (g *Gateway) loginConfig(ctx context.Context, x *expandedServer, client *http.Client, o LoginOptions,
	keep func(grant string) error,
) *auth.AuthorizationCodeHandlerConfig {
	return &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: o.Back, Client: client, RequestRefreshToken: true, AcceptUnadvertisedIss: true,
		PreregisteredClient: clientCredentials(o),
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: g.opts.Name, RedirectURIs: []string{o.Back}, TokenEndpointAuthMethod: "none",
				GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
			},
		},
		AuthorizationCodeFetcher: func(_ context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			o.Visit(a.URL)
			q, err := o.Answer(ctx)
			if err != nil {
				return nil, err
			}
			if why := q.Get("error"); why != "" {
				return nil, refusedError(strings.TrimSpace(why + " " + q.Get("error_description")))
			}
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
		ScopeFilter: func(named []string) []string {
			if len(x.oauth.Scopes) > 0 {
				return x.oauth.Scopes
			}
			return named
		},
		// The context that it gets is not ours: it does not say who logs in.
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			x.redact.addSecrets(t.AccessToken, t.RefreshToken, c.ClientSecret)
			grant, err := (&storedGrant{
				ID: rand.Text(), URL: x.url, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
				TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle, Token: t,
			}).encode()
			if err == nil {
				err = keep(grant)
			}
			return oauth2.StaticTokenSource(t), err
		},
	}
}

// Logout forgets the tokens of a server, and reports whether there were any. Of a server with oauth.perUser those are
// forgotten with which its tools are listed, and those of users stay.
func (g *Gateway) Logout(server string) (bool, error) {
	if k, ok := g.ownGrant(server); ok {
		text, err := k.load()
		if err != nil || text == "" {
			return false, err
		}
		g.EndUser("", server)
		return k.replace(text, "")
	}
	file := tokenFile(g.opts.Dir, server)
	if file == "" {
		return false, nil
	}
	err := os.Remove(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &tool.Error{
			Code: tool.Internal, Op: "logout", Msg: "the stored login cannot be removed",
			Err: err,
		}
	}
	return true, nil
}

// LoggedIn reports whether tokens of a login to a server are stored, whether or not the server accepts them still.
func (g *Gateway) LoggedIn(server string) bool {
	if k, ok := g.ownGrant(server); ok {
		text, err := k.load()
		return err == nil && text != ""
	}
	file := tokenFile(g.opts.Dir, server)
	if file == "" {
		return false
	}
	_, err := os.Stat(file)
	return err == nil
}

// Forget removes what is kept in dir, as Options.Dir has it, of a server that is no more: its features,
// its tokens, and why it failed.
func Forget(dir, server string) error {
	var errs []error
	for _, file := range []string{filepath.Join(dir, featureFileName(server)), tokenFile(dir, server), failedFile(dir, server)} {
		errs = append(errs, removeFile(file))
	}
	if home := isolatedHome(dir, server); home != "" {
		errs = append(errs, os.RemoveAll(home), removeFile(home+fetchedSuffix), removeFile(home+lockSuffix))
	}
	if err := errors.Join(errs...); err != nil {
		return &tool.Error{
			Code: tool.Internal, Op: "forget server",
			Msg: fmt.Sprintf("what is kept of server %q cannot be removed", server), Err: err,
		}
	}
	return nil
}

// removeFile removes a file. That there is none is no error.
func removeFile(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// loginError converts the end of a login into a *tool.Error without secrets, or nil.
func loginError(ctx context.Context, server string, scrub *redactor, err error) error {
	var refused refusedError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &tool.Error{Code: tool.Timeout, Op: "login", Msg: fmt.Sprintf("nobody agreed to the login to server %q",
			server), Err: ctx.Err()}
	case errors.As(err, &refused):
		return &tool.Error{Code: tool.Denied, Op: "login", Msg: fmt.Sprintf("the login to server %q was refused: %s",
			server, truncateText(string(refused), 200))}
	}
	return &tool.Error{
		Code: tool.Unavailable, Op: "login", Msg: fmt.Sprintf("the login to server %q did not work", server),
		Hint: "if its authorization server lets no program register itself, register one and give its ID",
		Err:  scrub.redactError(err),
	}
}

// clientCredentials returns nil if no client was registered by hand: the program then registers itself.
func clientCredentials(o LoginOptions) *oauthex.ClientCredentials {
	if o.ClientID == "" {
		return nil
	}
	c := &oauthex.ClientCredentials{ClientID: o.ClientID}
	if o.ClientSecret != "" {
		c.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.ClientSecret}
	}
	return c
}

// probeAuthorization sends an initialize request without a token, to get the server's refusal. The caller closes the
// response's body or passes it on.
func probeAuthorization(ctx context.Context, client *http.Client, x *expandedServer) (
	*http.Request, *http.Response, error,
) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + legacyVersion +
		`","capabilities":{},"clientInfo":{"name":"tooldex","version":"0"}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url, strings.NewReader(hello))
	if err != nil {
		return nil, nil, err
	}
	for name, value := range x.headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := client.Do(req)
	return req, resp, err
}

// codeListener is the loopback address to which the browser is redirected with the answer.
type codeListener struct {
	url    string
	host   string // with port, as a browser sends it
	server *http.Server
	state  atomic.Pointer[string] // of the login that was begun; nil before it
	got    chan url.Values        // room for one: the first answer counts
}

// refusedError is the error with which an authorization server refuses a login.
type refusedError string

func (e refusedError) Error() string { return string(e) }

// listenForCode opens the listener on a free port of 127.0.0.1. The caller closes it.
func listenForCode() (*codeListener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with close
	if err != nil {
		return nil, err
	}
	c := &codeListener{url: fmt.Sprintf("http://%s/callback", l.Addr()), host: l.Addr().String(), got: make(chan url.Values, 1)}
	c.server = &http.Server{Handler: http.HandlerFunc(c.handleRedirect), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = c.server.Serve(l) }() // until close
	return c, nil
}

// expect has only answers count that carry the state of the address to which the browser is sent.
func (c *codeListener) expect(address string) {
	if u, err := url.Parse(address); err == nil {
		state := u.Query().Get("state")
		c.state.Store(&state)
	}
}

// handleRedirect handles the redirect of the browser. A request with another state, or for another host, comes from
// somebody else: it must not end the login.
func (c *codeListener) handleRedirect(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if state := c.state.Load(); r.Host != c.host || state == nil || q.Get("state") != *state {
		http.Error(w, "this is no answer to the login that was begun", http.StatusBadRequest)
		return
	}
	if r.URL.Path != "/callback" || q.Get("code") == "" && q.Get("error") == "" {
		http.NotFound(w, r)
		return
	}
	text := "You are logged in. You can close this window."
	if q.Get("error") != "" {
		text = "The login was refused. You can close this window."
	}
	select {
	case c.got <- q:
	default: // one came before
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text)
}

// waitForCode returns the first answer, or ctx.Err().
func (c *codeListener) waitForCode(ctx context.Context) (url.Values, error) {
	select {
	case q := <-c.got:
		return q, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// close ends the listener, after up to a second in which the page of the last answer is still delivered.
func (c *codeListener) close() {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = c.server.Shutdown(ctx)
}
