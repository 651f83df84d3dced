package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// remoteModel speaks the two calls of Ollama's API that embedding needs: a text about weather points one way, any other text
// another. It counts the texts that it was given.
type remoteModel struct{ texts atomic.Int64 }

func (m *remoteModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/tags":
		_ = json.NewEncoder(w).Encode(map[string]any{"models": []map[string]any{{"name": "tiny:latest", "model": "tiny:latest", "digest": "abc123"}}})
	case "/api/embed":
		var ask struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.texts.Add(int64(len(ask.Input)))
		out := make([][]float64, len(ask.Input))
		for i, text := range ask.Input {
			out[i] = []float64{.2, 1, 0}
			if text = strings.ToLower(text); strings.Contains(text, "umbrella") || strings.Contains(text, "forecast") {
				out[i] = []float64{1, .1, 0}
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "tiny", "embeddings": out})
	default:
		http.NotFound(w, r)
	}
}

// TestRemoteEmbedder imports and searches with a model behind Ollama's API, and without it once it is gone.
func TestRemoteEmbedder(t *testing.T) {
	bin, dir := builtCommand(t), t.TempDir()
	m := &remoteModel{}
	web := httptest.NewServer(m)
	defer web.Close()
	dump := dir + "/misc.json"
	tools := `{"tools":[{"name":"alpha","description":"Forecast for a city.","inputSchema":{"type":"object"}},{"name":"beta","description":"Sends an invoice.","inputSchema":{"type":"object"}}]}`
	if err := os.WriteFile(dump, []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(embedder string, args ...string) (string, string, error) {
		cmd := exec.CommandContext(t.Context(), bin, args...)
		cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+dir+"/data", "TOOLDEX_EMBEDDER="+embedder, "OLLAMA_HOST="+strings.TrimPrefix(web.URL, "http://"))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		return string(out), stderr.String(), err
	}
	if out, errs, err := command("ollama:tiny", "import", dump); err != nil {
		t.Fatal(out, errs, err)
	}
	embedded := m.texts.Load()
	if embedded < 2 {
		t.Fatalf("the model was given %d texts", embedded)
	}
	if _, errs, err := command("ollama:tiny", "import", dump); err != nil || m.texts.Load()-embedded > 1 {
		t.Errorf("importing again embedded %d texts (one may ask what the model is): %s %v", m.texts.Load()-embedded, errs, err)
	}
	search := func(embedder string) (first, degraded string) {
		out, errs, err := command(embedder, "search", "-o", "json", "do I need an umbrella")
		if err != nil {
			t.Fatal(out, errs, err)
		}
		var r struct {
			Tools    []struct{ Name string }
			Degraded string
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Tools) == 0 {
			t.Fatal(err, out)
		}
		return r.Tools[0].Name, r.Degraded
	}
	if first, degraded := search("ollama:tiny"); first != "alpha" || degraded != "" {
		t.Errorf("found %s first, degraded %q", first, degraded)
	}
	web.Close()
	if first, degraded := search("ollama:tiny"); first != "alpha" || degraded == "" {
		t.Errorf("without the model found %s first, degraded %q", first, degraded)
	}
	if _, errs, err := command("magic", "search", "x"); err == nil || !strings.Contains(errs, "ollama:MODEL") {
		t.Errorf("an unknown embedder: %s %v", errs, err)
	}
}
