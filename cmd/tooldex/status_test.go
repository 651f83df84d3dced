package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tooldex/service"
	"tooldex/upstream"
)

// TestStatesAreVisible follows a server through its states, as servers list shows them while another process serves.
func TestStatesAreVisible(t *testing.T) {
	data := t.TempDir()
	up := upstreamCommand(t)
	config := writeServers(t, map[string]any{
		"probe":  map[string]any{"command": up},
		"broken": map[string]any{"command": up, "args": []string{"gone"}},
	})
	list := func() map[string]service.ServerLine {
		t.Helper()
		var lines []service.ServerLine
		if err := json.Unmarshal([]byte(runCommand(t, data, "servers", "list", "-o", "json", "-c", config)),
			&lines); err != nil {
			t.Fatal(err)
		}
		out := map[string]service.ServerLine{}
		for _, l := range lines {
			out[l.Name] = l
		}
		return out
	}
	if got := list(); got["probe"].State != upstream.Configured || got["broken"].State != upstream.Configured {
		t.Errorf("before anything ran: %+v", got)
	}
	c := connectStdio(t, data, "serve", "--stdio", "--mode", "search", "-c", config)
	for deadline := time.Now().Add(wait); ; {
		got := list()
		if got["probe"].State == upstream.Running && got["broken"].State == upstream.Failed &&
			strings.Contains(got["broken"].Error, "no licence found") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("while it is served: %+v", got)
		}
	}
	const need = "turn a text into capital letters"
	for deadline := time.Now().Add(wait); !strings.Contains(c.text("search_tools", map[string]any{"query": need}),
		"shout"); {
		if time.Now().After(deadline) {
			t.Fatal("the running server's tools are not found")
		}
	}
	if res := c.call("crash", nil); !res.IsError { // there is one server with tools: they keep their names
		t.Errorf("the crash answers %s", textOf(res))
	}
	if got := c.text("search_tools", map[string]any{"query": need}); !strings.Contains(got,
		"its server does not run now") {
		t.Errorf("the search does not tell that the server ended: %s", got)
	}
	if got := c.text("shout", map[string]any{"text": "up"}); got != "UP" {
		t.Errorf("started again, it answers %s", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if got := list(); got["probe"].State != upstream.Known || got["probe"].Tools != 5 ||
		got["broken"].State != upstream.Failed || got["broken"].FailedAt == nil {
		t.Errorf("after all: %+v", got)
	}
}

// TestFirstReading starts with a fresh data directory: until the servers were read, it is not ready, and a search says
// why it finds nothing.
func TestFirstReading(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test needs a shell")
	}
	data, gate := t.TempDir(), filepath.Join(t.TempDir(), "gate")
	script := fmt.Sprintf("while [ ! -e %s ]; do sleep 0.05; done; exec %s", gate, upstreamCommand(t))
	config := writeServers(t, map[string]any{
		"one": map[string]any{"command": "sh", "args": []string{"-c", script}},
		"two": map[string]any{"command": "sh", "args": []string{"-c", script}},
	})
	base := serveHTTP(t, data, "-c", config)
	if status, body := getText(t, base+"/readyz"); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, "2 servers are being read") {
		t.Errorf("/readyz answers %d %s", status, body)
	}
	if _, body := getText(t, base+"/search?q=shout"); !strings.Contains(body, "2 servers are still being read") {
		t.Errorf("the search answers %s", body)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(wait); ; {
		if status, _ := getText(t, base+"/readyz"); status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not become ready")
		}
	}
	if _, body := getText(t, base+"/search?q=turn+a+text+into+capital+letters"); !strings.Contains(body, "shout") {
		t.Errorf("the search answers %s", body)
	}
}

// getText returns the status and the body of an answer.
func getText(t *testing.T, url string) (int, string) {
	t.Helper()
	return askWith(t, url, "", http.MethodGet, "", "")
}
