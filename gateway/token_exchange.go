package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"tooldex/internal/ssrf"
	"tooldex/tool"
)

// A server with oauth.exchange gets a token that an authorization server makes for it of the token with which the
// caller came (RFC 8693). The caller's own token is sent to that authorization server and to nobody else.

// The names of RFC 8693.
const (
	exchangeGrant   = "urn:ietf:params:oauth:grant-type:token-exchange"
	accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
	jwtType         = "urn:ietf:params:oauth:token-type:jwt"
)

// exchangedTokens are the tokens that were made for one user and one server. They are kept in memory until they expire.
type exchangedTokens struct {
	mu     sync.Mutex
	caller string // the token that the user came with last, for requests that belong to no call
	all    map[[sha256.Size]byte]exchangedToken
}

// exchangedToken is a token of a server, and when it is used no more.
type exchangedToken struct {
	text  string
	until time.Time
}

// Bounds of what is kept: a token is given up exchangeMargin before it expires, and one of unknown lifetime after
// exchangeUnknown.
const (
	exchangeMargin  = 10 * time.Second
	exchangeUnknown = time.Minute
	maxExchanged    = 50
)

// setCaller records the token that the user came with last. It does nothing for nil.
func (e *exchangedTokens) setCaller(token string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.caller = token
}

// exchanges reports whether the callers' tokens are exchanged for those of the server.
func (u *Upstream) exchanges() bool {
	return u.personal != nil && u.cfg.OAuth != nil && u.cfg.OAuth.Exchange != ""
}

// noCallerTokenError returns the error of a caller whose token is not one that can be exchanged.
func noCallerTokenError(server string) error {
	return &tool.Error{
		Code: tool.Denied, Op: "connect",
		Msg:  fmt.Sprintf("server %q is used with the access token of its caller, and this caller has none", server),
		Hint: "connect with a token of the authorization server, in place of one that tooldex made",
	}
}

// exchangeAdvice is the advice after the server refused a token that was made for it.
const exchangeAdvice = "the server does not accept the token that its authorization server made: check audience and scopes of its oauth"

// exchangeTokens returns the bearer of a user's connection, with the tokens in kept. For the listing of tools, which
// has no caller, tooldex gets a token as itself.
func (g *Gateway) exchangeTokens(kept *exchangedTokens, asItself bool) func(*expandedServer, *url.URL, *slog.Logger) (bearer,
	string, error,
) {
	return func(x *expandedServer, _ *url.URL, logger *slog.Logger) (bearer, string, error) {
		at, err := url.Parse(x.oauth.Exchange)
		if err != nil || at.Host == "" || at.Scheme != "https" && (at.Scheme != "http" || !ssrf.Loopback(at.Hostname())) {
			return nil, "", &tool.Error{
				Code: tool.Invalid, Op: "start server", Msg: "the oauth.exchange of the server is no address with https://",
				Hint: "give the token endpoint of the authorization server",
			}
		}
		client := loginClient(at, g.opts.outbound)
		client.CheckRedirect = func(*http.Request, []*http.Request) error { // the caller's token would go along
			return http.ErrUseLastResponse
		}
		e := &exchanger{x: x, kept: kept, client: client, logger: logger}
		if !asItself {
			e.caller = g.opts.Users.Token
		}
		return e, exchangeAdvice, nil
	}
}

// exchanger is the bearer of a session whose tokens are exchanged.
type exchanger struct {
	x      *expandedServer
	kept   *exchangedTokens
	client *http.Client
	logger *slog.Logger
	caller func(context.Context) string // the verified token of a request; nil for tooldex as itself
}

// accessToken implements bearer. Only requests of one user wait for each other. A token is used for those requests
// alone that came with the same token of the caller, since another may permit less.
func (e *exchanger) accessToken(ctx context.Context, refused string) (string, error) {
	e.kept.mu.Lock()
	defer e.kept.mu.Unlock()
	subject := ""
	if e.caller != nil {
		if subject = e.caller(ctx); subject == "" {
			subject = e.kept.caller
		}
		if subject == "" {
			return "", noCallerTokenError(e.x.name)
		}
	}
	key, now := sha256.Sum256([]byte(subject)), time.Now()
	if have := e.kept.all[key]; have.text != "" && have.text != refused && now.Before(have.until) {
		return have.text, nil
	}
	delete(e.kept.all, key)
	fresh, err := e.exchange(ctx, subject)
	if err != nil {
		return "", err
	}
	e.kept.keep(key, fresh, now)
	return fresh.AccessToken, nil
}

// keep keeps a token, and drops those that have expired. e.mu is held.
func (e *exchangedTokens) keep(key [sha256.Size]byte, fresh *oauth2.Token, now time.Time) {
	until := now.Add(exchangeUnknown)
	if !fresh.Expiry.IsZero() {
		until = fresh.Expiry.Add(-exchangeMargin)
	}
	for k, old := range e.all {
		if !now.Before(old.until) {
			delete(e.all, k)
		}
	}
	if e.all == nil || len(e.all) >= maxExchanged {
		e.all = map[[sha256.Size]byte]exchangedToken{}
	}
	e.all[key] = exchangedToken{fresh.AccessToken, until}
}

// exchange asks the authorization server for a token of the server: for the caller with this token, or for tooldex
// itself if it is "".
func (e *exchanger) exchange(ctx context.Context, subject string) (*oauth2.Token, error) {
	audience := e.x.oauth.Audience
	form := url.Values{"audience": {audience}}
	if audience == "" {
		audience = e.x.url
		form = url.Values{"resource": {audience}}
	}
	if subject != "" {
		form.Set("grant_type", exchangeGrant)
		form.Set("subject_token", subject)
		form.Set("subject_token_type", accessTokenType)
		form.Set("requested_token_type", accessTokenType)
	}
	c := clientcredentials.Config{
		ClientID: e.x.oauth.ClientID, ClientSecret: e.x.oauth.ClientSecret, TokenURL: e.x.oauth.Exchange,
		Scopes: e.x.oauth.Scopes, EndpointParams: form, AuthStyle: oauth2.AuthStyleInHeader,
	}
	ctx, stop := context.WithTimeout(ctx, refreshTimeout)
	defer stop()
	fresh, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, e.client))
	if err != nil {
		scrub := &redactor{}
		scrub.addSecrets(subject, e.x.oauth.ClientSecret)
		e.logger.Warn("no token was made for a server", "error", scrub.redactError(err))
		return nil, e.exchangeError(err)
	}
	e.x.redact.addSecrets(fresh.AccessToken)
	kind, _ := fresh.Extra("issued_token_type").(string)
	wrong := ""
	switch {
	case fresh.AccessToken == subject:
		wrong = "the caller's own token"
	case !strings.EqualFold(fresh.Type(), "bearer"), kind != "" && kind != accessTokenType && kind != jwtType:
		wrong = "a token that is no access token"
	case !isFor(fresh.AccessToken, audience):
		wrong = "a token for another audience"
	default:
		return fresh, nil
	}
	return nil, &tool.Error{
		Code: tool.Denied, Op: "exchange token",
		Msg:  fmt.Sprintf("the authorization server answered with %s, which server %q must not get", wrong, e.x.name),
		Hint: "the operator checks the audience of its oauth, and what the authorization server makes of it",
	}
}

// isFor reports whether a token may be for an audience. Only a JWT says which one it is for; its signature is for the
// server to check.
func isFor(token, audience string) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return true
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Audience json.RawMessage `json:"aud"`
	}
	if err != nil || json.Unmarshal(body, &claims) != nil {
		return true // it has points, and is no JWT
	}
	var one string
	var all []string
	if json.Unmarshal(claims.Audience, &one) == nil {
		all = []string{one}
	} else if json.Unmarshal(claims.Audience, &all) != nil {
		return false
	}
	return slices.ContainsFunc(all, func(a string) bool {
		return strings.TrimSuffix(a, "/") == strings.TrimSuffix(audience, "/")
	})
}

// errorCode is the form of the codes with which an authorization server refuses something.
var errorCode = regexp.MustCompile(`^[a-z_]{1,40}$`)

// exchangeError returns the error for the caller of a token that was not made. What else the authorization server says
// is for the log.
func (e *exchanger) exchangeError(err error) error {
	var answered *oauth2.RetrieveError
	if !errors.As(err, &answered) || answered.Response.StatusCode >= http.StatusInternalServerError ||
		answered.Response.StatusCode == http.StatusTooManyRequests {
		return &tool.Error{
			Code: tool.Unavailable, Op: "exchange token",
			Msg:  fmt.Sprintf("the authorization server of server %q does not exchange tokens at this moment", e.x.name),
			Hint: "try again later; nothing was called",
		}
	}
	code := answered.ErrorCode
	if !errorCode.MatchString(code) {
		code = fmt.Sprintf("HTTP status %d", answered.Response.StatusCode)
	}
	return &tool.Error{
		Code: tool.Denied, Op: "exchange token",
		Msg:  fmt.Sprintf("the authorization server gives you no token for server %q: %s", e.x.name, code),
		Hint: "ask the operator whether you may use the server; if nobody may, its oauth is wrong",
	}
}
