package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/pgtest"
)

// TestStartWithoutDatabase starts a replica while the database is away. It searches and calls with what it had, hides
// what was hidden, and says that it is not ready. When the database is back, it finds what was changed meanwhile.
// Another tenant, and a folder that has served nothing, do not start.
func TestStartWithoutDatabase(t *testing.T) {
	database := pgtest.Start(t)
	const password = "geheim-2290"
	address := func(tenant string) string {
		return strings.Replace(database.URL(tenant), "tooldex@", "tooldex:"+password+"@", 1)
	}
	up := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newUpstream() }, nil))
	defer up.Close()
	defer up.CloseClientConnections()
	t.Setenv("TOOLDEX_STORE", address("team"))
	dumps, dir := manyDumps(t, 1), t.TempDir()
	runCommand(t, t.TempDir(), "import", dumps[0])
	runCommand(t, t.TempDir(), "servers", "add", "far", up.URL)
	start := func() *mortal {
		m := startMortal(t, dir)
		t.Cleanup(func() {
			_ = m.Process.Kill() // it may be dead already
			_ = m.Wait()
		})
		return m
	}
	kill := func(m *mortal) {
		if err := m.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = m.Wait() // it was killed
	}
	status := func(m *mortal) (int, string) {
		got := ask(t, http.MethodGet, m.base+"/readyz", "")
		return got.status, got.body
	}
	finds := func(m *mortal, query, name string) bool {
		return strings.Contains(string(fetched(t, m.base+"/search?q="+query)), name)
	}
	first := start()
	if !finds(first, "always+fail+with+an+explanation", "refuse") {
		t.Fatal("the tool that is to be hidden is not found")
	}
	if code, answer := first.asks(t, `{"neverInclude": ["far/refuse"]}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	kept := filepath.Join(dir, "last-state.json")
	eventually(t, "what a start needs is kept", func() bool {
		b, err := os.ReadFile(kept)
		return err == nil && strings.Contains(string(b), "far") && strings.Contains(string(b), "Preferences\":{")
	})
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read what is kept: %v, %v", info.Mode(), err)
	}
	if b, err := os.ReadFile(kept); err != nil || strings.Contains(string(b), password) {
		t.Errorf("the password is in a file, or %v", err)
	}
	kill(first)
	database.Kill()

	second := start()
	if !finds(second, "capital+letters", "shout") {
		t.Error("nothing is found without the database")
	}
	if finds(second, "always+fail+with+an+explanation", "refuse") {
		t.Error("what was hidden is found without the database")
	}
	if got := ask(t, http.MethodPost, second.base+"/api/tools/far/refuse/call", `{"arguments": {}}`); got.status != http.StatusNotFound {
		t.Errorf("what was hidden is called without the database: %d %s", got.status, got.body)
	}
	if got := ask(t, http.MethodPost, second.base+"/api/tools/far/shout/call", `{"arguments": {"text": "loud"}}`); got.status != http.StatusOK ||
		!strings.Contains(got.body, "LOUD") {
		t.Errorf("a call without the database: %d %s", got.status, got.body)
	}
	if code, answer := status(second); code != http.StatusServiceUnavailable || !strings.Contains(answer, "earlier run") ||
		!strings.Contains(answer, "database") || strings.Contains(answer, password) {
		t.Errorf("readiness without the database: %d %s", code, answer)
	}
	if code, answer := second.asks(t, `{"maxTools": 3}`); code != http.StatusServiceUnavailable {
		t.Errorf("a change without the database: %d %s", code, answer)
	}
	if got := tried(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0"); got.code != exitFailed || strings.Contains(got.stderr, password) {
		t.Errorf("a folder that has served nothing: %+v", got)
	}
	t.Setenv("TOOLDEX_STORE", address("other"))
	if got := tried(t, dir, "serve", "--listen", "127.0.0.1:0"); got.code != exitFailed || strings.Contains(got.stderr, password) {
		t.Errorf("another tenant: %+v", got)
	}
	t.Setenv("TOOLDEX_STORE", address("team"))

	database.Restart()
	eventually(t, "it is ready", func() bool {
		code, _ := status(second)
		return code == http.StatusOK
	})
	runCommand(t, t.TempDir(), "import", dumps[1])
	eventually(t, "what was changed is found", func() bool { return finds(second, "workspace+1", "kind01") })
	eventually(t, "changes are taken", func() bool {
		code, _ := second.asks(t, `{"maxTools": 5}`)
		return code == http.StatusOK
	})
}
