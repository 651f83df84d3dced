package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"tooldex/internal/sanitize"
	"tooldex/internal/ssrf"
	"tooldex/tool"
)

// OAuthOptions configure an OAuth. Issuers and Resource are required.
type OAuthOptions struct {
	// Issuers are the authorization servers whose tokens are accepted, as the iss claim names them.
	Issuers []string
	// Resource is the address of the service, without /mcp. It must be the audience of tokens, so that a token for
	// another service is refused.
	Resource string
	// Scopes are those that each token must have.
	Scopes []string
	// Grants say what tokens are good for; the first that matches counts: "scope:tools.read read-only", "claim:team:ops
	// profile:ops". A token that none matches is refused. Without any Grants every token is good for everything.
	Grants []string
	// ClientID and ClientSecret identify this service to the authorization servers. With them, tokens that are no JWT
	// are introspected (RFC 7662); without them, such tokens are refused.
	ClientID, ClientSecret string
	// Skew is by how much clocks may differ; zero means a minute, a negative one none.
	Skew time.Duration
	// Allow lists private addresses at which authorization servers may be. All others are refused, because a token
	// names its issuer.
	Allow ssrf.Allowed
}

// OAuth verifies access tokens, as a resource server does. It is safe for concurrent use.
type OAuth struct {
	o       OAuthOptions
	base    *url.URL // Resource
	rules   []rule
	issuers map[string]*issuer
	asked   answers
}

// algorithms are the accepted signatures. None of them is symmetric: a public key must not verify what it could also
// have signed.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512,
	jose.EdDSA,
}

// NewOAuth returns a ready OAuth. It sends nothing yet. Errors are of code Invalid.
func NewOAuth(o OAuthOptions) (*OAuth, error) {
	if o.Skew == 0 {
		o.Skew = time.Minute
	}
	o.Skew = max(o.Skew, 0)
	v := &OAuth{o: o, issuers: map[string]*issuer{}}
	var err error
	if v.base, err = parseAddress(o.Resource); err != nil {
		return nil, &tool.Error{Code: tool.Invalid, Op: "configure oauth", Msg: fmt.Sprintf("the resource %q %v",
			o.Resource, err), Hint: "give the address at which clients reach the service, for example " +
			"https://tools.example.com"}
	}
	v.base.Path = strings.TrimSuffix(v.base.Path, "/")
	for _, name := range o.Issuers {
		at, err := parseAddress(name)
		if err != nil {
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "configure oauth",
				Msg:  fmt.Sprintf("the issuer %q %v", name, err),
				Hint: "give it as its tokens name it, for example https://login.example.com",
			}
		}
		// nothing is sent before the first token, so that the service starts without its issuers
		v.issuers[name] = newIssuer(name, at, o.Allow)
	}
	if len(v.issuers) == 0 {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "configure oauth", Msg: "there is no issuer",
			Hint: "name the authorization servers whose tokens are accepted",
		}
	}
	for _, text := range o.Grants {
		r, err := parseRule(text)
		if err != nil {
			return nil, err
		}
		v.rules = append(v.rules, r)
	}
	return v, nil
}

// Profiles returns the profiles that grants name, in their order and with repetitions.
func (v *OAuth) Profiles() []string {
	var out []string
	for _, r := range v.rules {
		if r.view.Profile != "" {
			out = append(out, r.view.Profile)
		}
	}
	return out
}

// parseAddress parses a URL, which must use TLS unless it names this machine.
func parseAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("is no plain address")
	case u.Scheme == "https", u.Scheme == "http" && ssrf.Loopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("does not begin with https://")
}

// maxToken is the length of the longest token that is parsed, in bytes.
const maxToken = 16 << 10

// verifyToken returns what an access token grants to a request to a path.
func (v *OAuth) verifyToken(ctx context.Context, token, path string) (Grant, error) {
	if len(token) > maxToken {
		return Grant{}, refuseToken("the token is too long")
	}
	var c *claims
	var err error
	// A JWT has three parts; anything else is opaque and must be introspected.
	if strings.Count(token, ".") == 2 {
		c, err = v.verifySignature(ctx, token)
	} else {
		c, err = v.introspectCached(ctx, token)
	}
	if err != nil {
		return Grant{}, err
	}
	// The claims are checked also after introspection, since an issuer may call a token active that is for another
	// service.
	if err := v.checkClaims(c, path, time.Now()); err != nil {
		return Grant{}, err
	}
	view, err := v.grantedView(c)
	return Grant{Principal: principalOf(c, token), View: view, Expires: c.expires.Add(v.o.Skew), Issued: true}, err
}

// verifySignature returns the claims of a token that one of the issuers signed. The unverified claims only choose the
// issuer; the result is parsed from the verified payload.
func (v *OAuth) verifySignature(ctx context.Context, token string) (*claims, error) {
	const bad = "the token is no JSON Web Token that we take"
	jws, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil || len(jws.Signatures) != 1 {
		return nil, refuseToken(bad)
	}
	// Only the key ID and the algorithm are read from the header: anybody can put keys, or the address of keys, there.
	header := jws.Signatures[0].Header
	if kind, _ := header.ExtraHeaders[jose.HeaderType].(string); !isAccessToken(kind) {
		return nil, refuseToken("the token is not an access token")
	}
	said, ok := parseClaims(jws.UnsafePayloadWithoutVerification())
	if !ok {
		return nil, refuseToken(bad)
	}
	by, known := v.issuers[said.issuer]
	if !known {
		return nil, refuseToken("tokens of this issuer are not accepted")
	}
	keys, err := by.keysFor(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return nil, err
	}
	// Without a key ID several keys may match; one that verifies is enough.
	for i := range keys {
		if payload, err := jws.Verify(&keys[i]); err == nil {
			if c, ok := parseClaims(payload); ok {
				return c, nil
			}
		}
	}
	return nil, refuseToken("the signature of the token is wrong")
}

// isAccessToken accepts the type of RFC 9068, and what servers write that do not follow it. The audience keeps ID
// tokens out.
func isAccessToken(kind string) bool {
	kind = strings.TrimPrefix(strings.ToLower(kind), "application/")
	return kind == "" || kind == "jwt" || kind == "at+jwt"
}

// checkClaims checks the audience, the times and the scopes. The issuer is known already: it signed the token or
// answered about it.
func (v *OAuth) checkClaims(c *claims, path string, now time.Time) error {
	switch {
	case c.expires.IsZero():
		return refuseToken("the token has no expiry")
	case !now.Before(c.expires.Add(v.o.Skew)):
		return refuseToken("the token has expired")
	case now.Add(v.o.Skew).Before(c.notBefore):
		return refuseToken("the token is not valid yet")
	case !slices.ContainsFunc(c.audience, func(a string) bool { return v.coversPath(a, path) }):
		return refuseToken("the token is for another service")
	}
	for _, scope := range v.o.Scopes {
		if !slices.Contains(c.scopes, scope) {
			return denyScope("the token lacks the scope " + scope)
		}
	}
	return nil
}

// coversPath reports whether a token for an audience is good at a path: the audience is the service as a whole, or the
// path lies at or below it.
func (v *OAuth) coversPath(audience, path string) bool {
	below, ok := strings.CutPrefix(strings.TrimSuffix(audience, "/"), strings.TrimSuffix(v.base.String(), "/"))
	return ok && (below == "" || below[0] == '/' && (path == below || strings.HasPrefix(path, below+"/")))
}

// grantedView returns the view of the first rule that matches the claims.
func (v *OAuth) grantedView(c *claims) (View, error) {
	if len(v.rules) == 0 {
		return View{}, nil
	}
	for _, r := range v.rules {
		if r.matchesClaims(c) {
			return r.view, nil
		}
	}
	return View{}, denyScope("no grant matches the token")
}

// denyScope returns the error of a good token that lacks a permission.
func denyScope(msg string) error {
	return &tool.Error{
		Code: tool.Denied, Op: "check token", Msg: msg,
		Hint: "request a token with the required scopes from the authorization server",
	}
}

// principalOf returns who an access token stands for: a person at a program. Renewed tokens stand for the same
// principal.
func principalOf(c *claims, token string) Principal {
	who := cmp.Or(c.subject, c.client)
	// The issuer is part of the key: subjects are unique only within one issuer.
	key := c.issuer + "\x00" + c.subject + "\x00" + c.client
	if who == "" {
		// a token without a subject and a client is a principal of its own
		who, key = "somebody", "\x00"+token
	}
	sum := sha256.Sum256([]byte(key))
	return Principal{
		Name: fmt.Sprintf("%s at %s", sanitize.Clip(who, maxName), c.issuer),
		Key:  "oauth:" + hex.EncodeToString(sum[:16]),
	}
}

// maxName bounds what a name adds to a line of the log, in bytes.
const maxName = 100
