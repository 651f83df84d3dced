package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestTraces has the built command serve a client that traces, and a collector hear of the request and the search below
// it.
func TestTraces(t *testing.T) {
	var mu sync.Mutex
	var heard strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(&heard, r.URL.Path+"\n")
		_, _ = io.Copy(&heard, r.Body)
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_SERVICE_NAME", "desk")
	t.Run("serve", func(t *testing.T) { // at whose end the command ends, and sends what it has
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, serveHTTP(t, t.TempDir(),
			"--demo")+"/search?q=merge+secretly", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	})
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{
		"/v1/traces\n", `"desk"`, `"name":"GET /search"`, `"name":"search"`, `"parentSpanId":"00f067aa0ba902b7"`,
		`"traceId":"4bf92f3577b34da6a3ce929d0e0e4736"`,
	} {
		if !strings.Contains(heard.String(), want) {
			t.Errorf("the collector does not hear %s:\n%s", want, heard.String())
		}
	}
	if strings.Contains(heard.String(), "secretly") {
		t.Error("what is searched for is told")
	}
}

// TestBadTraceEnvironment holds that what cannot be read is told before anything starts.
func TestBadTraceEnvironment(t *testing.T) {
	cmd := exec.Command(builtCommand(t), "serve", "--demo", "--listen", "127.0.0.1:0")
	cmd.Env = append(cmd.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4317",
		"TOOLDEX_DATA_DIR="+filepath.Join(t.TempDir(), "data"))
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "OTEL_EXPORTER_OTLP_ENDPOINT") ||
		!strings.Contains(string(out), "hint: ") {
		t.Errorf("%v\n%s", err, out)
	}
}
