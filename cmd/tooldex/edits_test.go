package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditsNeedTheToken holds that on a loopback address without a token of the configuration, only who can read the
// owner's files can add a server, and so have a command run; and that everything else stays open.
func TestEditsNeedTheToken(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	base := serveHTTP(t, data)
	own := ownToken(t, data)
	const server = `{"command": "touch", "args": ["/nowhere/at/all"]}`
	edits := []struct{ method, path, body string }{
		{"PUT", "/api/servers/evil", server},
		{"POST", "/api/servers/evil/try", server},
		{"POST", "/api/servers/evil/disable", ""},
		{"POST", "/api/servers/evil/enable", ""},
		{"POST", "/api/servers/evil/login", ""},
		{"POST", "/api/servers/evil/logout", ""},
		{"DELETE", "/api/servers/evil", ""},
	}
	for _, token := range []string{"", "wrong", strings.ToLower(own), own[:len(own)-1]} {
		for _, one := range edits {
			status, answer := askWith(t, base, token, one.method, one.path, one.body)
			if status != http.StatusUnauthorized || !strings.Contains(answer, "only be changed with a token") ||
				!strings.Contains(answer, filepath.Join(data, "token")) {
				t.Errorf("with %q %s %s answers %d: %s", token, one.method, one.path, status, answer)
			}
			if strings.Contains(answer, own) {
				t.Errorf("the answer has the token: %s", answer)
			}
		}
		for _, path := range []string{"/api/servers", "/api/tools", "/search?q=x"} {
			if status, answer := askWith(t, base, token, "GET", path, ""); status != http.StatusOK {
				t.Errorf("with %q %s answers %d: %s", token, path, status, answer)
			}
		}
	}
	if status, answer := askWith(t, base, "", "GET", "/api/servers/evil", ""); status != http.StatusNotFound {
		t.Errorf("a refused server answers %d: %s", status, answer)
	}
	for _, one := range edits {
		status, answer := askWith(t, base, own, one.method, one.path, one.body)
		// A server on standard input and output has no login.
		if want := strings.HasSuffix(one.path, "/login"); status != http.StatusOK && !want {
			t.Errorf("with the token %s %s answers %d: %s", one.method, one.path, status, answer)
		}
	}
}

// TestEditsBySetting holds what serve.edits and serve.requireToken say.
func TestEditsBySetting(t *testing.T) {
	const server = `{"command": "touch"}`
	for name, c := range map[string]struct {
		env         map[string]string
		token       string // own for the one in the data directory
		edit, reads int    // the status of a change, and of a list
	}{
		"open":               {map[string]string{"TOOLDEX_EDITS": "open"}, "", 200, 200},
		"off":                {map[string]string{"TOOLDEX_EDITS": "off"}, "own", 403, 200},
		"required, none":     {map[string]string{"TOOLDEX_REQUIRE_TOKEN": "true"}, "", 401, 401},
		"required, open":     {map[string]string{"TOOLDEX_REQUIRE_TOKEN": "true", "TOOLDEX_EDITS": "open"}, "", 401, 401},
		"required, wrong":    {map[string]string{"TOOLDEX_REQUIRE_TOKEN": "true"}, "wrong", 401, 401},
		"required":           {map[string]string{"TOOLDEX_REQUIRE_TOKEN": "true"}, "own", 200, 200},
		"given":              {map[string]string{"TOOLDEX_TOKEN": "s3cret"}, "s3cret", 200, 200},
		"given, without":     {map[string]string{"TOOLDEX_TOKEN": "s3cret"}, "", 401, 401},
		"given and off":      {map[string]string{"TOOLDEX_TOKEN": "s3cret", "TOOLDEX_EDITS": "off"}, "s3cret", 403, 200},
		"given and required": {map[string]string{"TOOLDEX_TOKEN": "s3cret", "TOOLDEX_REQUIRE_TOKEN": "1"}, "s3cret", 200, 200},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range c.env {
				t.Setenv(key, value)
			}
			data := t.TempDir()
			base := serveHTTP(t, data)
			if c.token == "own" {
				c.token = ownToken(t, data)
			}
			if status, answer := askWith(t, base, c.token, "PUT", "/api/servers/one", server); status != c.edit {
				t.Errorf("a change answers %d, want %d: %s", status, c.edit, answer)
			}
			if status, answer := askWith(t, base, c.token, "GET", "/api/servers", ""); status != c.reads {
				t.Errorf("a list answers %d, want %d: %s", status, c.reads, answer)
			}
			if _, err := os.Stat(filepath.Join(data, "token")); c.env["TOOLDEX_TOKEN"] != "" && err == nil {
				t.Error("a token is made beside the one that is given")
			}
		})
	}
}

// ownToken returns the owner's token of a data directory.
func ownToken(t *testing.T, data string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(data, "token"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// askWith sends a request with a token, "" for none, and returns the status and the answer.
func askWith(t *testing.T, base, token, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}
