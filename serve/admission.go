package serve

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"tooldex/access"
	"tooldex/config"
	"tooldex/internal/ssrf"
	"tooldex/tool"
)

// admission says who may use the HTTP server, for what, and how often. It is immutable once newAdmission has returned
// it.
type admission struct {
	gate  access.Options
	oauth *access.OAuthOptions // nil: no tokens of authorization servers. Its Resource may still be "" on loopback.
	rate  float64              // requests a second from one address; 0 for no limit
	// own is the file of the owner's token, which is used where no main token is given; "" for none.
	own string
}

// PublicRate is the limit of requests a second from one address where others can reach the server, unless the
// configuration says otherwise.
const PublicRate = 50

// newAdmission reads the settings of access. An address that others can reach requires a token or an authorization
// server. Its errors are config.UsageError, and Invalid for the content of files. It contacts no authorization server.
func newAdmission(o Options) (admission, error) {
	cfg := o.Config.Config()
	whole, err := readToken(cfg.Serve)
	if err != nil {
		return admission{}, err
	}
	out := admission{rate: cfg.Serve.Rate, gate: access.Options{
		Whole: whole, Optional: whole == "" && !cfg.Serve.RequireToken, Logger: o.Logger,
		HasProfile: func(name string) bool { _, ok := cfg.Profiles[name]; return ok },
	}}
	// A temporary service has no data directory, so only a file that was named counts.
	if out.gate.File.Path = cfg.Serve.TokensFile; !o.Temporary {
		out.gate.File.Path = cfg.TokensFile()
	}
	if cfg.Serve.TokensFile != "" {
		if _, err := out.gate.File.Read(); err != nil {
			return admission{}, err
		}
	}
	if out.oauth, err = oauthOptions(cfg); err != nil {
		return admission{}, err
	}
	local, err := IsLoopback(o.Listen)
	if err != nil {
		return admission{}, err
	}
	if whole == "" && !o.Temporary && cfg.DataDir != "" && (local || cfg.Serve.RequireToken) {
		out.own = filepath.Join(cfg.DataDir, ownFile)
	}
	gate, err := access.New(out.gate) // looks at the file before anything is started
	if err != nil {
		return admission{}, err
	}
	switch {
	case cfg.Serve.RequireToken && out.own == "" && !gate.Guarded():
		return admission{}, config.UsageError{
			Msg:  "requests need a token, and there is no data directory for one",
			Hint: "set TOOLDEX_TOKEN",
		}
	case local:
	case whole != "" && isWeak(whole):
		return admission{}, config.UsageError{
			Msg:  fmt.Sprintf("others can reach %s, and its token can be guessed", o.Listen),
			Hint: fmt.Sprintf("give one of %d characters or more, for example from openssl rand -hex 32", minToken),
		}
	case !gate.Grants() && out.oauth == nil && out.own == "":
		// A client that can call tools can do everything that the tools do.
		return admission{}, config.UsageError{
			Msg:  fmt.Sprintf("others can reach %s, and there is no token", o.Listen),
			Hint: "tooldex tokens add makes one; or set TOOLDEX_TOKEN, or listen on " + config.DefaultListen,
		}
	case out.oauth != nil && out.oauth.Resource == "":
		return admission{}, config.UsageError{
			Msg:  "there are issuers of tokens, and no resource that they are for",
			Hint: "set TOOLDEX_OAUTH_RESOURCE to the address at which clients reach the server",
		}
	case cfg.Serve.Rate == 0:
		out.rate = PublicRate
	}
	out.rate = max(out.rate, 0) // in settings negative means no limit; here 0 does
	return out, nil
}

// minToken is the length in characters of the shortest token for an address that others can reach: that many of base64
// hold 128 bits. minDistinct is how many different ones it has, at the least.
const (
	minToken    = 22
	minDistinct = 8
)

// isWeak reports whether a token can be guessed.
func isWeak(token string) bool {
	distinct := map[rune]bool{}
	for _, r := range token {
		distinct[r] = true
	}
	return len(token) < minToken || len(distinct) < minDistinct
}

// maxTokenFile bounds a file with one token, in bytes.
const maxTokenFile = 1 << 20

// readToken returns the token for everything, from its file or else from the environment; "" if there is none. An empty
// file is an error, since it would leave the server open.
func readToken(cfg config.Serve) (string, error) {
	if cfg.TokenFile == "" {
		return cfg.Token, nil
	}
	f, err := os.Open(cfg.TokenFile)
	if err != nil {
		var pathErr *os.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return "", &tool.Error{
			Code: tool.Invalid, Op: "read the token", Msg: "file " + cfg.TokenFile + " cannot be read",
			Hint: "check the path and the file's permissions", Err: err,
		}
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxTokenFile))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", config.UsageError{
			Msg:  cfg.TokenFile + " holds no token",
			Hint: "write one into it, for example from openssl rand -hex 32",
		}
	}
	return token, nil
}

// ownFile is the name of the file in the data directory that holds the owner's token.
const ownFile = "token"

// oauthOptions returns the options for authorization servers, nil if the configuration names none. They have been
// checked, with a stand-in for the resource if that is not known before the server listens.
func oauthOptions(cfg *config.Config) (*access.OAuthOptions, error) {
	c := cfg.OAuth
	if len(c.Issuers) == 0 {
		return nil, nil
	}
	allow, err := ssrf.ParseAllowed(cfg.AllowPrivate)
	if err != nil {
		return nil, err
	}
	o := &access.OAuthOptions{
		Issuers: c.Issuers, Resource: c.Resource, Scopes: c.Scopes, Grants: c.Grants, ClientID: c.Client,
		ClientSecret: c.Secret, Allow: allow,
	}
	check := *o
	check.Resource = cmp.Or(o.Resource, "http://"+config.DefaultListen)
	_, err = access.NewOAuth(check)
	return o, err
}

// openGate makes the gate, and returns the options of authorization servers with the resource filled in, nil without
// any. ended is called with each principal whose token has ended; at is where the server listens, which is the resource
// if the configuration names none. A profile that tokens are granted, and that does not exist, is a config.UsageError.
func (a admission) openGate(hasProfile func(string) bool, at net.Addr, ended func(key string)) (*access.Gate,
	*access.OAuthOptions, error,
) {
	o := a.gate
	if a.own != "" {
		var err error
		if o.Whole, err = access.OwnToken(a.own); err != nil && !o.Optional {
			return nil, nil, err
		} else if err != nil { // requests are served without it, only edits are not
			a.gate.Logger.Warn("servers cannot be changed over HTTP", "error", err)
		}
	}
	o.Ended, o.HasProfile = ended, hasProfile
	if a.oauth == nil {
		gate, err := access.New(o)
		return gate, nil, err
	}
	own := *a.oauth
	if own.Resource == "" {
		own.Resource = (&url.URL{Scheme: "http", Host: at.String()}).String()
	}
	var err error
	if o.OAuth, err = access.NewOAuth(own); err != nil {
		return nil, nil, err
	}
	for _, name := range o.OAuth.Profiles() {
		if !hasProfile(name) {
			return nil, nil, config.UsageError{
				Msg:  fmt.Sprintf("there is no profile %q, which tokens are granted", name),
				Hint: "name one of the profiles in TOOLDEX_OAUTH_GRANTS",
			}
		}
	}
	gate, err := access.New(o)
	return gate, &own, err
}

// refuseEdit returns who may not change servers over HTTP, and what to do, by the setting serve.edits. Requests that
// need no token may come from every user of the machine, and a server is a command that runs as the owner.
func (a admission) refuseEdit(edits string) func(access.Principal) error {
	const terminal = "in a terminal, tooldex servers changes them"
	return func(who access.Principal) error {
		switch {
		case edits == "off":
			return &tool.Error{
				Code: tool.Denied, Op: "change servers", Msg: "serve.edits is off: servers cannot be changed here",
				Hint: terminal,
			}
		case edits == "open" || who.Key != "":
			return nil
		}
		e := &tool.Error{
			Code: tool.Denied, Op: "change servers", Msg: "servers can only be changed with a token",
			Hint: "set TOOLDEX_TOKEN and serve again; or, " + terminal, Err: access.ErrToken,
		}
		if a.own != "" {
			e.Hint = "yours is in the file " + a.own + "; or, " + terminal
		}
		return e
	}
}

// IsLoopback reports whether only programs on this machine can reach an address of the form host:port. The error is
// config.UsageError for anything else.
func IsLoopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, config.UsageError{
			Msg:  fmt.Sprintf("%q is not an address", addr),
			Hint: "give host:port, for example " + config.DefaultListen,
		}
	}
	return ssrf.Loopback(host), nil
}
