package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
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

// issuer is an authorization server: its metadata and its keys, read when they are first needed. There are two locks so
// that requests with a known key never wait for the network.
type issuer struct {
	name   string
	at     *url.URL
	client *http.Client

	// asking guards the next fields, and is held while the issuer is asked, so that one request serves all that wait.
	asking  sync.Mutex
	found   *metadata // nil before it was read
	tried   time.Time // when its keys were last asked for, successfully or not
	trouble error     // the error of that
	// lost is when the metadata could last not be read, and why its error: requests meanwhile fail without asking.
	lost time.Time
	why  error // the error of that

	mu   sync.Mutex // never held for long
	keys []jose.JSONWebKey
	read time.Time // when keys was read
}

// metadata holds the members of RFC 8414 that are used.
type metadata struct {
	Issuer        string `json:"issuer"`
	JWKS          string `json:"jwks_uri"`
	Introspection string `json:"introspection_endpoint"`
}

// Limits on asking issuers. keysBetween is the least time between two requests for keys, since tokens may name any key.
const (
	askTimeout  = 10 * time.Second
	maxAnswer   = 1 << 20
	keysFresh   = 15 * time.Minute // after which keys are read again
	keysStale   = 24 * time.Hour   // after which keys that cannot be read again are dropped
	keysBetween = 10 * time.Second // at least, whatever keys tokens name
	maxKeys     = 64
)

// newIssuer returns an issuer that has not been asked yet.
func newIssuer(name string, at *url.URL, allow ssrf.Allowed) *issuer {
	return &issuer{name: name, at: at, client: &http.Client{
		Transport:     ssrf.NewGuard(ssrf.Options{Home: at, Neighbours: true, Allow: allow}).Transport(),
		Timeout:       askTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// keysFor returns the keys that may have made a signature: the one with the ID, or without an ID all of that algorithm.
// An unknown ID makes the keys be read again, but not often, since anybody can make up IDs. A request with a known ID
// never waits for that.
func (i *issuer) keysFor(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, error) {
	// Fresh keys answer at once. Otherwise one request reads them again, while others use the old ones as long as these
	// are not stale.
	fit, age := i.matchingKeys(id, algorithm)
	if len(fit) > 0 && age < keysFresh {
		return fit, nil
	}
	// While another request reads the keys, old ones still serve.
	if usable := len(fit) > 0 && age < keysStale; usable && !i.asking.TryLock() {
		return fit, nil
	} else if !usable {
		i.asking.Lock()
	}
	defer i.asking.Unlock()
	if time.Since(i.tried) >= keysBetween {
		// Others wait for this answer, so the end of one request must not cancel it.
		i.trouble = i.readKeys(context.WithoutCancel(ctx))
		i.tried = time.Now()
	}
	fit, age = i.matchingKeys(id, algorithm)
	switch {
	case age >= keysStale || i.trouble != nil && len(fit) == 0:
		return nil, &tool.Error{Code: tool.Unavailable, Op: "check token", Msg: "the authorization server " + i.name +
			" does not publish its keys", Hint: "try again later", Err: i.trouble}
	case len(fit) == 0:
		return nil, refuseToken("the token is signed with a key that its issuer does not have")
	}
	return fit, nil
}

// matchingKeys returns the known keys that match, and the age of all keys, which is very long before the first read.
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

// readKeys reads the keys. The caller holds i.asking.
func (i *issuer) readKeys(ctx context.Context) error {
	m, err := i.findMetadata(ctx)
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
		// Others are of kinds that are not accepted.
		if json.Unmarshal(raw, &k) == nil && isVerificationKey(k) && len(keys) < maxKeys {
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

// findMetadata reads the metadata unless it is known. The caller holds i.asking.
func (i *issuer) findMetadata(ctx context.Context) (*metadata, error) {
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

// fetchMetadata asks for the issuer's metadata. The path of the issuer follows the name of the document in RFC 8414,
// and precedes it in OpenID Connect.
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
		if m.Issuer != i.name { // RFC 8414, section 3.3: it must not be used then
			errs = append(errs, fmt.Errorf("%s is of the issuer %q", at.String(), sanitize.Clip(m.Issuer, maxName)))
			continue
		}
		return &m, nil
	}
	return nil, errors.Join(errs...)
}

// getJSON reads a JSON document.
func (i *issuer) getJSON(ctx context.Context, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	return i.doJSON(req, into)
}

// doJSON sends a request and decodes the JSON of its answer.
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

// minRSA is the size of the smallest RSA modulus that is accepted, in bits.
const minRSA = 2048

// isVerificationKey reports whether a key may verify signatures: a public key of an accepted kind, for that use.
func isVerificationKey(k jose.JSONWebKey) bool {
	if !k.Valid() || k.Use != "" && k.Use != "sig" {
		return false
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() >= minRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false // a private or a symmetric one
}
