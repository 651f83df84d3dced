package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const secret = "sk-a-key-that-nobody-may-see"

// openAIServer speaks POST /v1/embeddings as it is published: a bearer token, a list of inputs, numbered vectors in any
// order, and errors as objects.
type openAIServer struct {
	mu     sync.Mutex
	asked  []map[string]any
	refuse []func(w http.ResponseWriter) // of the next requests, the first one first
	spoil  func(vectors [][]float64) [][]float64
	order  func(n int) []int
}

func openAIError(w http.ResponseWriter, status int, kind, code, msg string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"message": msg, "type": kind, "param": nil,
		"code": code,
	}})
}

func (s *openAIServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ask struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
		Form  string   `json:"encoding_format"`
		Dims  int      `json:"dimensions"`
	}
	var whole map[string]any
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &ask) != nil || json.Unmarshal(body, &whole) != nil {
		openAIError(w, http.StatusBadRequest, "invalid_request_error", "",
			"We could not parse the JSON body of your request.")
		return
	}
	s.asked = append(s.asked, whole)
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings":
		openAIError(w, http.StatusNotFound, "invalid_request_error", "unknown_url", "Unknown request URL")
		return
	case r.Header.Get("Authorization") != "Bearer "+secret:
		openAIError(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key",
			"Incorrect API key provided: "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		return
	case len(s.refuse) > 0:
		refuse := s.refuse[0]
		s.refuse = s.refuse[1:]
		refuse(w)
		return
	case ask.Model != "text-embedding-3-small":
		openAIError(w, http.StatusNotFound, "invalid_request_error", "model_not_found",
			"The model `"+ask.Model+"` does not exist or you do not have access to it.")
		return
	}
	dims := ask.Dims
	if dims == 0 {
		dims = 6
	}
	vectors := make([][]float64, len(ask.Input))
	for i, text := range ask.Input {
		vectors[i] = make([]float64, dims)
		vectors[i][len(text)%dims] = 2
	}
	if s.spoil != nil {
		vectors = s.spoil(vectors)
	}
	data := make([]map[string]any, len(vectors))
	for i := range vectors {
		at := i
		if s.order != nil {
			at = s.order(len(vectors))[i]
		}
		data[i] = map[string]any{"object": "embedding", "index": at, "embedding": vectors[at%len(vectors)]}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"object": "list", "data": data, "model": ask.Model,
		"usage": map[string]int{"prompt_tokens": 8, "total_tokens": 8},
	})
}

func startOpenAI(t *testing.T, o OpenAIOptions) (*openAIServer, *OpenAI) {
	t.Helper()
	s := &openAIServer{}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	if o.URL == "" {
		o.URL = web.URL + "/v1/"
	}
	if o.Key == "" {
		o.Key = secret
	}
	if o.Model == "" {
		o.Model = "text-embedding-3-small"
	}
	m, err := NewOpenAI(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

func TestOpenAIEmbeds(t *testing.T) {
	s, m := startOpenAI(t, OpenAIOptions{Batch: 2, Bytes: 10, Prefixes: &Prefixes{"q: ", "d: "}})
	s.order = func(n int) []int { return []int{n - 1, 0}[:n] }
	got, err := m.Queries(t.Context(), []string{"ab", " ?! ", "abc", "longer than ten"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) []float32 {
		v := make([]float32, 6)
		v[i] = 1
		return v
	}
	// Of "q: ab" five bytes, of "q: abc" six, of the cut "q: longer tha" thirteen.
	if diff := cmp.Diff([][]float32{at(5), make([]float32, 6), at(0), at(1)}, got); diff != "" {
		t.Errorf("vectors (-want +got):\n%s", diff)
	}
	want := []map[string]any{
		{"model": "text-embedding-3-small", "input": []any{"q: ab", "q: abc"}, "encoding_format": "float"},
		{"model": "text-embedding-3-small", "input": []any{"q: longer tha"}, "encoding_format": "float"},
	}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if _, err := m.Documents(t.Context(), []Document{{Name: "a_b"}}); err != nil ||
		s.asked[2]["input"].([]any)[0] != "d: a b" {
		t.Errorf("document: %v, %v", s.asked[2], err)
	}
}

func TestOpenAIDimensions(t *testing.T) {
	s, m := startOpenAI(t, OpenAIOptions{Dims: 3})
	if got := m.Model(); got.Dims != 3 || got.Fingerprint == "" {
		t.Errorf("before any call: %+v", got)
	}
	if got, err := m.Queries(t.Context(), []string{""}); err != nil || len(got[0]) != 3 || len(s.asked) != 0 {
		t.Errorf("a blank query: %v, %v, %d requests", got, err, len(s.asked))
	}
	if _, err := m.Probe(t.Context()); err != nil || s.asked[0]["dimensions"] != 3. {
		t.Errorf("probe: %v, %v", s.asked, err)
	}
	_, other := startOpenAI(t, OpenAIOptions{})
	if _, err := other.Queries(t.Context(), []string{""}); err != nil || other.Model().Dims != 6 {
		t.Errorf("a blank query of a model of unknown width: %+v, %v", other.Model(), err)
	}
	s.spoil = func(v [][]float64) [][]float64 { v[0] = append(v[0], 1); return v }
	if _, err := m.Queries(t.Context(), []string{"x"}); !errors.Is(err, ErrVectors) {
		t.Errorf("a service that ignores dimensions: %v", err)
	}
}

func TestOpenAIFails(t *testing.T) {
	spoil := func(f func(v [][]float64) [][]float64) func(*openAIServer) {
		return func(s *openAIServer) { s.spoil = f }
	}
	answer := func(status int, code, msg string) func(*openAIServer) {
		return func(s *openAIServer) {
			s.refuse = append(s.refuse, func(w http.ResponseWriter) { openAIError(w, status, "error", code, msg) })
		}
	}
	body := func(text string) func(*openAIServer) {
		return func(s *openAIServer) {
			s.refuse = append(s.refuse, func(w http.ResponseWriter) { fmt.Fprint(w, text) })
		}
	}
	tests := []struct {
		name  string
		o     OpenAIOptions
		spoil func(*openAIServer)
		kind  error
		hint  string
		said  string
	}{
		{"wrong key", OpenAIOptions{Key: "sk-another-secret"}, nil, ErrUnavailable, "OPENAI_API_KEY", "[key]"},
		{"no such model", OpenAIOptions{Model: "gpt"}, nil, ErrModelMissing, "list of models", "does not exist"},
		{
			"account empty",
			OpenAIOptions{},
			answer(429, "insufficient_quota", "You exceeded your current quota"),
			ErrUnavailable, "limits", "quota",
		},
		{
			"dimensions refused",
			OpenAIOptions{},
			answer(400, "", "This model does not support dimensions"),
			ErrUnavailable, "dimensions", "does not support",
		},
		{"not an answer", OpenAIOptions{}, body("<html>"), ErrVectors, "embedding model", ""},
		{
			"null vectors",
			OpenAIOptions{},
			body(`{"data":[{"index":0,"embedding":null},{"index":1,"embedding":null}]}`),
			ErrVectors, "", "0 components",
		},
		{
			"too large for a float",
			OpenAIOptions{},
			body(`{"data":[{"index":0,"embedding":[1e999]},{"index":1,"embedding":[1]}]}`), ErrVectors, "", "",
		},
		{"one number twice", OpenAIOptions{}, body(`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`), ErrVectors, "", "numbered"},
		{
			"a number out of range",
			OpenAIOptions{},
			body(`{"data":[{"index":0,"embedding":[1]},{"index":9,"embedding":[1]}]}`), ErrVectors, "", "numbered",
		},
		{
			"too few vectors",
			OpenAIOptions{},
			spoil(func(v [][]float64) [][]float64 { return v[1:] }), ErrVectors, "",
			"1 vectors for 2",
		},
		{
			"zero vector",
			OpenAIOptions{},
			spoil(func(v [][]float64) [][]float64 { clear(v[1]); return v }), ErrVectors,
			"", "length 0",
		},
		{
			"uneven widths",
			OpenAIOptions{},
			spoil(func(v [][]float64) [][]float64 { v[1] = v[1][1:]; return v }),
			ErrVectors, "", "5 components where 6",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, m := startOpenAI(t, tt.o)
			if tt.spoil != nil {
				tt.spoil(s)
			}
			_, err := m.Documents(t.Context(), []Document{{Name: "a"}, {Name: "b"}})
			var e *Error
			if !errors.Is(err, tt.kind) || !errors.As(err, &e) || !strings.Contains(e.Hint, tt.hint) ||
				!strings.Contains(err.Error(), tt.said) {
				t.Errorf("error %v", err)
			}
			for _, hidden := range []string{secret, "another-secret"} {
				if strings.Contains(fmt.Sprintf("%+v %#v", err, err), hidden) {
					t.Errorf("the key is told: %v", err)
				}
			}
			if len(s.asked) != 1 {
				t.Errorf("asked %d times", len(s.asked))
			}
		})
	}
}

// handled is a transport that needs no network, so that time can be that of synctest.
type handled struct{ http.Handler }

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestOpenAIWaits(t *testing.T) {
	busy := func(header, value string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set(header, value)
			openAIError(w, http.StatusTooManyRequests, "requests", "rate_limit_exceeded", "Rate limit reached")
		}
	}
	down := func(w http.ResponseWriter) { http.Error(w, "bad gateway", http.StatusBadGateway) }
	tests := []struct {
		name   string
		refuse []func(http.ResponseWriter)
		query  bool
		took   time.Duration
		fails  bool
	}{
		{
			"as many seconds as it asks for",
			[]func(http.ResponseWriter){busy("Retry-After", "7")},
			false,
			7 * time.Second, false,
		},
		{
			"as many milliseconds",
			[]func(http.ResponseWriter){busy("Retry-After-Ms", "1250")},
			false,
			1250 * time.Millisecond, false,
		},
		{
			"until a date",
			[]func(http.ResponseWriter){busy("Retry-After", "Sat, 01 Jan 2000 00:00:09 GMT")},
			false,
			9 * time.Second, false,
		},
		{
			"longer each time where it does not say",
			[]func(http.ResponseWriter){down, down, down},
			false,
			3500 * time.Millisecond, false,
		},
		{"never longer than it has patience", []func(http.ResponseWriter){busy("Retry-After", "3600")}, false, 0, true},
		{"hardly at all for a query", []func(http.ResponseWriter){busy("Retry-After", "7")}, true, 0, true},
		{"a moment for a query", []func(http.ResponseWriter){busy("Retry-After", "1")}, true, time.Second, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &openAIServer{refuse: tt.refuse}
				m, err := NewOpenAI(OpenAIOptions{
					URL: "http://localhost/v1", Key: secret,
					Model: "text-embedding-3-small", Client: &http.Client{Transport: handled{s}},
				})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				if tt.query {
					_, err = m.Queries(t.Context(), []string{"a"})
				} else {
					_, err = m.Documents(t.Context(), []Document{{Name: "a"}})
				}
				if took := time.Since(start); took != tt.took || (err != nil) != tt.fails {
					t.Errorf("took %v, want %v; error %v", took, tt.took, err)
				}
				if tt.fails && !errors.Is(err, ErrUnavailable) {
					t.Error(err)
				}
			})
		})
	}
}

func TestOpenAIGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &openAIServer{refuse: []func(http.ResponseWriter){func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}}}
		m, err := NewOpenAI(OpenAIOptions{
			URL: "http://localhost/v1", Model: "m", Key: secret,
			Client: &http.Client{Transport: handled{s}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := m.Queries(ctx, []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while it waits: %v", err)
		}
	})
	m, err := NewOpenAI(OpenAIOptions{URL: "http://127.0.0.1:1/v1", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Queries(t.Context(), []string{"a"}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestOpenAIOptions(t *testing.T) {
	for _, o := range []OpenAIOptions{
		{},
		{Model: "m", URL: "ftp://x"},
		{Model: "m", URL: "://"},
		{Model: "m", URL: "https://me:" + secret + "@x/v1"},
	} {
		var e *Error
		if _, err := NewOpenAI(o); !errors.As(err, &e) || e.Hint == "" || strings.Contains(e.Error(), secret) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	seen := map[string]bool{}
	for _, o := range []OpenAIOptions{
		{},
		{Dims: 3},
		{URL: "http://a/v1"},
		{Model: "other"},
		{Prefixes: &Prefixes{"a", "b"}},
	} {
		o.Model = o.Model + "m"
		m, err := NewOpenAI(o)
		if err != nil || seen[m.Model().Fingerprint] {
			t.Errorf("%+v: %v, or the fingerprint of another", o, err)
			continue
		}
		seen[m.Model().Fingerprint] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d fingerprints", len(seen))
	}
}
