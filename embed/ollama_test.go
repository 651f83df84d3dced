package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// server speaks the two calls of Ollama's API that matter here, as the real one does on the wire.
type server struct {
	mu      sync.Mutex
	models  map[string]string // name with tag → digest
	dims    int
	spoil   func(vectors [][]float64) [][]float64
	status  int // of /api/embed, if not 0
	hold    chan struct{}
	inputs  [][]string
	settled []string // keep_alive and truncate of each request, as they were sent
	listed  int
	arrived chan struct{} // gets a value when /api/embed is asked and hold is set
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /api/tags":
		s.tags(w)
	case "POST /api/embed":
		s.embed(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *server) tags(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed++
	models := []map[string]any{}
	for name, digest := range s.models {
		models = append(models, map[string]any{
			"name": name, "model": name, "modified_at": "2026-11-01T10:00:00Z", "size": 274302450, "digest": digest,
			"details": map[string]any{"format": "gguf", "family": "nomic-bert"},
		})
	}
	json.NewEncoder(w).Encode(map[string]any{"models": models})
}

func (s *server) embed(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Model string          `json:"model"`
		Input []string        `json:"input"`
		Keep  json.RawMessage `json:"keep_alive"`
		Cut   json.RawMessage `json:"truncate"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, `{"error":"bad request"}`, http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	hold, status := s.hold, s.status
	_, known := s.models[ask.Model]
	_, latest := s.models[ask.Model+":latest"]
	s.inputs = append(s.inputs, ask.Input)
	s.settled = append(s.settled, string(ask.Keep)+" "+string(ask.Cut))
	vectors := make([][]float64, len(ask.Input))
	for i, text := range ask.Input {
		vectors[i] = make([]float64, s.dims)
		for k := range vectors[i] {
			vectors[i][k] = float64(1 + (len(text)*7+k*k)%5)
		}
	}
	if s.spoil != nil {
		vectors = s.spoil(vectors)
	}
	s.mu.Unlock()
	switch {
	case hold != nil:
		s.arrived <- struct{}{}
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	case status != 0:
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":"llama runner process has terminated"}`)
		return
	case !known && !latest:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":"model %q not found, try pulling it first"}`, ask.Model)
		return
	}
	json.NewEncoder(w).Encode(map[string]any{
		"model": ask.Model, "embeddings": vectors, "total_duration": 14143917,
		"prompt_eval_count": 8,
	})
}

func (s *server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// startOllama runs a server with one model, and an embedder that asks it.
func startOllama(t *testing.T, o OllamaOptions) (*server, *Ollama) {
	t.Helper()
	s := &server{models: map[string]string{"nomic-embed-text:latest": "0a109f422b47e3a30ba2b10eca18548e944e8a23073ee3f3e947efcf3c45e59f"}, dims: 8}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	o.URL = web.URL
	m, err := NewOllama(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

func TestOllamaEmbeds(t *testing.T) {
	s, m := startOllama(t, OllamaOptions{Batch: 2})
	if got := m.Model(); got != (Model{Name: "nomic-embed-text"}) {
		t.Errorf("model before any call: %+v", got)
	}
	got, err := m.Queries(t.Context(), []string{"open a ticket", " ?! ", "b", "close it", "c"})
	if err != nil {
		t.Fatal(err)
	}
	want := Model{Name: "nomic-embed-text", Dims: 8, Fingerprint: "0a109f422b47e3a30ba2b10eca18548e"}
	if diff := cmp.Diff(want, m.Model()); diff != "" {
		t.Errorf("model (-want +got):\n%s", diff)
	}
	for i, v := range got {
		length := 1.0
		if i == 1 {
			length = 0
		}
		if len(v) != 8 || math.Abs(norm2(v)-length) > 1e-5 {
			t.Errorf("vector %d: %d components, length %v, want 8 and %v", i, len(v), norm2(v), length)
		}
	}
	wantInputs := [][]string{
		{"search_query: open a ticket", "search_query: b"},
		{"search_query: close it", "search_query: c"},
	}
	if diff := cmp.Diff(wantInputs, s.inputs); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func norm2(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func TestOllamaDocuments(t *testing.T) {
	s, m := startOllama(t, OllamaOptions{})
	got, err := m.Documents(t.Context(), []Document{{
		Name: "create_issue github", Description: "Opens an issue.",
		Parameters: "title body",
	}, {Description: "Alone."}})
	if err != nil || len(got) != 2 {
		t.Fatalf("%d vectors, error %v", len(got), err)
	}
	want := [][]string{{
		"search_document: create issue github\nOpens an issue.\nParameters: title body",
		"search_document: Alone.",
	}}
	if diff := cmp.Diff(want, s.inputs); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestOllamaOfNothing(t *testing.T) {
	s, m := startOllama(t, OllamaOptions{})
	if got, err := m.Documents(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("of no documents: %v, %v", got, err)
	}
	if s.listed != 0 {
		t.Error("the server was asked about nothing")
	}
	got, err := m.Queries(t.Context(), []string{""})
	if err != nil || len(got) != 1 || len(got[0]) != 8 || norm2(got[0]) != 0 {
		t.Errorf("of a blank query before any other: %v, %v", got, err)
	}
}

func TestOllamaFails(t *testing.T) {
	spoil := func(f func(v [][]float64) [][]float64) func(*server) { return func(s *server) { s.spoil = f } }
	tests := []struct {
		name  string
		spoil func(*server)
		kind  error
		hint  string
	}{
		{"model not in the list", func(s *server) { s.models = nil }, ErrModelMissing, "ollama pull nomic-embed-text"},
		{
			"only another tag of it", func(s *server) { s.models = map[string]string{"nomic-embed-text:v1.5": "x"} },
			ErrModelMissing, "ollama pull nomic-embed-text",
		},
		{
			"model gone between list and use", func(s *server) { s.status = http.StatusNotFound }, ErrModelMissing,
			"ollama pull nomic-embed-text",
		},
		{
			"server error", func(s *server) { s.status = http.StatusInternalServerError }, ErrUnavailable,
			"see the server's log",
		},
		{"too few vectors", spoil(func(v [][]float64) [][]float64 { return v[1:] }), ErrVectors, "ollama show"},
		{
			"too many vectors", spoil(func(v [][]float64) [][]float64 { return append(v, v...) }), ErrVectors,
			"ollama show",
		},
		{"zero vector", spoil(func(v [][]float64) [][]float64 { clear(v[1]); return v }), ErrVectors, "ollama show"},
		{
			"uneven widths", spoil(func(v [][]float64) [][]float64 { v[1] = v[1][1:]; return v }), ErrVectors,
			"ollama show",
		},
		{
			"no components", spoil(func(v [][]float64) [][]float64 { v[0], v[1] = nil, nil; return v }), ErrVectors,
			"ollama show",
		},
		{
			"not a number", spoil(func(v [][]float64) [][]float64 { v[0][0] = 1e300; return v }), ErrUnavailable,
			"whether an Ollama server",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, m := startOllama(t, OllamaOptions{})
			test.spoil(s)
			got, err := m.Queries(t.Context(), []string{"a", "b"})
			var e *Error
			if got != nil || !errors.Is(err, test.kind) || !errors.As(err, &e) {
				t.Fatalf("%v, error %v, want kind %v", got, err, test.kind)
			}
			if !strings.Contains(e.Hint, test.hint) {
				t.Errorf("hint %q, want %q in it", e.Hint, test.hint)
			}
			if !strings.Contains(err.Error(), "nomic-embed-text") {
				t.Errorf("message %q does not name the model", err)
			}
		})
	}
}

func TestOllamaWidthChanges(t *testing.T) {
	s, m := startOllama(t, OllamaOptions{})
	if _, err := m.Queries(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	s.change(func() { s.dims = 9 })
	if _, err := m.Queries(t.Context(), []string{"a"}); !errors.Is(err, ErrVectors) {
		t.Errorf("error after the width changed under the same digest: %v", err)
	}
}

func TestOllamaModelReplaced(t *testing.T) {
	s, m := startOllama(t, OllamaOptions{Recheck: time.Hour})
	query := func() error { _, err := m.Queries(t.Context(), []string{"a"}); return err }
	documents := func() error { _, err := m.Documents(t.Context(), []Document{{Name: "a"}}); return err }
	if err := query(); err != nil {
		t.Fatal(err)
	}
	s.change(func() { s.models["nomic-embed-text:latest"] = "ffff"; s.dims = 16 })
	if err := documents(); !errors.Is(err, ErrModelChanged) {
		t.Errorf("documents after the model was replaced: %v", err)
	}
	if got := m.Model().Fingerprint; got != "ffff" {
		t.Errorf("fingerprint %q afterwards", got)
	}
	if err := documents(); err != nil {
		t.Errorf("documents once more: %v", err)
	}
	if got := m.Model(); got.Dims != 16 {
		t.Errorf("%d dimensions, want 16", got.Dims)
	}
	if before := s.listed; query() != nil || s.listed != before {
		t.Errorf("a query asked for the digest %d times within the hour", s.listed-before)
	}
}

func TestOllamaModelReplacedMeanwhile(t *testing.T) {
	s, m := startOllama(t, OllamaOptions{Batch: 1})
	s.spoil = func(v [][]float64) [][]float64 { // the lock is held
		if len(s.inputs) == 2 {
			s.models["nomic-embed-text:latest"] = "ffff"
		}
		return v
	}
	docs := []Document{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	if got, err := m.Documents(t.Context(), docs); !errors.Is(err, ErrModelChanged) || got != nil {
		t.Errorf("%v, error %v", got, err)
	}
	if got, err := m.Documents(t.Context(), docs); err != nil || len(got) != 3 {
		t.Errorf("once more: %v, error %v", got, err)
	}
}

func TestOllamaProbe(t *testing.T) {
	s, m := startOllama(t, OllamaOptions{Model: "nomic-embed-text:latest"})
	want := Model{Name: "nomic-embed-text:latest", Dims: 8, Fingerprint: "0a109f422b47e3a30ba2b10eca18548e"}
	got, err := m.Probe(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v; model (-want +got):\n%s", err, diff)
	}
	s.change(func() { s.models["nomic-embed-text:latest"] = "sha256:eeee" })
	if got, err = m.Probe(t.Context()); err != nil || got.Fingerprint != "eeee" {
		t.Errorf("after the model was replaced: %+v, %v", got, err)
	}
	s.change(func() { s.models = nil })
	if _, err = m.Probe(t.Context()); !errors.Is(err, ErrModelMissing) {
		t.Errorf("after it was removed: %v", err)
	}
}

func TestOllamaCancel(t *testing.T) {
	s, m := startOllama(t, OllamaOptions{})
	s.hold, s.arrived = make(chan struct{}), make(chan struct{}, 1)
	defer close(s.hold)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := m.Queries(ctx, []string{"a"})
		done <- err
	}()
	<-s.arrived
	why := errors.New("caller left")
	cancel(why)
	if err := <-done; !errors.Is(err, why) || errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

func TestOllamaTimeout(t *testing.T) {
	s, m := startOllama(t, OllamaOptions{Timeout: 50 * time.Millisecond})
	s.hold, s.arrived = make(chan struct{}), make(chan struct{}, 1)
	defer close(s.hold)
	if _, err := m.Queries(t.Context(), []string{"a"}); !errors.Is(err, ErrUnavailable) ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestOllamaUnreachable(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	m, err := NewOllama(OllamaOptions{URL: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	web.Close()
	var e *Error
	if _, err := m.Documents(t.Context(), []Document{{Name: "a"}}); !errors.Is(err, ErrUnavailable) ||
		!errors.As(err, &e) || e.Hint != "start it with: ollama serve" {
		t.Errorf("error %v", err)
	}
}

func TestOllamaFlood(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"models":[{"name":"`)
		for range maxAnswer >> 20 {
			fmt.Fprint(w, strings.Repeat("x", 1<<20))
		}
		fmt.Fprint(w, `"}]}`)
	}))
	defer web.Close()
	m, err := NewOllama(OllamaOptions{URL: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Probe(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

func TestNewOllamaRefuses(t *testing.T) {
	for _, address := range []string{"localhost:11434", "ftp://host", "http://", "::"} {
		if _, err := NewOllama(OllamaOptions{URL: address}); err == nil {
			t.Errorf("%q was accepted", address)
		}
	}
}

func TestOllamaSettings(t *testing.T) {
	fingerprints := map[string]bool{}
	for _, tt := range []struct {
		name string
		o    OllamaOptions
		want string
	}{
		{"as the server has it", OllamaOptions{}, " true"},
		{"kept in memory for half an hour", OllamaOptions{KeepAlive: 30 * time.Minute}, `"30m0s" true`},
		{
			"kept for ever, with other prefixes",
			OllamaOptions{KeepAlive: -1, Prefixes: &Prefixes{"ask ", "tell "}},
			"-1 true",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, m := startOllama(t, tt.o)
			if _, err := m.Queries(t.Context(), []string{"a"}); err != nil || s.settled[0] != tt.want {
				t.Errorf("sent %q, want %q; error %v", s.settled, tt.want, err)
			}
			if tt.o.Prefixes != nil && s.inputs[0][0] != "ask a" {
				t.Errorf("sent %q", s.inputs)
			}
			fingerprints[m.Model().Fingerprint] = true
		})
	}
	if len(fingerprints) != 2 {
		t.Errorf("%d fingerprints: other prefixes give other vectors, and nothing else does", len(fingerprints))
	}
}

func TestPrefixes(t *testing.T) {
	tests := []struct{ model, query, document string }{
		{"nomic-embed-text:v1.5", "search_query: ", "search_document: "},
		{"jeffh/intfloat-multilingual-e5-large", "query: ", "passage: "},
		{"bge-large", "Represent this sentence for searching relevant passages: ", ""},
		{"bge-m3:latest", "", ""},
		{"snowflake-arctic-embed2", "query: ", ""},
		{"all-minilm", "", ""},
	}
	for _, test := range tests {
		if got := PrefixesOf(test.model); got != (Prefixes{test.query, test.document}) {
			t.Errorf("%s: %q", test.model, got)
		}
	}
}
