package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestServersRegistry finds a real server in a registry of the published form, adds it and searches its tools. Nothing is
// added before somebody agrees.
func TestServersRegistry(t *testing.T) {
	withNpx(t)
	const entry = `{"server": {"name": "io.example/memory", "description": "A graph of what was learned", "version": "2026.7.4",
  "packages": [{"registryType": "npm", "identifier": "@modelcontextprotocol/server-memory", "transport": {"type": "stdio"},
    "environmentVariables": [{"name": "MEMORY_FILE_PATH", "description": "where the graph is kept", "isRequired": true}]}]},
  "_meta": {"io.modelcontextprotocol.registry/official": {"status": "active"}}}`
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v0.1/servers":
			fmt.Fprintf(w, `{"servers": [%s], "metadata": {"count": 1}}`, entry)
		case strings.HasPrefix(r.URL.Path, "/v0.1/servers/io.example/memory/"):
			fmt.Fprint(w, entry)
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), builtCommand(t), args...)
		cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+dir+"/data", "TOOLDEX_REGISTRY="+web.URL,
			"MEMORY_FILE_PATH="+dir+"/graph.json")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("servers", "search", "learned things"); err != nil || !strings.Contains(out, "io.example/memory") ||
		!strings.Contains(out, "npx -y @modelcontextprotocol/server-memory") {
		t.Error(out, err)
	}
	out, err := run("servers", "add", "io.example/memory@registry")
	if err == nil || !strings.Contains(out, "reads MEMORY_FILE_PATH from the environment (set): where the graph is kept") {
		t.Errorf("added without a question: %s %v", out, err)
	}
	if out, err := run("servers", "list"); err != nil || strings.Contains(out, "memory") {
		t.Errorf("stored without a question: %s %v", out, err)
	}
	if out, err := run("servers", "add", "io.example/other@registry", "--yes"); err == nil || !strings.Contains(out, "has no server") {
		t.Error(out, err)
	}
	if out, err := run("servers", "add", "io.example/memory@registry", "--yes", "-e", "NPM_CONFIG_FUND=false"); err != nil {
		t.Fatal(out, err)
	}
	if out, err := run("search", "what do we know about Anna"); err != nil || !strings.Contains(out, "search_nodes") {
		t.Error(out, err)
	}
}
