package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// authorizationServer is the version of the authorization server that these tests were written against. It is one that
// the OpenID Foundation certifies.
const authorizationServer = "oidc-provider@9.13.3"

// startAuthorizationServer runs it and returns its issuer.
func startAuthorizationServer(t *testing.T) string {
	t.Helper()
	withNpx(t)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--prefix", dir,
		authorizationServer)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm cannot be reached, so there is no authorization server: %v\n%s", err, out)
	}
	script, err := os.ReadFile("testdata/oauth/server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "server.mjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "server.mjs"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the authorization server does not start: %v\n%s", err, stderr.String())
	}
	return strings.TrimSpace(line)
}

// tokenFor asks the authorization server for a token by hand.
func tokenFor(t *testing.T, issuer, client, scope, resource string) string {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {scope}, "resource": {resource}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, issuer+"/token",
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(client, client+"-secret")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct {
		Token string `json:"access_token"`
	}
	b, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(b, &out) != nil || out.Token == "" {
		t.Fatalf("no token for %s: %v %s", client, err, b)
	}
	return out.Token
}

// agree is a person with a browser, whom the authorization server sends on until there is a code.
func agree(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if req.URL.Path == "/callback" || len(via) > 9 {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL, nil)
	if err != nil {
		return nil, err
	}
	res, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	to, err := res.Location()
	if err != nil {
		b, _ := io.ReadAll(res.Body)
		return nil, fmt.Errorf("%w: %d %s", err, res.StatusCode, b)
	}
	q := to.Query()
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// TestOAuth has a certified authorization server give tokens, and clients of the SDK use them: found by themselves,
// from the answer to a request without a token on.
func TestOAuth(t *testing.T) {
	issuer := startAuthorizationServer(t)
	for name, value := range map[string]string{
		"TOOLDEX_OAUTH_ISSUERS": issuer, "TOOLDEX_OAUTH_SCOPES": "tools",
		"TOOLDEX_OAUTH_GRANTS": "scope:tools.read read-only,scope:tools profile:files",
		"TOOLDEX_OAUTH_CLIENT": "tooldex", "TOOLDEX_OAUTH_SECRET": "tooldex-secret",
	} {
		t.Setenv(name, value)
	}
	profiles := filepath.Join(t.TempDir(), "profiles.yaml")
	if err := os.WriteFile(profiles, []byte("profiles: {files: {servers: [filesystem]}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := serveHTTP(t, t.TempDir(), "--demo", "--mode", "full", "--profiles", profiles)
	const reads, writes, other = "filesystem__read_file", "filesystem__write_file", "github__list_commits"

	t.Run("by discovery", func(t *testing.T) {
		for _, path := range []string{"/mcp", "/mcp/files"} {
			handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
				RedirectURL:              "http://127.0.0.1:1/callback",
				PreregisteredClient:      &oauthex.ClientCredentials{ClientID: "browser"},
				AuthorizationCodeFetcher: agree,
			})
			if err != nil {
				t.Fatal(err)
			}
			names := toolNames(t, connectClient(t, &mcp.StreamableClientTransport{
				Endpoint:     base + path,
				OAuthHandler: handler, MaxRetries: -1,
			}, nil).ClientSession)
			if !slices.Contains(names, reads) || !slices.Contains(names, writes) || slices.Contains(names, other) {
				t.Errorf("%s lists %v", path, names)
			}
		}
	})

	get := func(token, path string) (int, string, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b), res.Header.Get("WWW-Authenticate")
	}
	whole := tokenFor(t, issuer, "desk", "tools", base)
	reader := tokenFor(t, issuer, "desk", "tools tools.read", base)
	for name, c := range map[string]struct {
		token, path string
		status      int
		holds       string // of the body or the challenge
	}{
		"no token": {"", "/api/tools", 401, `resource_metadata="` + base +
			`/.well-known/oauth-protected-resource"`},
		"for the service": {whole, "/api/tools?limit=500", 200, "filesystem/write_file"},
		"for the service, opaque": {
			tokenFor(t, issuer, "phone", "tools", base), "/api/tools?limit=500", 200,
			"filesystem/write_file",
		},
		"reading": {reader, "/api/tools?limit=500", 200, "filesystem/read_file"},
		"for MCP": {
			tokenFor(t, issuer, "desk", "tools", base+"/mcp"), "/api/tools", 401,
			"the token is for another service",
		},
		"for another service": {
			tokenFor(t, issuer, "desk", "tools", "https://other.example.com"), "/api/tools",
			401, "the token is for another service",
		},
		"the same, opaque": {
			tokenFor(t, issuer, "phone", "tools", "https://other.example.com"), "/api/tools",
			401, "the token is for another service",
		},
		"too little": {
			tokenFor(t, issuer, "desk", "tools.read", base), "/api/tools", 403,
			`error="insufficient_scope"`,
		},
		"a letter changed":          {whole[:len(whole)-3] + "AAA", "/api/tools", 401, `error="invalid_token"`},
		"invented":                  {"opaque", "/api/tools", 401, `error="invalid_token"`},
		"no metrics with a profile": {whole, "/api/metrics", 404, "cannot view activity"},
	} {
		status, body, challenge := get(c.token, c.path)
		if status != c.status || !strings.Contains(body+challenge, c.holds) {
			t.Errorf("%s: %d %s %s, want %d with %s", name, status, challenge, body, c.status, c.holds)
		}
		if status == http.StatusOK && strings.Contains(body, "github/") == (c.token != reader) {
			t.Errorf("%s sees other servers: %v", name, c.token != reader)
		}
	}
}
