package access

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"tooldex/tool"
)

// authority is an authorization server as far as a resource server sees one.
type authority struct {
	t   *testing.T
	web *httptest.Server

	mu     sync.Mutex
	keys   []jose.JSONWebKey
	meta   map[string]any    // in place of what it says of itself; nil for the usual
	asked  map[string]int    // how often for which path
	opaque map[string]string // what it says of tokens
	down   bool
}

// testKeys are made once: RSA takes its time.
var testKeys = sync.OnceValue(func() map[string]crypto.Signer {
	must := func(s crypto.Signer, err error) crypto.Signer {
		if err != nil {
			panic(err)
		}
		return s
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	small, smallErr := rsa.GenerateKey(rand.Reader, 1024)
	other, otherErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ec, ecErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, ed, edErr := ed25519.GenerateKey(rand.Reader)
	return map[string]crypto.Signer{
		"rsa": must(rsaKey, err), "small": must(small, smallErr), "other": must(other, otherErr), "ec": must(ec, ecErr),
		"ed": must(ed, edErr),
	}
})

func newAuthority(t *testing.T, keys ...string) *authority {
	t.Helper()
	a := &authority{t: t, asked: map[string]int{}, opaque: map[string]string{}}
	for _, id := range keys {
		a.keys = append(a.keys, jose.JSONWebKey{Key: testKeys()[id].Public(), KeyID: id, Use: "sig"})
	}
	a.web = httptest.NewServer(a)
	t.Cleanup(a.web.Close)
	return a
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked[r.URL.Path]++
	var out any
	switch {
	case a.down:
		http.Error(w, "not now", http.StatusBadGateway)
		return
	case r.URL.Path == "/.well-known/oauth-authorization-server":
		out = a.meta
		if a.meta == nil {
			out = map[string]any{
				"issuer": a.web.URL, "jwks_uri": a.web.URL + "/keys",
				"introspection_endpoint": a.web.URL + "/introspect",
			}
		}
	case r.URL.Path == "/keys":
		out = jose.JSONWebKeySet{Keys: a.keys}
	case r.URL.Path == "/introspect":
		id, secret, _ := r.BasicAuth()
		if id != "tooldex" || secret != "s%3Acret" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		said, ok := a.opaque[r.FormValue("token")]
		if !ok {
			said = `{"active":false}`
		}
		out = json.RawMessage(said)
	default:
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (a *authority) times(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[path]
}

// with returns the claims of a good token, and changes some; nil takes one out.
func (a *authority) with(changes map[string]any) map[string]any {
	out := map[string]any{
		"iss": a.web.URL, "sub": "ana", "client_id": "desk", "aud": "https://tools.example.com/mcp",
		"exp": time.Now().Add(time.Hour).Unix(), "scope": "tools tools.read",
	}
	for k, v := range changes {
		if out[k] = v; v == nil {
			delete(out, k)
		}
	}
	return out
}

// sign makes a token.
func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, header map[jose.HeaderKey]any, claims any) string {
	t.Helper()
	o := (&jose.SignerOptions{}).WithType("at+jwt")
	for k, v := range header {
		o = o.WithHeader(k, v)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := s.Sign(b)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// raw makes a token out of what is signed by nobody.
func raw(header string, claims any, signature string) string {
	b, _ := json.Marshal(claims)
	enc := base64.RawURLEncoding
	return enc.EncodeToString([]byte(header)) + "." + enc.EncodeToString(b) + "." +
		enc.EncodeToString([]byte(signature))
}

func (a *authority) verifier(change func(*OAuthOptions)) *OAuth {
	a.t.Helper()
	o := OAuthOptions{Issuers: []string{a.web.URL}, Resource: "https://tools.example.com", Scopes: []string{"tools"}}
	if change != nil {
		change(&o)
	}
	v, err := NewOAuth(o)
	if err != nil {
		a.t.Fatal(err)
	}
	return v
}

type kid = map[jose.HeaderKey]any

// TestVerify is the table of tokens that are let in, and of those that are not.
func TestVerify(t *testing.T) {
	a := newAuthority(t, "rsa", "small", "ec", "ed")
	a.keys = append(a.keys, jose.JSONWebKey{Key: []byte(strings.Repeat("k", 32)), KeyID: "shared", Algorithm: "HS256"},
		jose.JSONWebKey{Key: testKeys()["other"].Public(), KeyID: "for encryption", Use: "enc"})
	v := a.verifier(nil)
	rsaKey, ec, ed, other := testKeys()["rsa"], testKeys()["ec"], testKeys()["ed"], testKeys()["other"]
	public, err := json.Marshal(jose.JSONWebKey{Key: rsaKey.Public()})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	good := sign(t, jose.ES256, ec, kid{"kid": "ec"}, a.with(nil))
	parts := strings.Split(good, ".")
	otherKey := jose.JSONWebKey{Key: other.Public(), KeyID: "ec"}
	signed := func(changes map[string]any) string { return sign(t, jose.ES256, ec, kid{"kid": "ec"}, a.with(changes)) }
	const unauthorized, forbidden = 401, 403
	for name, c := range map[string]struct {
		token  string
		status int // zero: it is let in
	}{
		"elliptic":     {good, 0},
		"RSA":          {sign(t, jose.RS256, rsaKey, kid{"kid": "rsa"}, a.with(nil)), 0},
		"RSA PSS":      {sign(t, jose.PS384, rsaKey, kid{"kid": "rsa"}, a.with(nil)), 0},
		"Edwards":      {sign(t, jose.EdDSA, ed, kid{"kid": "ed"}, a.with(nil)), 0},
		"no key named": {sign(t, jose.ES256, ec, nil, a.with(nil)), 0},
		"plain type":   {sign(t, jose.ES256, ec, kid{"kid": "ec", "typ": "JWT"}, a.with(nil)), 0},
		"several audiences": {signed(map[string]any{"aud": []string{
			"https://other.example.com",
			"https://tools.example.com/mcp",
		}}), 0},
		"for the whole service": {signed(map[string]any{"aud": "https://tools.example.com"}), 0},
		"with a slash":          {signed(map[string]any{"aud": "https://tools.example.com/"}), 0},
		"scopes as a list":      {signed(map[string]any{"scope": nil, "scp": []string{"tools"}}), 0},
		"expired a moment ago":  {signed(map[string]any{"exp": now.Add(-30 * time.Second).Unix()}), 0},
		"good in a moment":      {signed(map[string]any{"nbf": now.Add(30 * time.Second).Unix()}), 0},
		"nothing":               {"..", unauthorized},
		"no token":              {"a.b.c", unauthorized},
		"opaque":                {"opaque", unauthorized},
		"huge":                  {strings.Repeat("a", maxToken) + ".b.c", unauthorized},
		"huge and signed":       {signed(map[string]any{"pad": strings.Repeat("a", maxToken)}), unauthorized},
		"alg none":              {raw(`{"alg":"none","kid":"ec"}`, a.with(nil), ""), unauthorized},
		"alg None":              {raw(`{"alg":"None","kid":"ec"}`, a.with(nil), ""), unauthorized},
		"no alg":                {raw(`{"kid":"ec"}`, a.with(nil), "x"), unauthorized},
		"signature left out":    {parts[0] + "." + parts[1] + ".", unauthorized},
		"signature of another": {parts[0] + "." + parts[1] + "." +
			strings.Split(sign(t, jose.ES256, ec, kid{"kid": "ec"}, map[string]any{}), ".")[2], unauthorized},
		"claims exchanged": {parts[0] + "." + strings.Split(raw("{}",
			a.with(map[string]any{"sub": "eve"}), ""), ".")[1] + "." + parts[2], unauthorized},
		"HMAC by the public key": {sign(t, jose.HS256, public, kid{"kid": "rsa"}, a.with(nil)), unauthorized},
		"HMAC by a published key": {sign(t, jose.HS256, []byte(strings.Repeat("k", 32)),
			kid{"kid": "shared"}, a.with(nil)), unauthorized},
		"wrong key":             {sign(t, jose.ES256, other, kid{"kid": "ec"}, a.with(nil)), unauthorized},
		"wrong key, none named": {sign(t, jose.ES256, other, nil, a.with(nil)), unauthorized},
		"a key for encryption":  {sign(t, jose.ES256, other, kid{"kid": "for encryption"}, a.with(nil)), unauthorized},
		"a small key":           {sign(t, jose.RS256, testKeys()["small"], kid{"kid": "small"}, a.with(nil)), unauthorized},
		"a key of its own": {sign(t, jose.ES256, other, kid{"kid": "mine", "jwk": otherKey},
			a.with(nil)), unauthorized},
		"a key of its own, named as ours": {sign(t, jose.ES256, other, kid{"kid": "ec", "jwk": otherKey},
			a.with(nil)), unauthorized},
		"a key elsewhere": {sign(t, jose.ES256, other, kid{
			"kid": "x",
			"jku": "http://127.0.0.1:1/keys",
		}, a.with(nil)), unauthorized},
		"a path for a key":  {sign(t, jose.ES256, other, kid{"kid": "../../../../dev/null"}, a.with(nil)), unauthorized},
		"a query for a key": {sign(t, jose.ES256, other, kid{"kid": "x' UNION SELECT 'ec"}, a.with(nil)), unauthorized},
		"what we do not know is critical": {sign(t, jose.ES256, ec, kid{
			"kid": "ec", "crit": []string{"exp"},
			"exp": 1,
		}, a.with(nil)), unauthorized},
		"one who logs in": {sign(t, jose.ES256, ec, kid{"kid": "ec", "typ": "id_token+jwt"},
			a.with(nil)), unauthorized},
		"issuer of another":   {signed(map[string]any{"iss": "https://evil.example.com"}), unauthorized},
		"issuer with a slash": {signed(map[string]any{"iss": a.web.URL + "/"}), unauthorized},
		"no issuer":           {signed(map[string]any{"iss": nil}), unauthorized},
		"two issuers":         {signed(map[string]any{"iss": []string{a.web.URL, "x"}}), unauthorized},
		"for another service": {signed(map[string]any{"aud": "https://other.example.com"}), unauthorized},
		"for a service like ours": {
			signed(map[string]any{"aud": "https://tools.example.com.evil.example"}),
			unauthorized,
		},
		"for another path":    {signed(map[string]any{"aud": "https://tools.example.com/mc"}), unauthorized},
		"for another profile": {signed(map[string]any{"aud": "https://tools.example.com/mcp/files"}), unauthorized},
		"for a client":        {signed(map[string]any{"aud": "desk"}), unauthorized},
		"for nobody":          {signed(map[string]any{"aud": nil}), unauthorized},
		"for numbers":         {signed(map[string]any{"aud": []any{1, "https://tools.example.com"}}), unauthorized},
		"expired":             {signed(map[string]any{"exp": now.Add(-2 * time.Minute).Unix()}), unauthorized},
		"never expires":       {signed(map[string]any{"exp": nil}), unauthorized},
		"expires in words":    {signed(map[string]any{"exp": "tomorrow"}), unauthorized},
		"expires at no time":  {signed(map[string]any{"exp": -1}), unauthorized},
		"not yet":             {signed(map[string]any{"nbf": now.Add(time.Hour).Unix()}), unauthorized},
		"a scope too few":     {signed(map[string]any{"scope": "tools.read"}), forbidden},
		"a scope like it":     {signed(map[string]any{"scope": "toolsmith"}), forbidden},
		"no scope":            {signed(map[string]any{"scope": nil}), forbidden},
		"in the other form, for both parsers": {`{"payload":"` + parts[1] + `","protected":"` + parts[0] +
			`","signature":"` + parts[2] + `"}`, unauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			grant, err := v.verifyToken(t.Context(), c.token, "/mcp")
			status := 0
			switch {
			case errors.Is(err, ErrToken):
				status = unauthorized
			case tool.CodeOf(err) == tool.Denied && err != nil:
				status = forbidden
			case err != nil:
				t.Fatal(err)
			}
			if status != c.status {
				t.Errorf("%d: %v, want %d", status, err, c.status)
			}
			if err == nil && (grant.Principal.Name != "ana at "+a.web.URL || grant.Principal.Key == "" ||
				grant.Expires.IsZero()) {
				t.Errorf("%+v", grant)
			}
		})
	}
	if n := a.times("/keys"); n != 1 {
		t.Errorf("the keys were asked for %d times, whatever keys tokens name", n)
	}
}

// TestGrants maps scopes and claims to views.
func TestGrants(t *testing.T) {
	a := newAuthority(t, "ec")
	v := a.verifier(func(o *OAuthOptions) {
		o.Scopes = nil
		o.Grants = []string{
			"scope:tools.admin all", "claim:team:ops profile:ops",
			"claim:groups:readers profile:files read-only", "scope:tools.read read-only",
		}
	})
	for name, c := range map[string]struct {
		claims map[string]any
		want   View
		denied bool
	}{
		"everything": {map[string]any{"scope": "x tools.admin tools.read"}, View{}, false},
		"a claim":    {map[string]any{"scope": "", "team": "ops"}, View{Profile: "ops", ReadOnly: false}, false},
		"a list": {
			map[string]any{"scope": "", "groups": []string{"writers", "readers"}},
			View{Profile: "files", ReadOnly: true},
			false,
		},
		"a scope":         {map[string]any{"scope": "tools.read"}, View{Profile: "", ReadOnly: true}, false},
		"the first":       {map[string]any{"scope": "tools.read", "team": "ops"}, View{Profile: "ops", ReadOnly: false}, false},
		"a claim no text": {map[string]any{"scope": "", "team": map[string]any{"ops": true}}, View{}, true},
		"none":            {map[string]any{"scope": "mail"}, View{}, true},
	} {
		grant, err := v.verifyToken(t.Context(), sign(t, jose.ES256, testKeys()["ec"], kid{"kid": "ec"}, a.with(c.claims)),
			"/mcp")
		if denied := tool.CodeOf(err) == tool.Denied && !errors.Is(err, ErrToken) &&
			err != nil; denied != c.denied || err == nil && grant.View != c.want {
			t.Errorf("%s: %+v, %v", name, grant.View, err)
		}
	}
	for _, bad := range []string{
		"", "scope:a", "all", "scope: all", "claim:a all", "claim::a all",
		"scope:a all read-only", "scope:a profile:", "scope:a profile:b profile:c", "who:a all",
	} {
		if _, err := parseRule(bad); tool.CodeOf(err) != tool.Invalid || err == nil {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestAudienceOfAPath holds that a token for one endpoint is not good for another.
func TestAudienceOfAPath(t *testing.T) {
	v := newAuthority(t).verifier(nil)
	for _, c := range []struct {
		audience, path string
		want           bool
	}{
		{"https://tools.example.com", "/search", true},
		{"https://tools.example.com/mcp", "/mcp", true},
		{"https://tools.example.com/mcp", "/mcp/files", true},
		{"https://tools.example.com/mcp/files", "/mcp/files", true},
		{"https://tools.example.com/mcp/files", "/mcp", false},
		{"https://tools.example.com/mcp/files", "/mcp/filesystem", false},
		{"https://tools.example.com/mcp", "/mcpx", false},
		{"https://tools.example.com/mcp", "/search", false},
		{"https://tools.example.comx", "/mcp", false},
		{"http://tools.example.com", "/mcp", false},
		{"", "/mcp", false},
	} {
		if got := v.coversPath(c.audience, c.path); got != c.want {
			t.Errorf("%q at %q: %v", c.audience, c.path, got)
		}
	}
}

// TestPrincipals holds that renewed tokens are of the same principal, and nobody else's.
func TestPrincipals(t *testing.T) {
	a := newAuthority(t, "ec")
	v := a.verifier(nil)
	key := func(changes map[string]any) string {
		t.Helper()
		g, err := v.verifyToken(t.Context(), sign(t, jose.ES256, testKeys()["ec"], kid{"kid": "ec"}, a.with(changes)),
			"/mcp")
		if err != nil {
			t.Fatal(err)
		}
		return g.Principal.Key
	}
	first := key(nil)
	if key(map[string]any{"jti": "2", "scope": "tools more"}) != first {
		t.Error("a renewed token is somebody else's")
	}
	for name, other := range map[string]string{
		"another person":    key(map[string]any{"sub": "eve"}),
		"another program":   key(map[string]any{"client_id": "phone"}),
		"moved the border":  key(map[string]any{"sub": "an", "client_id": "adesk"}),
		"nobody":            key(map[string]any{"sub": nil, "client_id": nil}),
		"nobody, once more": key(map[string]any{"sub": nil, "client_id": nil, "jti": "2"}),
	} {
		if other == first {
			t.Errorf("%s is taken for the first", name)
		}
	}
	if key(map[string]any{"sub": nil, "client_id": nil, "jti": "3"}) == key(map[string]any{
		"sub": nil, "client_id": nil,
		"jti": "4",
	}) {
		t.Error("two that do not say who they are are taken for one")
	}
}

// TestKeysRotate has the issuer take new keys: a token by one is good after one more question, and made-up names are
// not asked for.
func TestKeysRotate(t *testing.T) {
	a := newAuthority(t, "ec")
	v := a.verifier(nil)
	verify := func(key string) error {
		_, err := v.verifyToken(t.Context(), sign(t, map[string]jose.SignatureAlgorithm{
			"ec":    jose.ES256,
			"other": jose.ES256, "ed": jose.EdDSA,
		}[key], testKeys()[key], kid{"kid": key}, a.with(nil)), "/mcp")
		return err
	}
	if err := verify("ec"); err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	a.keys = []jose.JSONWebKey{{Key: testKeys()["ed"].Public(), KeyID: "ed"}}
	a.mu.Unlock()
	for range 5 {
		if err := verify("ed"); !errors.Is(err, ErrToken) {
			t.Errorf("within %v a key is asked for again: %v", keysBetween, err)
		}
	}
	by := v.issuers[a.web.URL]
	later := func(d time.Duration) { // as if it had been d ago
		by.mu.Lock()
		defer by.mu.Unlock()
		by.tried, by.read = by.tried.Add(-d), by.read.Add(-d)
	}
	later(keysBetween)
	if err := verify("ed"); err != nil {
		t.Error(err)
	}
	if err := verify("ec"); !errors.Is(err, ErrToken) {
		t.Errorf("a key that was taken back is good still: %v", err)
	}
	if n := a.times("/keys"); n != 2 {
		t.Errorf("the keys were asked for %d times, want 2", n)
	}

	a.mu.Lock()
	a.down = true
	a.mu.Unlock()
	later(keysFresh)
	if err := verify("ed"); err != nil {
		t.Errorf("while the issuer is away, its keys are not good: %v", err)
	}
	later(keysStale)
	if err := verify("ed"); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("after a day without its issuer: %v", err)
	}
}

// TestIssuersThatLie have metadata of others, keys elsewhere, none, or too much of them.
func TestIssuersThatLie(t *testing.T) {
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
			Key:   testKeys()["ec"].Public(),
			KeyID: "ec",
		}}})
	}))
	defer private.Close()
	for name, change := range map[string]func(a *authority){
		"of another issuer": func(a *authority) {
			a.meta = map[string]any{"issuer": "https://x.example", "jwks_uri": a.web.URL + "/keys"}
		},
		"keys without TLS": func(a *authority) {
			a.meta = map[string]any{"issuer": a.web.URL, "jwks_uri": "http://keys.example.com/"}
		},
		"keys in a file": func(a *authority) {
			a.meta = map[string]any{"issuer": a.web.URL, "jwks_uri": "file:///etc/passwd"}
		},
		"keys at a cloud's": func(a *authority) {
			a.meta = map[string]any{"issuer": a.web.URL, "jwks_uri": "https://169.254.169.254/keys"}
		},
		"no keys":           func(a *authority) { a.keys = nil },
		"keys of two sides": func(a *authority) { a.keys = []jose.JSONWebKey{{Key: []byte("k"), KeyID: "ec"}} },
		"nothing":           func(a *authority) { a.down = true },
		"no JSON":           func(a *authority) { a.meta = map[string]any{"issuer": 7} },
		"too much of itself": func(a *authority) {
			a.meta = map[string]any{"issuer": a.web.URL, "pad": strings.Repeat("x", maxAnswer)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t, "ec")
			change(a)
			v := a.verifier(nil)
			token := sign(t, jose.ES256, testKeys()["ec"], kid{"kid": "ec"}, a.with(nil))
			for range 3 {
				if _, err := v.verifyToken(context.Background(), token, "/mcp"); tool.CodeOf(err) != tool.Unavailable ||
					errors.Is(err, ErrToken) {
					t.Errorf("%v", err)
				}
			}
			if n := a.times("/.well-known/oauth-authorization-server"); n > 1 {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

// TestIntrospection asks about tokens that say nothing.
func TestIntrospection(t *testing.T) {
	a := newAuthority(t)
	said := func(changes map[string]any) string {
		m := a.with(changes)
		if _, ok := m["active"]; !ok {
			m["active"] = true
		}
		b, _ := json.Marshal(m)
		return string(b)
	}
	v := a.verifier(func(o *OAuthOptions) { o.ClientID, o.ClientSecret = "tooldex", "s:cret" })
	for name, c := range map[string]struct {
		said string
		good bool
	}{
		"good":                {said(nil), true},
		"good, no issuer":     {said(map[string]any{"iss": nil}), true},
		"not active":          {said(map[string]any{"active": false}), false},
		"active in words":     {said(map[string]any{"active": "true"}), false},
		"for another service": {said(map[string]any{"aud": "https://other.example.com"}), false},
		"for nobody":          {said(map[string]any{"aud": nil}), false},
		"of another issuer":   {said(map[string]any{"iss": "https://other.example.com"}), false},
		"expired":             {said(map[string]any{"exp": 1000}), false},
		"nothing":             {`null`, false},
	} {
		token := "opaque " + name
		a.mu.Lock()
		a.opaque[token] = c.said
		a.mu.Unlock()
		before := a.times("/introspect")
		for range 3 {
			if _, err := v.verifyToken(t.Context(), token, "/mcp"); (err == nil) != c.good || err != nil &&
				!errors.Is(err, ErrToken) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := a.times("/introspect") - before; n != 1 {
			t.Errorf("%s: it was asked %d times", name, n)
		}
	}
	wrong := a.verifier(func(o *OAuthOptions) { o.ClientID, o.ClientSecret = "tooldex", "guess" })
	if _, err := wrong.verifyToken(t.Context(), "opaque good", "/mcp"); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("who may not ask hears %v", err)
	}
}

func TestNewOAuth(t *testing.T) {
	for name, o := range map[string]OAuthOptions{
		"nothing":     {},
		"no issuer":   {Resource: "https://tools.example.com"},
		"no resource": {Issuers: []string{"https://login.example.com"}},
		"resource without TLS": {
			Issuers:  []string{"https://login.example.com"},
			Resource: "http://tools.example.com",
		},
		"resource with a query": {
			Issuers:  []string{"https://login.example.com"},
			Resource: "https://tools.example.com/?a",
		},
		"issuer with a password": {
			Issuers:  []string{"https://a:b@login.example.com"},
			Resource: "https://tools.example.com",
		},
		"bad grant": {
			Issuers:  []string{"https://login.example.com"},
			Resource: "https://tools.example.com", Grants: []string{"x"},
		},
	} {
		if _, err := NewOAuth(o); tool.CodeOf(err) != tool.Invalid || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzClaims holds that whatever a token says is read without a panic, and that nothing is made of what is not of its
// type.
func FuzzClaims(f *testing.F) {
	f.Add([]byte(`{"iss":"a","aud":["b"],"exp":1767225600,"scope":"x y","scp":["z"]}`))
	f.Add([]byte(`{"exp":1e300,"aud":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, ok := parseClaims(b)
		if ok && (c.all["iss"] == nil) != (c.issuer == "") && c.all["iss"] != "" {
			t.Errorf("%s: issuer %q", b, c.issuer)
		}
		if ok && !c.expires.IsZero() && c.expires.Unix() < 1 {
			t.Errorf("%s: %v", b, c.expires)
		}
	})
}

// FuzzToken holds that nobody gets in without a signature.
func FuzzToken(f *testing.F) {
	f.Add("a.b.c", "/mcp")
	f.Add(raw(`{"alg":"none"}`, map[string]any{
		"iss": "https://login.example.com", "exp": 4e9,
		"aud": "https://tools.example.com",
	}, ""), "/mcp")
	v, err := NewOAuth(OAuthOptions{
		Issuers:  []string{"https://login.example.com"},
		Resource: "https://tools.example.com",
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, one := range v.issuers {
		one.found, one.keys, one.read, one.tried = &metadata{}, []jose.JSONWebKey{{
			Key:   testKeys()["ec"].Public(),
			KeyID: "ec",
		}}, time.Now(), time.Now()
	}
	f.Fuzz(func(t *testing.T, token, path string) {
		if _, err := v.verifyToken(context.Background(), token, path); err == nil {
			t.Errorf("%q is let in", token)
		}
	})
}
