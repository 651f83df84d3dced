package access

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"tooldex/tool"
)

// answers caches what issuers answered about tokens, by digest. The zero value is ready, and safe for concurrent use.
type answers struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]said
}

// said is one cached answer.
type said struct {
	claims *claims // nil if the token is not good
	until  time.Time
}

// An issuer's answer about a token is cached for a moment, so that not every request asks. A token that the issuer
// revokes stays good for that long here. maxSaid bounds the answers that are kept.
const (
	believed = 30 * time.Second
	maxSaid  = 4096
)

// freshAnswer returns a cached answer that is still fresh.
func (a *answers) freshAnswer(key [sha256.Size]byte, now time.Time) (said, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.all[key]
	return s, ok && now.Before(s.until)
}

// keepAnswer caches an answer, and drops old ones if there are too many.
func (a *answers) keepAnswer(key [sha256.Size]byte, s said, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.all) >= maxSaid {
		for k, old := range a.all {
			if !now.Before(old.until) {
				delete(a.all, k)
			}
		}
		if len(a.all) >= maxSaid {
			clear(a.all)
		}
	}
	if a.all == nil {
		a.all = map[[sha256.Size]byte]said{}
	}
	a.all[key] = s
}

// introspectCached returns the claims of an opaque token, from the cache or from the first issuer that knows it. A
// refusal is cached only if every issuer answered; an issuer that fails makes the error Unavailable.
func (v *OAuth) introspectCached(ctx context.Context, token string) (*claims, error) {
	none := refuseToken("unknown or revoked token")
	if v.o.ClientID == "" {
		return nil, none
	}
	key, now := Digest(token), time.Now()
	if s, ok := v.asked.freshAnswer(key, now); ok {
		if s.claims == nil {
			return nil, none
		}
		return s.claims, nil
	}
	var trouble error
	for _, name := range slices.Sorted(maps.Keys(v.issuers)) {
		c, err := v.issuers[name].askAbout(ctx, token, v.o.ClientID, v.o.ClientSecret)
		if err != nil {
			trouble = err
			continue
		}
		if c != nil {
			v.asked.keepAnswer(key, said{c, now.Add(believed)}, now)
			return c, nil
		}
	}
	// The issuer that failed might have accepted the token, so this is no refusal, and not cached.
	if trouble != nil {
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "check token",
			Msg: "the authorization server did not answer about the token", Hint: "try again later", Err: trouble,
		}
	}
	v.asked.keepAnswer(key, said{nil, now.Add(believed)}, now)
	return nil, none
}

// askAbout asks the issuer about a token (RFC 7662). It returns nil if the token is not good.
func (i *issuer) askAbout(ctx context.Context, token, id, secret string) (*claims, error) {
	i.asking.Lock()
	m, err := i.findMetadata(context.WithoutCancel(ctx))
	i.asking.Unlock()
	if err != nil {
		return nil, err
	}
	if _, err := parseAddress(m.Introspection); err != nil {
		return nil, fmt.Errorf("introspection_endpoint %q %w", m.Introspection, err)
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.Introspection, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
	var raw json.RawMessage
	if err := i.doJSON(req, &raw); err != nil {
		return nil, err
	}
	c, ok := parseClaims(raw)
	if !ok || c.all["active"] != true || c.issuer != "" && c.issuer != i.name {
		return nil, nil
	}
	c.issuer = i.name
	return c, nil
}
