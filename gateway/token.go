package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// bearer gives the access tokens that go with requests to a server. It is safe for concurrent use.
type bearer interface {
	// accessToken returns the token for a request, or "" if the request is to go without one. refused is a token that
	// the server did not accept, or "": it is not returned again. A request is not sent after an error, which is a
	// *tool.Error for who made the request.
	accessToken(ctx context.Context, refused string) (string, error)
}

// bearerError marks the error of a bearer on its way through the SDK.
type bearerError struct{ error }

func (e bearerError) Unwrap() error { return e.error }

// storedGrant is the result of a login: tokens, and what it takes to renew them. It is kept by a grantKeeper, and never
// logged.
type storedGrant struct {
	ID           string           `json:"id,omitempty"` // of the login; it stays when tokens are renewed
	URL          string           `json:"url"`          // of the server that it is for; another one never sees it
	ClientID     string           `json:"clientId"`
	ClientSecret string           `json:"clientSecret,omitempty"`
	TokenURL     string           `json:"tokenUrl"`
	AuthStyle    oauth2.AuthStyle `json:"authStyle,omitempty"`
	Token        *oauth2.Token    `json:"token"`
}

// oauthConfig returns the parameters for renewing the token.
func (g *storedGrant) oauthConfig() *oauth2.Config {
	return &oauth2.Config{
		ClientID: g.ClientID, ClientSecret: g.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.AuthStyle},
	}
}

// grantKeeper keeps the grant of one login, as text. Several processes may share what it keeps. It is safe for
// concurrent use.
type grantKeeper interface {
	// load returns the grant, or "" if there is none.
	load() (string, error)
	// replace keeps next in place of before, or nothing if next is "". It reports false, and changes nothing, if the
	// login was ended or made anew meanwhile.
	replace(before, next string) (bool, error)
}

// fileGrant keeps the grant of a login that all users share, in a file. Whoever writes it last wins.
type fileGrant string

func (f fileGrant) load() (string, error) {
	b, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}

func (f fileGrant) replace(_, next string) (bool, error) {
	return true, replaceFile(string(f), []byte(next))
}

// tokenSource is the bearer of a login. Several processes may share the grant: each reads it again before it renews,
// since a refresh token often works only once. Callers wait while one renews.
type tokenSource struct {
	keeper grantKeeper
	url    string
	client *http.Client // of the authorization server
	scrub  *redactor
	logger *slog.Logger
	// ended returns the error for a user whose login does not work, and reports whether the authorization server could
	// not be reached. Nil is for a login that all users share: requests go without a token then, and the server's
	// refusal says what to do.
	ended func(unreachable bool) error

	mu    sync.Locker  // of all sources of the same grant in this process
	text  string       // of grant, as it is kept
	grant *storedGrant // as last read; nil if there is none
}

// refreshTimeout bounds one request to the authorization server.
const refreshTimeout = 30 * time.Second

// tokenFile returns the file in which a server's grant is stored, or "" if there is no folder for it.
func tokenFile(dir, server string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "tokens", featureFileName(server))
}

// accessToken implements bearer. Failures are logged.
func (t *tokenSource) accessToken(ctx context.Context, refused string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readGrant()
	if t.grant == nil {
		return "", t.failure(false)
	}
	now := t.grant.Token
	if now.AccessToken != refused && (now.Valid() || now.RefreshToken == "") {
		return now.AccessToken, nil
	}
	var err error
	if now.RefreshToken != "" {
		if err = t.renewToken(ctx); err == nil {
			return t.grant.Token.AccessToken, nil
		}
		if t.readGrant(); t.grant != nil && t.grant.Token.AccessToken != now.AccessToken { // another process was faster
			return t.grant.Token.AccessToken, nil
		}
		t.logger.Warn("the access token of a server could not be renewed", "error", t.scrub.redactError(err))
	}
	return "", t.giveUp(err)
}

// failure returns the error of a login that does not work, nil for one that all users share.
func (t *tokenSource) failure(unreachable bool) error {
	if t.ended == nil {
		return nil
	}
	return t.ended(unreachable)
}

// giveUp returns the error of a token that was not renewed because of err, or that cannot be. A user's login that the
// authorization server has ended is forgotten, so that the next call asks for another. t.mu is held.
func (t *tokenSource) giveUp(err error) error {
	if t.ended == nil || t.grant == nil {
		return t.failure(false)
	}
	var answered *oauth2.RetrieveError
	if err != nil && (!errors.As(err, &answered) || answered.Response.StatusCode >= http.StatusInternalServerError ||
		answered.Response.StatusCode == http.StatusTooManyRequests) {
		return t.failure(true)
	}
	if _, err := t.keeper.replace(t.text, ""); err != nil {
		t.logger.Warn("a login that has ended could not be removed", "error", err)
	}
	return t.failure(false)
}

// errGrantGone is the error of a renewal during which the login was ended or made anew.
var errGrantGone = errors.New("the login was changed meanwhile")

// renewToken exchanges the refresh token and stores the result. t.mu is held. The exchange continues after ctx ends,
// since the old refresh token may be spent by then.
func (t *tokenSource) renewToken(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout) // what was exchanged must be stored
	defer stop()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, t.client)
	fresh, err := t.grant.oauthConfig().TokenSource(ctx,
		&oauth2.Token{RefreshToken: t.grant.Token.RefreshToken}).Token()
	if err != nil {
		return err
	}
	t.scrub.addSecrets(fresh.AccessToken, fresh.RefreshToken)
	next := *t.grant
	next.Token = fresh
	text, err := next.encode()
	if err != nil {
		return err
	}
	kept, err := t.keeper.replace(t.text, text)
	if err == nil && !kept {
		err = errGrantGone
	}
	if err == nil {
		t.grant, t.text = &next, text
	}
	return err
}

// readGrant replaces t.grant by what is kept, nil if nothing usable. A grant for another URL is not used: a server that
// moved has to be logged in to again. t.mu is held.
func (t *tokenSource) readGrant() {
	text, err := t.keeper.load()
	if err == nil && text == "" {
		t.grant, t.text = nil, ""
		return
	}
	g := &storedGrant{}
	if err == nil {
		err = json.Unmarshal([]byte(text), g)
	}
	if err != nil || g.Token == nil || g.URL != t.url {
		if err != nil {
			t.logger.Warn("the stored login of a server cannot be read", "error", err)
		}
		t.grant, t.text = nil, ""
		return
	}
	if t.grant == nil || t.grant.Token.AccessToken != g.Token.AccessToken {
		t.scrub.addSecrets(g.Token.AccessToken, g.Token.RefreshToken, g.ClientSecret)
	}
	t.grant, t.text = g, text
}

// encode returns the grant as it is kept.
func (g *storedGrant) encode() (string, error) {
	b, err := json.Marshal(g)
	if err != nil {
		return "", fmt.Errorf("encode tokens: %w", err)
	}
	return string(b), nil
}
