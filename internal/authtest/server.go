package authtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The client that was registered by hand. Only it may exchange tokens.
const (
	ClientID     = "tooldex"
	ClientSecret = "the-secret-of-tooldex"
)

// Server is the authorization server. Do not change its fields but by Change.
type Server struct {
	URL string

	key *ecdsa.PrivateKey

	mu      sync.Mutex
	clients map[string]string // redirect URI by the ID of a client that registered itself
	codes   map[string]code
	refresh map[string]grant // what a refresh token is good for
	spent   map[string]grant // refresh tokens that were used
	revoked map[string]bool  // the IDs of logins, and of tokens, that were ended

	Lifetime  time.Duration   // of access tokens
	Down      bool            // it answers everything with status 503
	Audiences map[string]bool // those for which tokens are exchanged
	Answer    map[string]any  // members to put into the answer of an exchange in place of the right ones
	Asked     map[string]int  // how often it was asked, by the grant type
	Refuse    bool            // people do not agree to logins
	Subjects  []string        // the tokens that it was given for an exchange
}

// code is an authorization code.
type code struct {
	challenge, redirect string
	grant
}

// grant is what tokens are made of.
type grant struct{ login, person, client, audience, scope string }

// New starts a server, which ends with the test.
func New(t *testing.T) *Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		key: key, clients: map[string]string{}, codes: map[string]code{}, refresh: map[string]grant{},
		spent: map[string]grant{}, revoked: map[string]bool{}, Lifetime: time.Hour, Audiences: map[string]bool{},
		Asked: map[string]int{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("GET /keys", s.keys)
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		down := false
		s.Change(func() { down = s.Down })
		if down {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	s.URL = web.URL
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return s
}

// Change runs f alone with the server.
func (s *Server) Change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// RevokeAll ends all logins of a person, and their tokens.
func (s *Server) RevokeAll(person string) {
	s.Change(func() { s.revoked["person "+person] = true })
}

// Restore undoes RevokeAll for what is made from now on: the person may log in again.
func (s *Server) Restore(person string) {
	s.Change(func() {
		delete(s.revoked, "person "+person)
		for _, all := range []map[string]grant{s.refresh, s.spent} {
			for _, g := range all {
				if g.person == person {
					s.revoked[g.login] = true
				}
			}
		}
	})
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "jwks_uri": s.URL + "/keys",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"},
		"grant_types_supported":                 []string{"authorization_code", "refresh_token"},
	})
}

func (s *Server) keys(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: s.key.Public(), KeyID: "1", Use: "sig"}}})
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var m struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || len(m.RedirectURIs) != 1 {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_redirect_uri"})
		return
	}
	id := "client-" + rand.Text()
	s.Change(func() { s.clients[id] = m.RedirectURIs[0] })
	writeJSON(w, http.StatusCreated, map[string]any{
		"client_id": id, "redirect_uris": m.RedirectURIs, "token_endpoint_auth_method": "none",
	})
}

// authorize lets the person at the browser agree at once.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	person := "somebody"
	if c, err := r.Cookie("person"); err == nil {
		person = c.Value
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	redirect, known := s.clients[q.Get("client_id")]
	if q.Get("client_id") == ClientID {
		redirect, known = q.Get("redirect_uri"), true
	}
	if !known || redirect != q.Get("redirect_uri") || q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("resource") == "" {
		http.Error(w, "this is no request for an authorization", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if s.Refuse {
		back.Set("error", "access_denied")
	} else {
		one := rand.Text()
		s.codes[one] = code{q.Get("code_challenge"), redirect, grant{
			rand.Text(), person, q.Get("client_id"), q.Get("resource"), q.Get("scope"),
		}}
		back.Set("code", one)
	}
	http.Redirect(w, r, redirect+"?"+back.Encode(), http.StatusFound)
}

// token answers the token endpoint.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := r.FormValue("grant_type")
	s.Asked[kind[strings.LastIndex(kind, ":")+1:]]++
	refuse := func(code string) { writeJSON(w, http.StatusBadRequest, map[string]string{"error": code}) }
	id, secret, basic := r.BasicAuth()
	if basic && (id != ClientID || secret != ClientSecret) {
		writeJSON(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	switch kind {
	case "authorization_code":
		c, ok := s.codes[r.FormValue("code")]
		delete(s.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != c.challenge || r.FormValue("redirect_uri") != c.redirect ||
			!basic && r.FormValue("client_id") != c.client {
			refuse("invalid_grant")
			return
		}
		s.issue(w, c.grant, true, nil)
	case "refresh_token":
		was := r.FormValue("refresh_token")
		g, ok := s.refresh[was]
		delete(s.refresh, was)
		if used, again := s.spent[was]; again { // somebody has stolen it: the login ends for all
			s.revoked[used.login] = true
		}
		if !ok || s.ended(g) {
			refuse("invalid_grant")
			return
		}
		s.spent[was] = g
		s.issue(w, g, true, nil)
	case "client_credentials":
		s.exchange(w, r, basic, func() (grant, bool) { return grant{person: "the service", client: id}, true })
	case "urn:ietf:params:oauth:grant-type:token-exchange":
		s.Subjects = append(s.Subjects, r.FormValue("subject_token"))
		s.exchange(w, r, basic, func() (grant, bool) {
			c, ok := s.verify(r.FormValue("subject_token"))
			return grant{c.Login, c.Person, id, "", ""}, ok && r.FormValue("subject_token_type") == "urn:ietf:params:oauth:token-type:access_token"
		})
	default:
		refuse("unsupported_grant_type")
	}
}

// exchange makes a token for an audience. s.mu is held.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request, basic bool, whose func() (grant, bool)) {
	audience := r.FormValue("audience") + r.FormValue("resource")
	g, ok := whose()
	switch {
	case !basic:
		writeJSON(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
	case !ok:
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": "the subject token " + r.FormValue("subject_token")})
	case !s.Audiences[audience]:
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_target"})
	default:
		g.audience, g.scope = audience, r.FormValue("scope")
		s.issue(w, g, false, s.Answer)
	}
}

// issue answers with tokens. s.mu is held.
func (s *Server) issue(w http.ResponseWriter, g grant, refresh bool, instead map[string]any) {
	if g.login == "" {
		g.login = rand.Text()
	}
	out := map[string]any{
		"access_token": s.sign(g, s.Lifetime), "token_type": "Bearer", "expires_in": int(s.Lifetime.Seconds()),
		"issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
	}
	if refresh {
		next := "refresh-" + rand.Text()
		s.refresh[next] = g
		out["refresh_token"] = next
	}
	for name, value := range instead {
		out[name] = value
	}
	writeJSON(w, http.StatusOK, out)
}

// Claims are those of an access token.
type Claims struct {
	Issuer   string `json:"iss"`
	Person   string `json:"sub"`
	Audience string `json:"aud"`
	Client   string `json:"client_id"`
	Scope    string `json:"scope,omitempty"`
	Expires  int64  `json:"exp"`
	Login    string `json:"sid"`
	ID       string `json:"jti"`
}

// TokenFor returns an access token of a person for an audience, as a client of the person's would have got it.
func (s *Server) TokenFor(person, client, audience string, lifetime time.Duration) string {
	return s.sign(grant{rand.Text(), person, client, audience, ""}, lifetime)
}

func (s *Server) sign(g grant, lifetime time.Duration) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: s.key},
		(&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", "1"))
	if err != nil {
		panic(err)
	}
	b, _ := json.Marshal(Claims{
		s.URL, g.person, g.audience, g.client, g.scope, time.Now().Add(lifetime).Unix(), g.login, rand.Text(),
	})
	jws, err := signer.Sign(b)
	if err != nil {
		panic(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return token
}

// verify returns the claims of a token that is good at this moment. s.mu is held.
func (s *Server) verify(token string) (Claims, bool) {
	var c Claims
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return c, false
	}
	b, err := jws.Verify(s.key.Public())
	if err != nil || json.Unmarshal(b, &c) != nil {
		return c, false
	}
	return c, time.Now().Unix() < c.Expires && !s.revoked[c.ID] && !s.ended(grant{login: c.Login, person: c.Person})
}

func (s *Server) ended(g grant) bool { return s.revoked[g.login] || s.revoked["person "+g.person] }

// RevokeToken ends one access token.
func (s *Server) RevokeToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.verify(token); ok {
		s.revoked[c.ID] = true
	}
}

// Resource is an MCP server, or another, that accepts the tokens of a Server for itself.
type Resource struct {
	URL string

	mu   sync.Mutex
	seen []string // the tokens that it was sent
	last map[string]string
}

// Tokens returns the tokens that it was sent, in their order and each once.
func (r *Resource) Tokens() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Compact(slices.Clone(r.seen))
}

// LastOf returns the token that a person sent last.
func (r *Resource) LastOf(person string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[person]
}

// Protect serves what handler answers to requests with a good token for the address of the resource. handler gets who
// made the request.
func (s *Server) Protect(t *testing.T, handler func(person string, w http.ResponseWriter, r *http.Request)) *Resource {
	t.Helper()
	out := &Resource{last: map[string]string{}}
	mux := http.NewServeMux()
	web := httptest.NewUnstartedServer(mux)
	base := "http://" + web.Listener.Addr().String()
	out.URL = base + "/mcp"
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"resource": out.URL, "authorization_servers": []string{s.URL}})
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		c, good := s.verify(token)
		s.mu.Unlock()
		good = good && c.Audience == out.URL
		out.mu.Lock()
		if token != "" {
			out.seen = append(out.seen, token)
		}
		if good {
			out.last[c.Person] = token
		}
		out.mu.Unlock()
		if !good {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, base))
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler(c.Person, w, r)
	})
	web.Start()
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return out
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
