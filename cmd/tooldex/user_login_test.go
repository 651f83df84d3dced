package main

import (
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/authtest"
)

// personalServer configures a server to which each user logs in.
func personalServer(t *testing.T) (*authtest.Server, *authtest.Resource) {
	t.Helper()
	s := newUpstream()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	as := authtest.New(t)
	secure := as.Protect(t, func(_ string, w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) })
	t.Setenv("TOOLDEX_CONFIG", writeServers(t, map[string]any{"secure": map[string]any{
		"url": secure.URL, "oauth": map[string]any{"perUser": true},
	}}))
	return as, secure
}

// TestLoginForOneself logs in by the command to a server to which each user does, and wants the tokens to be encrypted.
func TestLoginForOneself(t *testing.T) {
	as, secure := personalServer(t)
	data := t.TempDir()
	want := func(code int, text string, args ...string) {
		t.Helper()
		if got, out := try(t, data, args...); got != code || !strings.Contains(out, text) || strings.Contains(out, "refresh-") {
			t.Errorf("%v: exit code %d, want %d:\n%s", args, got, code, out)
		}
	}
	want(1, "none are kept here", "servers", "login", "--no-browser", "secure")
	t.Setenv("TOOLDEX_CREDENTIALS_KEY", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	want(1, "tooldex servers login secure", "import")
	if code, out := login(t, data); code != 0 || !strings.Contains(out, "logged in to secure") {
		t.Fatalf("login: %d\n%s", code, out)
	}
	want(0, "5 added", "import")
	want(0, "IN", "call", "secure/shout", "text=in")
	if raw, err := os.ReadFile(filepath.Join(data, "credentials.json")); err != nil || strings.Contains(string(raw), secure.LastOf("somebody")) {
		t.Errorf("the tokens are kept as %s, %v", raw, err)
	}
	if files, err := filepath.Glob(filepath.Join(data, "upstreams", "tokens", "*")); err != nil || len(files) > 0 {
		t.Errorf("the tokens are in %v, %v", files, err)
	}
	as.RevokeAll("somebody")
	want(1, "tooldex servers login secure", "call", "secure/shout", "text=in")
	as.Restore("somebody")
	if code, out := login(t, data); code != 0 {
		t.Fatalf("login: %d\n%s", code, out)
	}
	want(0, "IN", "call", "secure/shout", "text=in")
	want(0, "", "servers", "logout", "secure")
	want(0, "no login", "servers", "logout", "secure")
	want(1, "tooldex servers login secure", "call", "secure/shout", "text=in")
}

// TestLoginPage logs in at the page of the panel in a real browser, which is asked for the token, sent to the
// authorization server, and back.
func TestLoginPage(t *testing.T) {
	b := chromium(t)
	personalServer(t)
	t.Setenv("TOOLDEX_CREDENTIALS_KEY", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	t.Setenv("TOOLDEX_TOKEN", "s3cret")
	base := serveHTTP(t, t.TempDir())
	p := b.open(t, base+"/#/login?server=secure")
	p.until(one("dialog label", "TOOLDEX_TOKEN"))
	p.fill("dialog input", "s3cret")
	p.press("Enter")
	p.until(one("h2", "Log in to secure"))
	p.click("button.primary", "Log in")
	p.until(`document.body.innerText.includes('You are logged in to secure.')`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/credentials", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer s3cret")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(body), `"stored":true`) {
		t.Errorf("after the login there is %s, %v", body, err)
	}
	p.visit(base + "/#/login?server=nobody")
	p.until(`document.body.innerText.includes('No such server takes logins')`)
}
