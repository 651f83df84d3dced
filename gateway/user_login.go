package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"tooldex/tool"
)

// LoginName is the name under which Users has the login of a user to a server whose configuration has oauth.perUser. It
// is no name of a variable, so that no header can hold it.
const LoginName = "oauth login"

// errNeedsLogin is in the chain of errors that a login of the user would prevent.
var errNeedsLogin = errors.New("no login of the user")

// userGrant keeps the grant of one user's login to one server.
type userGrant struct {
	users   Users
	user    string
	server  string
	address string
}

func (k userGrant) load() (string, error) {
	text, _, err := k.users.Value(k.user, k.server, k.address, LoginName)
	return text, err
}

func (k userGrant) replace(before, next string) (bool, error) {
	return k.users.Replace(k.user, k.server, k.address, LoginName, before, next)
}

// ownGrant returns where the login is kept with which the tools of a server are listed: that of who needs no token. ok
// is false unless users log in for themselves.
func (g *Gateway) ownGrant(server string) (k userGrant, ok bool) {
	u, ok := g.Upstream(server)
	if !ok || !u.cfg.UsersLogIn() || g.opts.Users == nil {
		return userGrant{}, false
	}
	return userGrant{g.opts.Users, "", server, g.addressOf(u.cfg)}, true
}

// loginID identifies the login of a grant: it stays when tokens are renewed. It is "" for a text that is no grant.
func loginID(grant string) string {
	var g storedGrant
	if json.Unmarshal([]byte(grant), &g) != nil || g.Token == nil {
		return ""
	}
	return g.ID
}

// userTokens returns the bearer of a user's login to a server.
func (g *Gateway) userTokens(key userKey) func(*expandedServer, *url.URL, *slog.Logger) (bearer, string, error) {
	return func(x *expandedServer, at *url.URL, logger *slog.Logger) (bearer, string, error) {
		if g.opts.Users == nil {
			return nil, "", noUsersError(key.server)
		}
		return &tokenSource{
			keeper: userGrant{g.opts.Users, key.user, key.server, x.url}, url: x.url,
			client: loginClient(at, g.opts.outbound), scrub: x.redact, logger: logger, mu: g.renewals.of(key),
			ended: func(unreachable bool) error { return g.loginError(key.server, unreachable) },
		}, g.loginHint(key.server), nil
	}
}

// loginHint says how a user logs in to a server.
func (g *Gateway) loginHint(server string) string {
	if page := g.loginPage(server); page != "" {
		return "a person logs in at " + page + " , with the token of this client, and then tries again"
	}
	return "a person logs in with: tooldex servers login " + server
}

// loginPage returns Options.LoginPage of a server.
func (g *Gateway) loginPage(server string) string {
	if g.opts.LoginPage == nil {
		return ""
	}
	return g.opts.LoginPage(server)
}

// loginError returns the error of a user who has no login to a server that works. unreachable says that the login may
// still be good, and that the authorization server does not renew its token.
func (g *Gateway) loginError(server string, unreachable bool) error {
	if unreachable {
		return &tool.Error{
			Code: tool.Unavailable, Op: "connect",
			Msg:  fmt.Sprintf("the authorization server of server %q does not renew your token at this moment", server),
			Hint: "try again later; nothing was called",
		}
	}
	return &tool.Error{
		Code: tool.Denied, Op: "connect", Msg: fmt.Sprintf("server %q needs a login of your own", server),
		Hint: g.loginHint(server), Err: errNeedsLogin,
	}
}

// The time that a person has for a login after a client took the request for it, and how often it is looked for:
// another process may be where it ends.
const (
	loginWait = 5 * time.Minute
	loginLook = 200 * time.Millisecond
)

// askToLogin has the client of a call that failed with err show its user the address at which to log in, if err is
// about that and the client can, and waits for the login. It reports whether to try the call again. The address alone
// gives no access to anything: whoever opens it logs in for themselves.
func (g *Gateway) askToLogin(ctx context.Context, u *Upstream, client *tool.Client, err error) bool {
	page := g.loginPage(u.cfg.Name)
	if page == "" || !errors.Is(err, errNeedsLogin) || client == nil || client.Ask == nil || !opensPages(client.Capabilities) {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, loginWait)
	defer stop()
	params, err := json.Marshal(map[string]string{
		"mode": "url", "elicitationId": rand.Text(), "url": page,
		"message": fmt.Sprintf("tooldex asks you to log in to the server %q. The page is that of tooldex; it asks for your "+
			"token of tooldex, and then sends you to the server's own login.", u.cfg.Name),
	})
	if err != nil {
		return false
	}
	raw, err := client.Ask(ctx, elicitMethod, params)
	var answer struct {
		Action string `json:"action"`
	}
	if err != nil || json.Unmarshal(raw, &answer) != nil || answer.Action != "accept" {
		return false
	}
	look := time.NewTicker(loginLook)
	defer look.Stop()
	for {
		if _, err := g.userValues(g.opts.Users.Of(ctx), u); !errors.Is(err, errNeedsLogin) {
			return true
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return false
		}
	}
}

// opensPages reports whether a client can show a person an address to open.
func opensPages(capabilities json.RawMessage) bool {
	var c struct {
		Elicitation map[string]json.RawMessage `json:"elicitation"`
	}
	if json.Unmarshal(capabilities, &c) != nil {
		return false
	}
	_, ok := c.Elicitation["url"]
	return ok
}
