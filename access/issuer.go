package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"tooldex/internal/sanitize"
	"tooldex/internal/ssrf"
	"tooldex/tool"
)

// issuer is an authorization server: where its keys are, and which they are.
type issuer struct {
	name   string
	at     *url.URL
	client *http.Client

	asking  sync.Mutex // held while it is asked, so that it is asked once
	found   *metadata  // nil before it was asked
	tried   time.Time  // when its keys were asked for last, well or not
	trouble error      // of that
	lost    time.Time  // when it could not be found out last where it has what
	why     error      // of that

	mu   sync.Mutex // never held for long
	keys []jose.JSONWebKey
	read time.Time // when keys was
}

// metadata is what is read of RFC 8414.
type metadata struct {
	Issuer        string `json:"issuer"`
	JWKS          string `json:"jwks_uri"`
	Introspection string `json:"introspection_endpoint"`
}

// How issuers are asked.
const (
	askTimeout  = 10 * time.Second
	maxAnswer   = 1 << 20
	keysFresh   = 15 * time.Minute // after which keys are read again
	keysStale   = 24 * time.Hour   // after which ones that cannot be read again are not used any more
	keysBetween = 10 * time.Second // at least, whatever keys tokens name
	maxKeys     = 64
)

func newIssuer(name string, at *url.URL, allow ssrf.Allowed) *issuer {
	return &issuer{name: name, at: at, client: &http.Client{
		Transport:     ssrf.NewGuard(ssrf.Options{Home: at, Neighbours: true, Allow: allow}).Transport(),
		Timeout:       askTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// keysFor returns the keys that may have made a signature: that of the name, or without a name all of the kind. A name
// that is not known has the keys read again, but not often: anybody can make up names. Who has a known one never waits
// for that.
func (i *issuer) keysFor(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, error) {
	fit, age := i.matchingKeys(id, algorithm)
	if len(fit) > 0 && age < keysFresh {
		return fit, nil
	}
	if usable := len(fit) > 0 && age < keysStale; usable && !i.asking.TryLock() {
		return fit, nil
	} else if !usable {
		i.asking.Lock()
	}
	defer i.asking.Unlock()
	if time.Since(i.tried) >= keysBetween {
		i.trouble = i.refresh(context.WithoutCancel(ctx))
		i.tried = time.Now()
	}
	fit, age = i.matchingKeys(id, algorithm)
	switch {
	case age >= keysStale || i.trouble != nil && len(fit) == 0:
		return nil, &tool.Error{Code: tool.Unavailable, Op: "check token", Msg: "the authorization server " + i.name +
			" does not tell its keys", Hint: "try again later", Err: i.trouble}
	case len(fit) == 0:
		return nil, refuseToken("the token is signed with a key that its issuer does not have")
	}
	return fit, nil
}

// matchingKeys returns the known keys that fit, and how long they have been known.
func (i *issuer) matchingKeys(id, algorithm string) ([]jose.JSONWebKey, time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var out []jose.JSONWebKey
	for _, k := range i.keys {
		if (id == "" || k.KeyID == id) && (k.Algorithm == "" || k.Algorithm == algorithm) {
			out = append(out, k)
		}
	}
	return out, time.Since(i.read)
}

// refresh reads the keys. i.asking is held.
func (i *issuer) refresh(ctx context.Context) error {
	m, err := i.discover(ctx)
	if err != nil {
		return err
	}
	if _, err := parseAddress(m.JWKS); err != nil {
		return fmt.Errorf("jwks_uri %q %w", m.JWKS, err)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := i.getJSON(ctx, m.JWKS, &set); err != nil {
		return err
	}
	keys := make([]jose.JSONWebKey, 0, len(set.Keys))
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if json.Unmarshal(raw, &k) == nil && isVerificationKey(k) && len(keys) < maxKeys { // the others are of kinds that we do not take
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return errors.New("there is no key among its keys that verifies signatures")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys, i.read = keys, time.Now()
	return nil
}

// discover finds out where the issuer has what, and remembers it. i.asking is held.
func (i *issuer) discover(ctx context.Context) (*metadata, error) {
	switch {
	case i.found != nil:
		return i.found, nil
	case i.why != nil && time.Since(i.lost) < keysBetween:
		return nil, i.why
	}
	i.found, i.why = i.fetchMetadata(ctx)
	i.lost = time.Now()
	return i.found, i.why
}

// fetchMetadata asks for the issuer's documents. A path of the issuer goes behind the name of the document by RFC 8414, and
// before it by OpenID Connect.
func (i *issuer) fetchMetadata(ctx context.Context) (*metadata, error) {
	path := strings.TrimSuffix(i.at.Path, "/")
	var errs []error
	for _, try := range []string{
		"/.well-known/oauth-authorization-server" + path,
		path + "/.well-known/openid-configuration", "/.well-known/openid-configuration" + path,
	} {
		at := *i.at
		at.Path = try
		var m metadata
		if err := i.getJSON(ctx, at.String(), &m); err != nil {
			errs = append(errs, err)
			continue
		}
		if m.Issuer != i.name { // by RFC 8414 it must not be used then
			errs = append(errs, fmt.Errorf("%s is of the issuer %q", at.String(), sanitize.Clip(m.Issuer, maxName)))
			continue
		}
		return &m, nil
	}
	return nil, errors.Join(errs...)
}

// getJSON reads a document.
func (i *issuer) getJSON(ctx context.Context, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	return i.doJSON(req, into)
}

func (i *issuer) doJSON(req *http.Request, into any) error {
	res, err := i.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers with HTTP status %d", req.URL, res.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(b) > maxAnswer {
		return fmt.Errorf("%s answers with more than %d bytes", req.URL, maxAnswer)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s does not answer with JSON: %w", req.URL, err)
	}
	return nil
}
