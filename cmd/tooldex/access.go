package main

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"tooldex/access"
	"tooldex/internal/ssrf"
)

// admission says who may use the HTTP surface, for what, and how often.
type admission struct {
	gate access.Options
	// nil: no authorization server's tokens are taken. Its Resource may be "" still, on loopback.
	oauth *access.OAuthOptions
	rate  float64 // requests a second from one address; zero means as many as come
}

// view is a part of what there is.
type view struct {
	profile  string // "" means all tools
	readOnly bool   // only tools that change nothing, and nothing can be changed
}

// openRate is the rate where others can reach the address, unless the command line says otherwise.
const openRate = 50

// admission reads what the flags, the environment and the configuration say of it. Its errors are of usage, and Invalid
// for what the files hold. Nobody is asked anything yet.
func (a *app) admission(f *serveFlags, profiles map[string]profile) (admission, error) {
	whole, err := f.wholeToken(a.getenv)
	if err != nil {
		return admission{}, err
	}
	out := admission{rate: f.rate, gate: access.Options{
		Whole: whole, Logger: a.log,
		HasProfile: func(name string) bool { _, ok := profiles[name]; return ok },
	}}
	explicit := cmp.Or(f.tokens, a.getenv("TOOLDEX_TOKENS"))
	if out.gate.File.Path = explicit; explicit == "" && !a.demo {
		out.gate.File.Path = a.tokensFile()
	}
	if explicit != "" {
		if _, err := out.gate.File.Read(); err != nil {
			return admission{}, err
		}
	}
	if out.oauth, err = a.oauth(); err != nil {
		return admission{}, err
	}
	gate, err := access.New(out.gate) // a look at the file, before anything is started
	if err != nil {
		return admission{}, err
	}
	here, err := loopback(f.listen)
	switch {
	case err != nil:
		return admission{}, err
	case here:
	case !gate.Grants() && out.oauth == nil:
		// Whoever can call tools can do whatever the tools do.
		return admission{}, usageError{
			fmt.Sprintf("others can reach %s, and there is no token", f.listen),
			"tooldex tokens add makes one; or set TOOLDEX_TOKEN, or listen on " + defaultListen,
		}
	case out.oauth != nil && out.oauth.Resource == "":
		return admission{}, usageError{
			"there are issuers of tokens, and no resource that they are for",
			"set TOOLDEX_OAUTH_RESOURCE to the address at which clients reach the server",
		}
	case f.rate == 0:
		out.rate = openRate
	}
	out.rate = max(out.rate, 0)
	return out, nil
}

// wholeToken returns the token for everything, "" if there is none.
func (f *serveFlags) wholeToken(getenv func(string) string) (string, error) {
	file := cmp.Or(f.tokenFile, getenv("TOOLDEX_TOKEN_FILE"))
	if file == "" {
		return getenv("TOOLDEX_TOKEN"), nil
	}
	b, err := readSmall(file)
	if err != nil {
		return "", fileError("read the token", file, err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", usageError{file + " holds no token", "write one into it, for example from openssl rand -hex 32"}
	}
	return token, nil
}

// tokensFile is where tokens are kept if nobody says where, "" if that cannot be told.
func (a *app) tokensFile() string {
	if a.dataDir == "" {
		return ""
	}
	return filepath.Join(a.dataDir, "tokens.yaml")
}

// oauth reads what is said of authorization servers, nil for none.
func (a *app) oauth() (*access.OAuthOptions, error) {
	issuers := list(a.getenv("TOOLDEX_OAUTH_ISSUERS"))
	if len(issuers) == 0 {
		return nil, nil
	}
	allow, err := a.allowed()
	if err != nil {
		return nil, err
	}
	o := &access.OAuthOptions{
		Issuers: issuers, Resource: a.getenv("TOOLDEX_OAUTH_RESOURCE"), Scopes: list(a.getenv("TOOLDEX_OAUTH_SCOPES")),
		Grants:   list(a.getenv("TOOLDEX_OAUTH_GRANTS")),
		ClientID: a.getenv("TOOLDEX_OAUTH_CLIENT"), ClientSecret: a.getenv("TOOLDEX_OAUTH_SECRET"), Allow: allow,
	}
	check := *o
	check.Resource = cmp.Or(o.Resource, "http://"+defaultListen)
	_, err = access.NewOAuth(check)
	return o, err
}

// allowed are the private addresses that others may send us to.
func (a *app) allowed() (ssrf.Allowed, error) {
	return ssrf.ParseAllowed(list(a.getenv("TOOLDEX_ALLOW_PRIVATE")))
}

// open makes the gate. Ended is told of principals whose token has ended; at is where the server listens, in the place
// of a resource that nobody named.
func (w admission) open(book *profileBook, at net.Addr, ended func(key string)) (*access.Gate, *access.OAuthOptions,
	error,
) {
	o := w.gate
	o.Ended = ended
	o.HasProfile = func(name string) bool { _, ok := book.get(name); return ok } // of this moment
	if w.oauth == nil {
		gate, err := access.New(o)
		return gate, nil, err
	}
	own := *w.oauth
	if own.Resource == "" {
		own.Resource = (&url.URL{Scheme: "http", Host: at.String()}).String()
	}
	var err error
	if o.OAuth, err = access.NewOAuth(own); err != nil {
		return nil, nil, err
	}
	for _, name := range o.OAuth.Profiles() {
		if !o.HasProfile(name) {
			return nil, nil, usageError{
				fmt.Sprintf("there is no profile %q, which tokens are granted", name),
				"name one of the profiles in TOOLDEX_OAUTH_GRANTS",
			}
		}
	}
	gate, err := access.New(o)
	return gate, &own, err
}

// loopback reports whether only programs of this machine can reach an address.
func loopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, usageError{
			fmt.Sprintf("%q is not an address", addr),
			"give host:port, for example " + defaultListen,
		}
	}
	return ssrf.Loopback(host), nil
}
