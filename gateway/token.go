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

// storedGrant is the result of a login: tokens, and what it takes to renew them. It is stored in a file that only this
// user can read, and never logged.
type storedGrant struct {
	URL          string           `json:"url"` // of the server that it is for; another one never sees it
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

// tokenSource returns a server's access token. Several processes may share its file: each reads it again before it
// renews, since a refresh token often works only once. It is safe for concurrent use; callers wait while one renews.
type tokenSource struct {
	file   string
	url    string
	client *http.Client // of the authorization server
	scrub  *redactor
	logger *slog.Logger

	mu    sync.Mutex
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

// accessToken returns an access token, or "" if there was no login or it no longer works. refused is a token that the
// server did not accept, or "": it is not returned again, but renewed if possible. Failures are logged.
func (t *tokenSource) accessToken(ctx context.Context, refused string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readGrant()
	if t.grant == nil {
		return ""
	}
	if now := t.grant.Token; now.AccessToken != refused && now.Valid() {
		return now.AccessToken
	}
	if t.grant.Token.RefreshToken == "" {
		return exceptRefused(t.grant.Token.AccessToken, refused)
	}
	if err := t.renewToken(ctx); err != nil {
		before := t.grant.Token.AccessToken
		if t.readGrant(); t.grant != nil && t.grant.Token.AccessToken != before { // another process was faster
			return t.grant.Token.AccessToken
		}
		t.logger.Warn("the access token of a server could not be renewed", "error", t.scrub.redactError(err))
		return ""
	}
	return t.grant.Token.AccessToken
}

// exceptRefused returns token, or "" if it is the refused one.
func exceptRefused(token, refused string) string {
	if token == refused {
		return ""
	}
	return token
}

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
	t.grant = &next
	return saveGrant(t.file, &next)
}

// readGrant replaces t.grant by what the file holds, nil if nothing usable. A grant for another URL is not used: a
// server that moved has to be logged in to again. t.mu is held.
func (t *tokenSource) readGrant() {
	b, err := os.ReadFile(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		t.grant = nil
		return
	}
	g := &storedGrant{}
	if err == nil {
		err = json.Unmarshal(b, g)
	}
	if err != nil || g.Token == nil || g.URL != t.url {
		if err != nil {
			t.logger.Warn("the stored login of a server cannot be read", "error", err)
		}
		t.grant = nil
		return
	}
	if t.grant == nil || t.grant.Token.AccessToken != g.Token.AccessToken {
		t.scrub.addSecrets(g.Token.AccessToken, g.Token.RefreshToken, g.ClientSecret)
	}
	t.grant = g
}

// saveGrant replaces the file of a server's tokens, which only its owner may read.
func saveGrant(file string, g *storedGrant) error {
	b, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("encode tokens: %w", err)
	}
	return replaceFile(file, b)
}
