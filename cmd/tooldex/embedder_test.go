package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// remoteModel speaks the two calls of Ollama's API that embedding needs: a text about weather points one way, any other
// text another. It counts the texts that it was given.
type remoteModel struct{ texts atomic.Int64 }

func (m *remoteModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/tags":
		_ = json.NewEncoder(w).Encode(map[string]any{"models": []map[string]any{{
			"name":  "tiny:latest",
			"model": "tiny:latest", "digest": "abc123",
		}}})
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
		cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+dir+"/data", "TOOLDEX_EMBEDDER="+embedder,
			"OLLAMA_HOST="+strings.TrimPrefix(web.URL, "http://"))
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
		t.Errorf("importing again embedded %d texts (one may ask what the model is): %s %v", m.texts.Load()-embedded,
			errs, err)
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

// gated holds an Ollama-like model: while shut, documents wait, and while down, nothing is answered.
type gated struct {
	remoteModel
	mu   sync.Mutex
	open chan struct{} // closed when documents may pass
	down bool
}

func (g *gated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	g.mu.Lock()
	open, down := g.open, g.down
	g.mu.Unlock()
	if down {
		http.Error(w, `{"error":"out of memory"}`, http.StatusInternalServerError)
		return
	}
	if bytes.Contains(body, []byte("Forecast")) {
		select {
		case <-open:
		case <-r.Context().Done():
			return
		}
	}
	g.remoteModel.ServeHTTP(w, r)
}

// TestSwitchWhileServing changes the model of a server's catalogue, takes the model away and brings it back: an answer
// comes at all times, and says when it is of words only.
func TestSwitchWhileServing(t *testing.T) {
	dir := t.TempDir()
	dump := dir + "/misc.json"
	tools := `{"tools":[{"name":"alpha","description":"Forecast for a city.","inputSchema":{"type":"object"}},{"name":"beta","description":"Sends an invoice.","inputSchema":{"type":"object"}}]}`
	if err := os.WriteFile(dump, []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
	runCommand(t, dir, "import", dump)
	g := &gated{open: make(chan struct{})}
	web := httptest.NewServer(g)
	defer web.Close()
	t.Setenv("OLLAMA_HOST", web.URL)
	base := serveHTTP(t, dir, "--embedder", "ollama:tiny")
	search := func(q string) (r struct {
		Tools    []struct{ Name string }
		Degraded string
	},
	) {
		res, err := http.Get(base + "/search?q=" + url.QueryEscape(q))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(&r); err != nil || len(r.Tools) == 0 {
			t.Fatal(err, r)
		}
		return r
	}
	if r := search("weather tomorrow"); r.Degraded != "" || r.Tools[0].Name != "alpha" {
		t.Errorf("while tools are embedded: %+v", r)
	}
	asked := g.texts.Load()
	close(g.open)
	n := 0
	eventually(t, "the chosen model answers", func() bool { // each search asks anew what it was not asked before
		n++
		search(fmt.Sprintf("umbrella number %d", n))
		return g.texts.Load() > asked+2
	})
	g.mu.Lock()
	g.down = true
	g.mu.Unlock()
	eventually(t, "answers of words only", func() bool {
		n++
		return search(fmt.Sprintf("forecast number %d", n)).Degraded != ""
	})
	g.mu.Lock()
	g.down = false
	g.mu.Unlock()
	eventually(t, "the model again", func() bool {
		n++
		return search(fmt.Sprintf("forecast number %d", n)).Degraded == ""
	})
}

// eventually waits for what another process does in its own time.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-limit:
			t.Fatalf("%s: not within a minute", what)
		case <-tick.C:
		}
	}
}

// TestEmbedders chooses each kind of model on the command line, rightly and wrongly.
func TestEmbedders(t *testing.T) {
	bin, dir := builtCommand(t), t.TempDir()
	folder := dir + "/tiny model"
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	header := `{"embeddings":{"dtype":"I8","shape":[3,2],"data_offsets":[0,6]}}`
	table := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+"\x00\x00\x01\x00\x00\x01"...)
	tokens := `{"normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"merge":1,"proposal":2}}}`
	for name, b := range map[string][]byte{"model.safetensors": table, "tokenizer.json": []byte(tokens)} {
		if err := os.WriteFile(folder+"/"+name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const key = "sk-nobody-may-see-this"
	var dims atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Input []string
			Dims  int `json:"dimensions"`
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || r.URL.Path != "/v1/embeddings" ||
			r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`,
				strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			return
		}
		dims.Store(int64(ask.Dims))
		data := make([]map[string]any, len(ask.Input))
		for i := range data {
			data[i] = map[string]any{"index": i, "embedding": make([]float64, ask.Dims)}
			data[i]["embedding"].([]float64)[len(ask.Input[i])%ask.Dims] = 1
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	defer web.Close()
	tests := []struct {
		name, embedder, key string
		code                int
		stderr              string // part of it
	}{
		{"a folder", "model2vec:" + folder, "", 0, ""},
		{"an empty folder", "model2vec:" + dir, "", 2, "model.safetensors"},
		{"a service", "openai:small?dims=4&query=ask%20&batch=2", key, 0, ""},
		{"a service that refuses the key", "openai:small?dims=4", "sk-wrong-and-secret", 0, "OPENAI_API_KEY"},
		{"a service without a model", "openai:", key, 2, "text-embedding-3-small"},
		{"a setting that there is not", "openai:small?keep_alive=1m", key, 2, "dims"},
		{"a setting that is none", "ollama:x?timeout=soon", key, 2, "30s"},
		{"a model that is not installed", "ollama:x?url=" + url.QueryEscape(web.URL), "", 0, "does not answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), bin, "search", "--demo", "-o", "json", "--embedder", tt.embedder,
				"open a merge proposal")
			cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+dir+"/data", "OPENAI_BASE_URL="+web.URL+"/v1",
				"OPENAI_API_KEY="+tt.key)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			code := 0
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				code = exit.ExitCode()
			}
			if code != tt.code || !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, stderr.String())
			}
			if tt.code == 0 && strings.Contains(string(out), `"degraded"`) != (tt.stderr != "") {
				t.Errorf("degraded or not: %s", out)
			}
			if tt.key != "" && strings.Contains(string(out)+stderr.String(), tt.key) {
				t.Errorf("the key is told: %s %s", out, stderr.String())
			}
		})
	}
	if dims.Load() != 4 {
		t.Errorf("asked for %d dimensions", dims.Load())
	}
}
