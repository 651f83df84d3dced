package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/access"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/tool"
)

// userLogins are the logins of users to servers that a browser was sent away for. Each belongs to the browser that
// began it, by a cookie, and to the token with which it was begun: who opens a link that somebody else was given either
// logs in for themselves, or is refused. It is safe for concurrent use.
type userLogins struct {
	gateway *gateway.Gateway
	base    atomic.Pointer[string] // the address at which browsers reach the service; nil if there is none
	ctx     context.Context        // of all logins
	tasks   sync.WaitGroup         // one for each login
	within  time.Duration          // for which a login waits for its browser

	mu      sync.Mutex
	waiting map[string]*userLogin // by the state that the browser brings back
	begun   map[userServer]*userLogin
}

// userServer is who logs in where.
type userServer struct{ user, server string }

// userLogin is one login.
type userLogin struct {
	server  string
	browser [sha256.Size]byte // of the cookie
	answer  chan url.Values   // has room for one
	done    chan error        // has room for one
	cancel  context.CancelFunc
	state   string // under which it waits; "" before it does
}

// maxUserLogins bounds the logins that wait for their browsers.
const maxUserLogins = 1000

// newUserLogins returns logins that end with ctx.
func newUserLogins(ctx context.Context, gw *gateway.Gateway) *userLogins {
	return &userLogins{gateway: gw, ctx: ctx, within: loginTime, waiting: map[string]*userLogin{}, begun: map[userServer]*userLogin{}}
}

// setBase sets the address at which browsers reach the service.
func (l *userLogins) setBase(address string) {
	address = strings.TrimSuffix(address, "/")
	l.base.Store(&address)
}

// wait returns when all logins have ended.
func (l *userLogins) wait() { l.tasks.Wait() }

// page returns the page at which a user logs in to a server, "" if there is none. It is the same for all users.
func (l *userLogins) page(server string) string {
	base := l.base.Load()
	if base == nil {
		return ""
	}
	return *base + "/#/login?server=" + url.QueryEscape(server)
}

// begin begins a login of who to a server, in place of one that waits. It returns where the browser goes, and the
// cookie that shows that it comes back.
func (l *userLogins) begin(ctx context.Context, who access.Principal, server string) (string, *http.Cookie, error) {
	base := l.base.Load()
	if base == nil {
		return "", nil, &tool.Error{
			Code: tool.Invalid, Op: "login", Msg: "it is not known at which address browsers reach this service",
			Hint: "the operator sets oauth.resource to it",
		}
	}
	secret := rand.Text()
	waiting, cancel := context.WithTimeout(access.WithPrincipal(l.ctx, who), l.within)
	one := &userLogin{
		server: server, browser: sha256.Sum256([]byte(secret)), answer: make(chan url.Values, 1),
		done: make(chan error, 1), cancel: cancel,
	}
	of := userServer{who.Key, server}
	if err := l.add(of, one); err != nil {
		cancel()
		return "", nil, err
	}
	visit := make(chan string, 1)
	l.tasks.Go(func() {
		defer cancel()
		err := l.gateway.Login(waiting, server, gateway.LoginOptions{
			Back: *base + httpapi.CallbackPath,
			Visit: func(address string) {
				l.expect(address, of, one)
				visit <- address
			},
			Answer: func(ctx context.Context) (url.Values, error) {
				select {
				case q := <-one.answer:
					return q, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			},
		})
		l.remove(of, one)
		one.done <- err
	})
	select {
	case address := <-visit:
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" {
			cancel()
			return "", nil, &tool.Error{Code: tool.Unavailable, Op: "login", Msg: "the server names no web address for its login"}
		}
		return address, loginCookie(*base, u.Query().Get("state"), secret, int(l.within/time.Second)), nil
	case err := <-one.done: // no browser knows of it, so that nobody else waits for the end
		return "", nil, err
	case <-ctx.Done():
		cancel()
		return "", nil, ctx.Err()
	}
}

// add adds a login, and ends an earlier one of the same user to the same server.
func (l *userLogins) add(of userServer, one *userLogin) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.begun[of]
	if before == nil && len(l.begun) >= maxUserLogins {
		return &tool.Error{
			Code: tool.Unavailable, Op: "login", Msg: "too many logins are waiting for their users", Hint: "try again in a few minutes",
		}
	}
	if before != nil {
		before.cancel()
		delete(l.waiting, before.state)
	}
	l.begun[of] = one
	return nil
}

// expect has a login take an answer with the state of the address to which its browser is sent, unless another has
// taken its place.
func (l *userLogins) expect(address string, of userServer, one *userLogin) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.state = u.Query().Get("state"); one.state != "" && l.begun[of] == one {
		l.waiting[one.state] = one
	}
}

// remove removes a login that has ended.
func (l *userLogins) remove(of userServer, one *userLogin) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun[of] == one {
		delete(l.begun, of)
	}
	if l.waiting[one.state] == one {
		delete(l.waiting, one.state)
	}
}

// loginCookie returns the cookie of a login. The name tells several logins of one browser apart. The browser sends it
// when the authorization server redirects to this service, and pages cannot read it.
func loginCookie(base, state, secret string, seconds int) *http.Cookie {
	sum := sha256.Sum256([]byte(state))
	name, secure := "tooldex-login-"+hex.EncodeToString(sum[:8]), strings.HasPrefix(base, "https://")
	if secure {
		name = "__Host-" + name // no other host of the domain can have set it
	}
	return &http.Cookie{
		Name: name, Value: secret, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	}
}

// waitsFor reports whether a login waits for an answer with a state.
func (l *userLogins) waitsFor(state string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting[state] != nil
}

// end takes what a browser brings back, and returns what to tell the person. An answer counts once, with the state of a
// login that waits and the cookie of the browser that began it; any other changes nothing.
func (l *userLogins) end(r *http.Request) (string, error) {
	q := r.URL.Query()
	base, state := l.base.Load(), q.Get("state")
	one := (*userLogin)(nil)
	if base != nil && (q.Get("code") != "" || q.Get("error") != "") {
		one = l.take(state, cookieOf(r, loginCookie(*base, state, "", 0).Name))
	}
	if one == nil {
		return "", &tool.Error{
			Code: tool.Denied, Op: "login", Msg: "this is no answer to a login that was begun in this browser a few minutes ago",
			Hint: "nobody was logged in; open the page of tooldex and log in there yourself. Did somebody send you the link?",
		}
	}
	one.answer <- q
	select {
	case err := <-one.done:
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("You are logged in to %s.", one.server), nil
	case <-r.Context().Done():
		return "", r.Context().Err()
	}
}

// cookieOf returns the value of a cookie of a request, "" if there is none.
func cookieOf(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// take removes and returns the login that waits for a state, if the cookie is that of its browser; otherwise it returns
// nil, and the login goes on waiting.
func (l *userLogins) take(state, cookie string) *userLogin {
	sum := sha256.Sum256([]byte(cookie))
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.waiting[state]
	if one == nil || subtle.ConstantTimeCompare(sum[:], one.browser[:]) != 1 {
		return nil
	}
	delete(l.waiting, state)
	return one
}
