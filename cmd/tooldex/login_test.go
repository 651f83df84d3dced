package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// authority is an MCP server that wants a token, and the authorization server that gives them.
type authority struct {
	base string
	mcp  http.Handler

	mu       sync.Mutex
	redirect string            // of the client that registered
	codes    map[string]string // code to PKCE challenge
	access   string            // the token that is good now
	refresh  string            // the one that may be used next, once
	renewals int
	lifetime int // seconds
	refuses  bool
	problems []string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	s := newUpstream()
	a := &authority{
		codes: map[string]string{}, lifetime: 3600,
		mcp: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", a.serveMCP)
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, map[string]any{
			"resource":              a.base + "/mcp",
			"authorization_servers": []string{a.base}, "scopes_supported": []string{"tools"},
		})
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, map[string]any{
			"issuer": a.base, "authorization_endpoint": a.base + "/authorize", "token_endpoint": a.base + "/token",
			"registration_endpoint":    a.base + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none"},
			"grant_types_supported":                 []string{"authorization_code", "refresh_token"},
		})
	})
	mux.HandleFunc("POST /register", a.register)
	mux.HandleFunc("GET /authorize", a.authorize)
	mux.HandleFunc("POST /token", a.token)
	web := httptest.NewUnstartedServer(mux)
	a.base = "http://" + web.Listener.Addr().String()
	web.Start()
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return a
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (a *authority) serveMCP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	good := a.access != "" && r.Header.Get("Authorization") == "Bearer "+a.access
	a.mu.Unlock()
	if !good {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, a.base))
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	a.mcp.ServeHTTP(w, r)
}

func (a *authority) register(w http.ResponseWriter, r *http.Request) {
	var m struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || len(m.RedirectURIs) != 1 {
		http.Error(w, "bad registration", http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.redirect = m.RedirectURIs[0]
	answerJSON(w, http.StatusCreated, map[string]any{
		"client_id": "client-1", "redirect_uris": m.RedirectURIs,
		"token_endpoint_auth_method": "none",
	})
}

func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, want := range map[string]string{
		"client_id": "client-1", "redirect_uri": a.redirect, "response_type": "code", "code_challenge_method": "S256",
		"resource": a.base + "/mcp", "scope": "tools",
	} {
		if q.Get(name) != want {
			a.problems = append(a.problems, fmt.Sprintf("authorize has %s=%q, want %q", name, q.Get(name), want))
		}
	}
	back := url.Values{"state": {q.Get("state")}}
	if a.refuses {
		back.Set("error", "access_denied")
	} else {
		code := rand.Text()
		a.codes[code] = q.Get("code_challenge")
		back.Set("code", code)
	}
	http.Redirect(w, r, a.redirect+"?"+back.Encode(), http.StatusFound)
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch r.FormValue("grant_type") {
	case "authorization_code":
		challenge, ok := a.codes[r.FormValue("code")]
		delete(a.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != challenge || r.FormValue("client_id") != "client-1" {
			answerJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
	case "refresh_token":
		if r.FormValue("refresh_token") != a.refresh || a.refresh == "" {
			answerJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		a.renewals++
	}
	a.access, a.refresh = "access-"+rand.Text(), "refresh-"+rand.Text()
	answerJSON(w, http.StatusOK, map[string]any{
		"access_token": a.access, "token_type": "Bearer",
		"refresh_token": a.refresh, "expires_in": a.lifetime,
	})
}

// change runs f with the lock held.
func (a *authority) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// try runs the command and returns its exit code and all that it printed.
func try(t *testing.T, data string, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), builtCommand(t), append(args, "--log-level", "debug")...)
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+data)
	b, _ := cmd.CombinedOutput() // the exit code says it
	return cmd.ProcessState.ExitCode(), string(b)
}

// login runs servers login and visits the address that it prints, as a browser would.
func login(t *testing.T, data string) (code int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	cmd := exec.CommandContext(ctx, builtCommand(t), "servers", "login", "--no-browser", "secure", "--log-level",
		"debug")
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+data)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if !strings.HasPrefix(lines.Text(), "http") {
			continue
		}
		res, err := http.Get(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(res.Body)
		if res.Body.Close(); err != nil || !strings.Contains(string(page), "You can close this window") {
			t.Errorf("the browser shows %d %s", res.StatusCode, page)
		}
	}
	_ = cmd.Wait() // the exit code says it
	return cmd.ProcessState.ExitCode(), all.String()
}

// TestLogin logs in to a server that asks for it, and goes on when its token expires, is withdrawn, or cannot be
// renewed.
func TestLogin(t *testing.T) {
	a, data := newAuthority(t), t.TempDir()
	var said strings.Builder // all that was printed and logged
	want := func(code int, text string, args ...string) {
		t.Helper()
		got, out := try(t, data, args...)
		said.WriteString(out)
		if got != code || !strings.Contains(out, text) {
			t.Errorf("%v: exit code %d, want %d:\n%s", args, got, code, out)
		}
	}
	call := []string{"call", "secure/shout", "text=in"}
	want(0, "added server secure", "servers", "add", "--no-import", "secure", a.base+"/mcp")
	want(1, "tooldex servers login secure", "import")
	a.change(func() { a.refuses = true })
	if code, out := login(t, data); code != 1 || !strings.Contains(out, "refused: access_denied") {
		t.Errorf("a refused login: %d\n%s", code, out)
	}
	a.change(func() { a.refuses = false })
	code, out := login(t, data)
	said.WriteString(out)
	if code != 0 || !strings.Contains(out, "logged in to secure") {
		t.Fatalf("login: %d\n%s", code, out)
	}
	file := filepath.Join(data, "upstreams", "tokens", "secure.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the tokens are in %v, %v", info, err)
	}
	want(0, "5 added", "import")
	want(0, "IN", call...)
	renewals := func() (n int) {
		a.change(func() { n = a.renewals })
		return n
	}
	if n := renewals(); n != 0 {
		t.Errorf("%d renewals of a token that is good", n)
	}

	a.change(func() { a.access, a.lifetime = "withdrawn", 5 }) // what comes next counts as expired at once
	want(0, "IN", call...)
	before := renewals()
	want(0, "IN", call...)
	if after := renewals(); before == 0 || after == before {
		t.Errorf("%d renewals, then %d", before, after)
	}
	var refresh string
	a.change(func() { refresh = a.refresh })
	stored, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(stored), refresh) {
		t.Errorf("the new tokens are not stored: %v", err)
	}
	a.change(func() { a.access, a.refresh = "", "" })
	want(1, "tooldex servers login secure", call...)
	want(0, "", "servers", "logout", "secure")
	want(0, "no login", "servers", "logout", "secure")
	want(0, "removed", "servers", "remove", "secure")
	if _, err := os.Stat(filepath.Join(data, "upstreams", "secure.json")); !os.IsNotExist(err) {
		t.Errorf("what is kept of a removed server is there: %v", err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("after logout the file is there: %v", err)
	}
	want(1, "does not ask for a login", "servers", "login", "--no-browser", "open", "-c",
		writeServers(t, map[string]any{"open": map[string]any{"url": a.base + "/nowhere"}}))
	want(1, "is a command", "servers", "login", "local", "-c", writeServers(t,
		map[string]any{"local": map[string]any{"command": "x"}}))
	want(3, "no server", "servers", "login", "nobody")
	a.change(func() {
		for _, problem := range a.problems {
			t.Error(problem)
		}
	})
	if log := said.String(); strings.Contains(log, "access-") || strings.Contains(log, "refresh-") {
		t.Errorf("a token is printed or logged:\n%s", log)
	}
}
