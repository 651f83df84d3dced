package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"tooldex/tool"
)

// Options configure a Gate. With the zero value requests need no token.
type Options struct {
	// Whole is the token for everything; "" means that there is none.
	Whole string
	// Optional says that no request has to send Whole. It only shows then that a request comes from the owner.
	Optional bool
	// File holds the tokens that people hand out. Watch follows its changes.
	File File
	// OAuth verifies access tokens; nil means that none are accepted.
	OAuth *OAuth
	// HasProfile reports whether a profile exists, so that tokens may be bound to it; nil means that none does.
	HasProfile func(name string) bool
	// Ended is called with the Key of a principal whose token was revoked, has expired, or grants something else now.
	// Watch calls it, one at a time. Nil means that nobody is notified.
	Ended func(key string)
	// Refused is called for each request (kind "requests") and call ("calls", "concurrent") that the quota of a token
	// does not permit, with the view that the token grants. Nil means that nobody is notified.
	Refused func(who Principal, view View, kind string)
	// Logger receives tokens that end, and errors of reading the file; nil means no log.
	Logger *slog.Logger
}

// Grant is what a token grants.
type Grant struct {
	Principal Principal
	View      View
	// Expires is when the token ends; zero means never.
	Expires time.Time
	// Issued says that the token is an access token of an authorization server.
	Issued bool
	// Alive ends when the token is revoked; nil means that it cannot be.
	Alive context.Context
	// Quota bounds what is done with the token; nil means that nothing does.
	Quota *Quota
}

// Gate identifies tokens. It is safe for concurrent use, but Watch must run once only.
type Gate struct {
	o     Options
	whole [sha256.Size]byte

	mu      sync.Mutex
	tokens  []liveToken // of the file, in its order
	exists  bool        // the file exists
	missing bool        // it did not exist at the last look; only reload uses it
	// seen is the state of the file when it was read last; nil forces a read.
	seen fs.FileInfo
	// said is the last error of reading the file, so that each is logged once.
	said string
}

// liveToken is a token of the file, with the context that ends with it. A token that stays in the file through a change
// keeps its context, and what it has used of its quota.
type liveToken struct {
	Token
	alive context.Context
	end   context.CancelFunc
	over  bool // its end was reported
	quota *Quota
}

// New reads the file. Errors are of code Invalid: the file cannot be read, or names an unknown profile. A file that
// does not exist may be created later.
func New(o Options) (*Gate, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Gate{o: o, whole: Digest(o.Whole)}
	if err := g.reloadTokens(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return g, nil
}

// Guarded reports whether requests need a token. They do as soon as a file of tokens exists, even an empty one.
func (g *Gate) Guarded() bool {
	if g.o.Whole != "" && !g.o.Optional || g.o.OAuth != nil {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.exists
}

// Grants reports whether any token is accepted at all, beside an optional one.
func (g *Gate) Grants() bool {
	if g.o.Whole != "" && !g.o.Optional || g.o.OAuth != nil {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.tokens) > 0
}

// Kinds lists which tokens are accepted: "whole" for Options.Whole, "file" for those of the file, "oauth" for access
// tokens of authorization servers. It is empty if requests need no token.
func (g *Gate) Kinds() []string {
	var out []string
	if g.o.Whole != "" && !g.o.Optional {
		out = append(out, "whole")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.exists {
		out = append(out, "file")
	}
	if g.o.OAuth != nil {
		out = append(out, "oauth")
	}
	return out
}

// wholePrincipal stands for every client that sends Options.Whole.
var wholePrincipal = Principal{Name: "the token for everything", Key: "whole"}

// Identify returns what a token grants to a request to a path. Errors have [ErrToken] in their chain if another token
// may help, are of code Denied if this one is good but not for this path, and Unavailable if that cannot be found out
// now.
func (g *Gate) Identify(ctx context.Context, secret, path string) (Grant, error) {
	if secret == "" {
		return Grant{}, refuseToken("no token was sent")
	}
	got := Digest(secret)
	if g.o.Whole != "" && subtle.ConstantTimeCompare(got[:], g.whole[:]) == 1 {
		return Grant{Principal: wholePrincipal}, nil
	}
	if h, ok := g.findToken(got); ok {
		if h.hasExpired(time.Now()) {
			return Grant{}, refuseToken("the token has expired")
		}
		return Grant{Principal: h.principalOf(), View: h.View, Expires: h.Expires, Alive: h.alive, Quota: h.quota}, nil
	}
	if g.o.OAuth != nil {
		return g.o.OAuth.verifyToken(ctx, secret, path)
	}
	return Grant{}, refuseToken("unknown or revoked token")
}

// findToken returns the token with this digest. It compares the digest with all of them, so that the time does not
// depend on which one matches.
func (g *Gate) findToken(got [sha256.Size]byte) (liveToken, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	which := -1
	for i := range g.tokens {
		which = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(got[:], g.tokens[i].Digest[:]), i, which)
	}
	if which < 0 {
		return liveToken{}, false
	}
	return g.tokens[which], true
}

// refuseToken returns an error with ErrToken in its chain.
func refuseToken(msg string) error {
	return &tool.Error{
		Code: tool.Denied, Op: "check token", Msg: msg, Hint: "send Authorization: Bearer and the token",
		Err: ErrToken,
	}
}

// lookEvery is how often the file is checked. A check of an unchanged file is one stat.
const lookEvery = time.Second

// Watch follows the file until ctx ends. A file that cannot be read, or has a mistake, changes nothing and is logged
// once; if the file is removed, all of its tokens end.
func (g *Gate) Watch(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			g.checkFile()
		}
	}
}

// checkFile reads the file if it changed, and ends tokens that have expired.
func (g *Gate) checkFile() {
	err := g.reloadTokens()
	said := ""
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		said = err.Error()
	}
	if said != g.said && said != "" {
		g.o.Logger.Error("the file of tokens cannot be read; the tokens read before stay valid", "error", err)
	}
	g.said = said
	g.expireTokens(time.Now())
}

// reloadTokens reads the file if it has changed. On an error the tokens stay as they were, except that the second
// fs.ErrNotExist in a row removes them. Only New and Watch call it, never at once.
func (g *Gate) reloadTokens() error {
	if g.o.File.Path == "" {
		return nil
	}
	info, err := os.Stat(g.o.File.Path)
	if err == nil && g.isUnchanged(info) {
		return nil
	}
	var tokens []Token
	if err == nil {
		tokens, err = g.o.File.Read()
	}
	if errors.Is(err, fs.ErrNotExist) {
		// Editors that replace a file remove it for a moment, so it must be missing twice in a row.
		if g.exists && g.missing {
			g.replaceTokens(nil, nil)
		}
		g.missing = true
		return err
	}
	if err != nil {
		return err
	}
	g.missing = false
	for _, t := range tokens {
		if t.View.Profile != "" && (g.o.HasProfile == nil || !g.o.HasProfile(t.View.Profile)) {
			return fmt.Errorf("%s: %w", g.o.File.Path, invalidTokens("token %q: there is no profile %q", t.Name,
				t.View.Profile))
		}
	}
	g.replaceTokens(tokens, info)
	return nil
}

// settled is how old a change must be before an unchanged modification time proves that nothing changed since: file
// systems round it to up to two seconds.
const settled = 3 * time.Second

// isUnchanged reports whether the file is the one that was read last.
func (g *Gate) isUnchanged(now fs.FileInfo) bool {
	return g.seen != nil && os.SameFile(g.seen, now) && g.seen.Size() == now.Size() &&
		g.seen.ModTime().Equal(now.ModTime()) && time.Since(now.ModTime()) > settled
}

// replaceTokens replaces the tokens of the file, and ends those that are gone. Tokens that stay keep their contexts. A
// token whose view changed counts as another one, see principalOf. Ended is called without the lock.
func (g *Gate) replaceTokens(tokens []Token, info fs.FileInfo) {
	now := make([]liveToken, 0, len(tokens))
	g.mu.Lock()
	before := make(map[Principal]liveToken, len(g.tokens))
	for _, h := range g.tokens {
		before[h.principalOf()] = h
	}
	for _, t := range tokens {
		h, ok := before[t.principalOf()]
		delete(before, t.principalOf())
		if !ok || h.over && !t.hasExpired(time.Now()) {
			h.alive, h.end = context.WithCancel(context.Background())
			h.over = false
		}
		if !ok {
			who, view := t.principalOf(), t.View
			h.quota = newQuota(t.Limits, func(kind string) {
				if g.o.Refused != nil {
					g.o.Refused(who, view, kind)
				}
			})
		}
		h.quota.setLimits(t.Limits)
		h.Token = t
		now = append(now, h)
	}
	g.tokens, g.seen, g.exists = now, info, true
	g.mu.Unlock()
	for who, h := range before {
		g.endToken(who, h)
	}
}

// expireTokens ends tokens that have expired.
func (g *Gate) expireTokens(now time.Time) {
	var over []liveToken
	g.mu.Lock()
	for i := range g.tokens {
		if h := &g.tokens[i]; !h.over && h.hasExpired(now) {
			h.over = true
			over = append(over, *h)
		}
	}
	g.mu.Unlock()
	for _, h := range over {
		g.endToken(h.principalOf(), h)
	}
}

// endToken ends what was begun with a token, and reports it.
func (g *Gate) endToken(who Principal, h liveToken) {
	g.o.Logger.Info("a token has ended", "who", who.Name)
	h.end()
	if g.o.Ended != nil {
		g.o.Ended(who.Key)
	}
}
