package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
)

// OllamaOptions configure an [Ollama]. The zero value asks nomic-embed-text of the server on this machine.
type OllamaOptions struct {
	URL     string        // of the server; "" means http://127.0.0.1:11434
	Model   string        // with or without a tag; "" means nomic-embed-text
	Batch   int           // most texts in one request; 0 means 32
	Timeout time.Duration // of one request, the loading of the model included; 0 means 2 minutes
	Recheck time.Duration // how long queries rely on the model being what it was; 0 means a minute
	// KeepAlive is how long the server should keep the model in memory after a call; 0 leaves that to the server, and
	// less than 0 means for ever.
	KeepAlive time.Duration
	Prefixes  *Prefixes    // nil means those of the family that the model's name belongs to
	Client    *http.Client // nil means one of its own; its Timeout is left as it is
}

// Ollama is an [Embedder] that asks an Ollama server. It is safe for concurrent use. Make one with [NewOllama].
//
// The server may replace a model under its name at any time. Documents compares the digest before and after each call,
// and Queries once per Recheck. A call that notices a change fails with [ErrModelChanged] and returns no vectors, for
// they could not be compared with earlier ones; Model returns the new fingerprint from then on and the next call goes
// through. Every error is an [*Error], or wraps the context's.
type Ollama struct {
	o        OllamaOptions
	prefixes Prefixes
	client   *api.Client

	// mu guards model and checked. It is not held during requests.
	mu sync.Mutex
	// Dims is 0 until the first vector of this fingerprint
	model   Model
	checked time.Time
}

// NewOllama checks the options. It does not ask the server, which need not run yet.
func NewOllama(o OllamaOptions) (*Ollama, error) {
	if o.URL == "" {
		o.URL = "http://127.0.0.1:11434"
	}
	if o.Model == "" {
		o.Model = "nomic-embed-text"
	}
	if o.Batch <= 0 {
		o.Batch = 32
	}
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.Recheck <= 0 {
		o.Recheck = time.Minute
	}
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &Error{
			Kind: ErrUnavailable, Msg: fmt.Sprintf("%q is not the address of an Ollama server", o.URL),
			Hint: "give it like http://127.0.0.1:11434", Err: err,
		}
	}
	client := http.Client{}
	if o.Client != nil {
		client = *o.Client
	}
	client.Transport = limited{client.Transport}
	return &Ollama{
		o: o, prefixes: o.Prefixes.orDefault(o.Model), client: api.NewClient(base, &client),
		model: Model{Name: o.Model},
	}, nil
}

// Model returns what the last call found. Before the first one Dims is 0 and Fingerprint empty; see [Ollama.Probe].
func (m *Ollama) Model() Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.model
}

// Probe asks the server for the model's digest and for one vector, and returns the model it found. A changed model is
// no error here: compare the fingerprint that is returned.
func (m *Ollama) Probe(ctx context.Context) (Model, error) {
	err := m.checkModel(ctx, 0)
	if err != nil && !errors.Is(err, ErrModelChanged) {
		return Model{}, err
	}
	if _, err := m.requestVectors(ctx, []string{m.prefixes.Query + "probe"}); err != nil {
		return Model{}, err
	}
	return m.Model(), nil
}

// Queries implements [Embedder]. It relies on a digest that is younger than Recheck.
func (m *Ollama) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	prefix := m.prefixes.Query
	return m.embedAll(ctx, len(texts), m.o.Recheck, func(i int) (string, string) { return prefix, texts[i] })
}

// Documents implements [Embedder]. It compares the digest before and after.
func (m *Ollama) Documents(ctx context.Context, docs []Document) ([][]float32, error) {
	prefix := m.prefixes.Document
	out, err := m.embedAll(ctx, len(docs), 0, func(i int) (string, string) { return prefix, docs[i].runningText() })
	if err != nil || len(docs) == 0 {
		return out, err
	}
	// vectors that will be kept must not be half of one model and half of another
	if err := m.checkModel(ctx, 0); err != nil {
		return nil, err
	}
	return out, nil
}

// embedAll embeds n texts in batches, after comparing a digest that is older than age. Blank texts get the zero vector,
// for which the width must be known: Probe finds it if no batch did.
func (m *Ollama) embedAll(
	ctx context.Context, n int, age time.Duration, text func(int) (prefix, text string),
) ([][]float32, error) {
	if n == 0 {
		return [][]float32{}, nil
	}
	if err := m.checkModel(ctx, age); err != nil {
		return nil, err
	}
	out, err := embedBatches(ctx, n, m.o.Batch, text, m.requestVectors)
	if err != nil {
		return nil, err
	}
	if m.Model().Dims == 0 { // nothing but blank texts so far, and how long is a zero vector?
		if _, err := m.Probe(ctx); err != nil {
			return nil, err
		}
	}
	return fillZeroes(out, m.Model().Dims), nil
}

// checkModel compares the model's digest on the server with the one known, unless that is younger than age.
func (m *Ollama) checkModel(ctx context.Context, age time.Duration) error {
	m.mu.Lock()
	fresh := m.model.Fingerprint != "" && time.Since(m.checked) < age
	m.mu.Unlock()
	if fresh {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	list, err := m.client.List(within)
	if err != nil {
		return m.requestError(ctx, err)
	}
	for _, l := range list.Models {
		if !sameModel(l.Name, m.o.Model) && !sameModel(l.Model, m.o.Model) {
			continue
		}
		return m.acceptDigest(strings.TrimPrefix(l.Digest, "sha256:"))
	}
	return m.missingError(nil)
}

// acceptDigest stores the digest and returns [ErrModelChanged] if it replaces another. The width is forgotten with it.
func (m *Ollama) acceptDigest(digest string) error {
	if len(digest) > 32 {
		digest = digest[:32]
	}
	if digest == "" {
		digest = "undisclosed"
	}
	if p := m.o.Prefixes; p != nil { // with others, the same model gives other vectors
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", p.Query, p.Document))
		digest += "-" + hex.EncodeToString(sum[:4])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checked = time.Now()
	old := m.model.Fingerprint
	if old == digest {
		return nil
	}
	m.model = Model{Name: m.o.Model, Fingerprint: digest}
	if old == "" {
		return nil
	}
	return &Error{
		Kind: ErrModelChanged, Msg: fmt.Sprintf("model %s on %s was replaced", m.o.Model, m.o.URL),
		Hint: "embed all documents again",
	}
}

// sameModel compares names as Ollama does: no tag means latest.
func sameModel(listed, asked string) bool {
	tagged := func(s string) string {
		if !strings.Contains(s[strings.LastIndexByte(s, '/')+1:], ":") {
			s += ":latest"
		}
		return strings.ToLower(s)
	}
	return tagged(listed) == tagged(asked)
}

// requestVectors asks for one batch. It returns one unit vector of the expected width for each text, or an error.
func (m *Ollama) requestVectors(ctx context.Context, texts []string) ([][]float32, error) {
	within, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	whole := true // a text beyond the model's window is cut by the server, not refused
	ask := &api.EmbedRequest{Model: m.o.Model, Input: texts, Truncate: &whole}
	if m.o.KeepAlive != 0 {
		ask.KeepAlive = &api.Duration{Duration: m.o.KeepAlive}
	}
	answer, err := m.client.Embed(within, ask)
	if err != nil {
		return nil, m.requestError(ctx, err)
	}
	if len(answer.Embeddings) != len(texts) {
		return nil, m.unusableError("gave %d vectors for %d texts", len(answer.Embeddings), len(texts))
	}
	dims := m.checkDims(len(answer.Embeddings[0]))
	for i, v := range answer.Embeddings {
		if len(v) != dims || dims == 0 {
			return nil, m.unusableError("gave a vector of %d components where %d are expected", len(v), dims)
		}
		if n, ok := scaleToUnit(v); !ok {
			return nil, m.unusableError("gave a vector of length %v for text %d of %d", n, i+1, len(texts))
		}
	}
	return answer.Embeddings, nil
}

// checkDims returns the model's number of components, which the first vector decides.
func (m *Ollama) checkDims(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.model.Dims == 0 {
		m.model.Dims = n
	}
	return m.model.Dims
}

// unusableError returns the error of an answer that breaks the API's rules.
func (m *Ollama) unusableError(format string, args ...any) error {
	return &Error{
		Kind: ErrVectors, Msg: fmt.Sprintf("model %s on %s "+format, append([]any{m.o.Model, m.o.URL}, args...)...),
		Hint: "check that it is an embedding model: ollama show " + m.o.Model,
	}
}

// missingError returns the error of a server that does not have the model, with the command that pulls it.
func (m *Ollama) missingError(cause error) error {
	return &Error{
		Kind: ErrModelMissing, Msg: fmt.Sprintf("no model %s on %s", m.o.Model, m.o.URL),
		Hint: "ollama pull " + m.o.Model, Err: cause,
	}
}

// requestError classifies a failed request. An ended context of the caller comes first, since then nothing is wrong
// with the server.
func (m *Ollama) requestError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask model %s: %w", m.o.Model, context.Cause(ctx))
	}
	var status api.StatusError
	if errors.As(err, &status) && status.StatusCode == http.StatusNotFound {
		return m.missingError(err)
	}
	hint := "see whether an Ollama server is what answers there" // with something else than its API
	var unreached *url.Error
	switch {
	case status.StatusCode != 0:
		hint = "see the server's log"
	case errors.As(err, &unreached):
		hint = "start it with: ollama serve"
	}
	return &Error{
		Kind: ErrUnavailable, Msg: fmt.Sprintf("Ollama on %s does not serve %s", m.o.URL, m.o.Model),
		Hint: hint, Err: err,
	}
}
