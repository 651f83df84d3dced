package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// A header of a server over HTTP may hold ${user:NAME}: what each user has stored for that server. Such a server has a
// connection of its own for each user, which shares nothing with others: not the session, not the questions and
// messages of the server, not what it lists. The tools come from a connection with the values of the operator, and what
// the server offers beside tools is not listed at all.

// Users has the credentials of users. Its methods are safe for concurrent use.
type Users interface {
	// Of returns on whose behalf something is done: the key of a principal, "" for one who needs no token.
	Of(ctx context.Context) string
	// Value returns what a user has stored under a name for a server at an address, and false if there is nothing.
	Value(user, server, address, name string) (string, bool, error)
	// Keep stores a value for whom ctx says, in place of an earlier one.
	Keep(ctx context.Context, server, address, name, value string) error
	// Replace replaces what a user has stored by next, or removes it if next is "". It reports false, and changes
	// nothing, if that is not before any more.
	Replace(user, server, address, name, before, next string) (bool, error)
	// Token returns the access token of an authorization server that came with the request of ctx, which was verified;
	// "" if it came with none, or with a token of another kind.
	Token(ctx context.Context) string
}

// userPrefix marks the variables of users.
const userPrefix = "user:"

var userVariable = regexp.MustCompile(`\$\{` + userPrefix + `([A-Za-z_][A-Za-z0-9_]*)\}`)

// UserVariables returns the names of what each user has to store for a server, sorted; nil for most servers.
func UserVariables(s upstream.Server) []string {
	if s.ReachedBy() == upstream.Stdio {
		return nil
	}
	var names []string
	for _, value := range s.Headers {
		for _, m := range userVariable.FindAllStringSubmatch(value, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// personalNames returns the names of what a server needs of each user, not nil if its connections are those of users:
// LoginName stands for a login, and an exchange needs nothing that is stored.
func personalNames(s upstream.Server) []string {
	names := UserVariables(s)
	if s.OAuth == nil || s.ReachedBy() == upstream.Stdio {
		return names
	}
	if s.UsersLogIn() {
		names = append(names, LoginName)
	}
	return append([]string{}, names...)
}

// UserServer returns the address of a server and the names of what each user has to give for it; LoginName stands for a
// login. ok is false for an unknown server, and for one that wants nothing of users.
func (g *Gateway) UserServer(server string) (address string, names []string, ok bool) {
	u, ok := g.Upstream(server)
	if !ok || len(u.personal) == 0 {
		return "", nil, false
	}
	return g.addressOf(u.cfg), u.personal, true
}

// addressOf returns the address of a server with its variables filled in, or as it is configured if one is not set.
func (g *Gateway) addressOf(s upstream.Server) string {
	address, err := expandText(s.URL, g.opts.LookupEnv)
	if err != nil {
		return s.URL
	}
	return address
}

// userKey identifies the connection of a user to a server.
type userKey struct{ server, user string }

// userUpstream is the connection of a user.
type userUpstream struct {
	*Upstream
	mark   [sha256.Size]byte // of the values with which it was made
	wanted time.Time         // when it was last asked for
	tokens *exchangedTokens  // nil unless tokens are exchanged
}

// Bounds of connections of users. One that was not asked for within userRest may make room for another.
const (
	maxUserUpstreams = 1000
	userRest         = time.Minute
)

// upstreamFor returns the connection on which a server is used on behalf of ctx: u itself, unless it has credentials of
// users. The error is Denied if the user has not stored all that it takes.
func (g *Gateway) upstreamFor(ctx context.Context, u *Upstream) (*Upstream, error) {
	if u.personal == nil {
		return u, nil
	}
	if g.opts.Users == nil {
		return nil, noUsersError(u.cfg.Name)
	}
	key := userKey{u.cfg.Name, g.opts.Users.Of(ctx)}
	token := g.opts.Users.Token(ctx)
	if u.exchanges() && token == "" {
		return nil, noCallerTokenError(u.cfg.Name)
	}
	values, err := g.userValues(key.user, u)
	if err != nil {
		g.endUserUpstream(key)
		return nil, err
	}
	mark := markOf(values)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.upstreams[u.cfg.Name] != u { // it was replaced or removed meanwhile
		return nil, u.goneError()
	}
	have := g.users[key]
	if have != nil && have.mark == mark {
		have.wanted = time.Now()
		have.tokens.setCaller(token)
		return have.Upstream, nil
	}
	if have != nil {
		delete(g.users, key)
		g.running.Go(func() { have.stopProcess(g.opts.stopGrace) })
	}
	if len(g.users) >= maxUserUpstreams && !g.makeUserRoom() {
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "connect", Msg: "too many users have connections to servers",
			Hint: "try again in a minute",
		}
	}
	cfg := copyServer(u.cfg)
	cfg.Eager = false
	one := &userUpstream{mark: mark, wanted: time.Now()}
	o := g.userOptions(values)
	switch {
	case u.exchanges():
		one.tokens = &exchangedTokens{}
		one.tokens.setCaller(token)
		o.ownTokens = g.exchangeTokens(one.tokens, false)
	case cfg.OAuth != nil:
		o.ownTokens = g.userTokens(key)
	}
	one.Upstream = newUpstream(cfg, o, &g.running)
	g.users[key] = one
	return one.Upstream, nil
}

// userValues returns what a user has stored for a server.
func (g *Gateway) userValues(user string, u *Upstream) (map[string]string, error) {
	address, values := g.addressOf(u.cfg), map[string]string{}
	for _, name := range u.personal {
		value, ok, err := g.opts.Users.Value(user, u.cfg.Name, address, name)
		if err != nil {
			return nil, err
		}
		switch {
		case name == LoginName:
			if values[name] = loginID(value); values[name] == "" {
				return nil, g.loginError(u.cfg.Name, false)
			}
		case !ok:
			return nil, missingError(u.cfg.Name, name)
		default:
			values[name] = value
		}
	}
	return values, nil
}

// missingError returns the Denied error of a user who has not stored what a server takes.
func missingError(server, name string) error {
	return &tool.Error{
		Code: tool.Denied, Op: "connect", Msg: fmt.Sprintf("server %q needs your own %s, which is not stored", server, name),
		Hint: fmt.Sprintf("a person stores it with PUT /api/credentials/%s, and not in this conversation", server),
	}
}

// noUsersError returns the error of a server with credentials of users where none are kept.
func noUsersError(server string) error {
	return &tool.Error{
		Code: tool.Denied, Op: "connect", Msg: fmt.Sprintf("server %q needs credentials of its users, and none are kept here",
			server),
		Hint: "set TOOLDEX_CREDENTIALS_KEY, or credentials.keyFile, to a key from openssl rand -base64 32",
	}
}

// markOf identifies values, so that a connection with others is noticed.
func markOf(values map[string]string) [sha256.Size]byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, part := range []string{name, values[name]} {
			_ = binary.Write(h, binary.BigEndian, uint64(len(part))) // a hash takes everything
			h.Write([]byte(part))
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// userOptions returns the options of a user's connection: nothing of it is stored, or told to anybody else.
func (g *Gateway) userOptions(values map[string]string) Options {
	o := g.opts
	o.Dir, o.Known, o.OnListChanged, o.OnFeatures, o.OnResourceUpdated = "", nil, nil, nil, nil
	o.LookupEnv = func(name string) (string, bool) {
		if own, ok := strings.CutPrefix(name, userPrefix); ok {
			value, ok := values[own]
			return value, ok
		}
		return g.opts.LookupEnv(name)
	}
	return o
}

// operatorOptions returns the options of the connection that lists the tools of a server with credentials of users: it
// has those of the operator.
func (g *Gateway) operatorOptions(s upstream.Server) Options {
	o := g.opts
	o.LookupEnv = func(name string) (string, bool) {
		own, ok := strings.CutPrefix(name, userPrefix)
		if !ok {
			return g.opts.LookupEnv(name)
		}
		if g.opts.Users == nil {
			return "", false
		}
		value, ok, err := g.opts.Users.Value("", s.Name, g.addressOf(s), own)
		return value, ok && err == nil
	}
	switch {
	case s.OAuth == nil || s.ReachedBy() == upstream.Stdio:
	case s.OAuth.Exchange != "":
		o.ownTokens = g.exchangeTokens(&exchangedTokens{}, true)
	case s.UsersLogIn():
		o.ownTokens = g.userTokens(userKey{s.Name, ""})
	}
	return o
}

// makeUserRoom stops the connection that was not asked for longest, and reports whether there was one at rest. g.mu is
// held.
func (g *Gateway) makeUserRoom() bool {
	var oldest userKey
	var found *userUpstream
	for key, one := range g.users {
		one.mu.Lock()
		active := one.active
		one.mu.Unlock()
		if active == 0 && time.Since(one.wanted) > userRest && (found == nil || one.wanted.Before(found.wanted)) {
			oldest, found = key, one
		}
	}
	if found == nil {
		return false
	}
	delete(g.users, oldest)
	g.running.Go(func() { found.stopProcess(g.opts.stopGrace) })
	return true
}

// EndUser ends the connections of a user, with their running calls: those to a server, or all if server is "". Call it
// when a credential or a token was revoked. It does not wait for them. The next call begins anew.
func (g *Gateway) EndUser(user, server string) {
	g.mu.RLock()
	var keys []userKey
	for key := range g.users {
		if key.user == user && (server == "" || key.server == server) {
			keys = append(keys, key)
		}
	}
	var own []*Upstream
	for name, u := range g.upstreams {
		if user == "" && u.personal != nil && (server == "" || name == server) {
			own = append(own, u)
		}
	}
	g.mu.RUnlock()
	for _, key := range keys {
		g.endUserUpstream(key)
	}
	for _, u := range own { // of the listing
		u.mu.Lock()
		s := u.session
		u.mu.Unlock()
		if s != nil {
			u.dropSession(s, errStopped)
		}
	}
}

// endUserUpstream ends the connection of a user to a server, if there is one.
func (g *Gateway) endUserUpstream(key userKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if one := g.users[key]; one != nil {
		delete(g.users, key)
		g.running.Go(func() { one.stopProcess(g.opts.stopGrace) })
	}
}

// takeUserUpstreams removes and returns the connections of users to a server. g.mu is held.
func (g *Gateway) takeUserUpstreams(server string) (old []*Upstream) {
	for key, one := range g.users {
		if key.server == server {
			old = append(old, one.Upstream)
			delete(g.users, key)
		}
	}
	return old
}

// forwardOwn is Forward on a user's own connection. Subscriptions are refused: an update of a resource goes to every
// client that has subscribed to it, whoever it is.
func (g *Gateway) forwardOwn(ctx context.Context, u *Upstream, r upstream.Request) (*Upstream, error) {
	if u.personal != nil && (r.Method == "resources/subscribe" || r.Method == "resources/unsubscribe") {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "forward",
			Msg:  fmt.Sprintf("server %q takes no subscriptions here, since it has credentials of users", u.cfg.Name),
			Hint: "read the resource again instead",
		}
	}
	return g.upstreamFor(ctx, u)
}
