package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/internal/pgtest"
)

// post sends a message of MCP on a connection of its own, as part of a session unless that is "". It returns the
// status, the session of the answer and the answer.
func post(t *testing.T, url, session, body string) (status int, opened, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	req.Close = true // the balancer chooses for each connection
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Mcp-Session-Id"), b.String()
}

// freeAddress returns an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // another takes it
	return l.Addr().String()
}

// TestBalancer runs HAProxy with the configuration of deploy/replicas before two replicas: sessions of older clients
// stay with the replica that opened them. One replica is killed: the other answers everything, and new sessions work.
func TestBalancer(t *testing.T) {
	program, err := exec.LookPath("haproxy")
	if err != nil {
		t.Skip("HAProxy is not installed (apt-get install haproxy)")
	}
	database := pgtest.Start(t)
	t.Setenv("TOOLDEX_STORE", database.URL("team"))
	runCommand(t, t.TempDir(), "import", manyDumps(t, 1)[0])
	replicas := []*mortal{startMortal(t, t.TempDir()), startMortal(t, t.TempDir())}
	for _, m := range replicas {
		t.Cleanup(func() {
			_ = m.Process.Kill() // it may be dead already
			_ = m.Wait()
		})
	}
	text, err := os.ReadFile("../../deploy/replicas/haproxy.cfg")
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	config := string(text)
	for old, next := range map[string]string{
		"bind :8733": "bind " + address,
		"server-template replica 10 tooldex:8733 resolvers names init-addr none": "server a " +
			strings.TrimPrefix(replicas[0].base, "http://") + "\n    server b " + strings.TrimPrefix(replicas[1].base, "http://"),
	} {
		if !strings.Contains(config, old) {
			t.Fatalf("the configuration has no %q", old)
		}
		config = strings.ReplaceAll(config, old, next)
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	write(t, file, config)
	balancer := exec.Command(program, "-f", file)
	var said bytes.Buffer
	balancer.Stdout, balancer.Stderr = &said, &said
	if err := balancer.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = balancer.Process.Kill()
		_ = balancer.Wait() // it was killed
		if t.Failed() {
			t.Log(said.String())
		}
	})
	base := "http://" + address
	eventually(t, "the balancer answers", func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return ask(t, http.MethodGet, base+"/readyz", "").status == http.StatusOK
	})
	const opening = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`
	open := func() string {
		status, session, answer := post(t, base+"/mcp", "", opening)
		if status != http.StatusOK || session == "" {
			t.Fatalf("a session: %d %q %s", status, session, answer)
		}
		_, _, _ = post(t, base+"/mcp", session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		return session
	}
	lists := func(session string) (int, string) {
		status, _, answer := post(t, base+"/mcp", session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		return status, answer
	}
	knows := func(m *mortal, session string) bool {
		status, _, _ := post(t, m.base+"/mcp", session, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		return status == http.StatusOK
	}
	opened := map[*mortal]int{}
	for range 8 {
		session := open()
		for range 4 {
			if status, answer := lists(session); status != http.StatusOK || !strings.Contains(answer, "list_invoice") {
				t.Fatalf("in its session: %d %s", status, answer)
			}
		}
		for _, m := range replicas {
			if knows(m, session) {
				opened[m]++
			}
		}
	}
	if opened[replicas[0]]+opened[replicas[1]] != 8 || opened[replicas[0]] == 0 || opened[replicas[1]] == 0 {
		t.Errorf("%d and %d sessions, want 8 on both together", opened[replicas[0]], opened[replicas[1]])
	}
	if err := replicas[0].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 20 { // also before the balancer has noticed
		if got := ask(t, http.MethodGet, base+"/search?q=list+invoices", ""); got.status != http.StatusOK {
			t.Errorf("a search after a replica was killed: %d %s", got.status, got.body)
		}
	}
	if status, answer := lists(open()); status != http.StatusOK {
		t.Errorf("a new session: %d %s", status, answer)
	}
}
