package embed

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// OpenAIOptions configure an [OpenAI]. Model is required; the zero value of the rest asks OpenAI's own service without
// a key.
type OpenAIOptions struct {
	URL   string // of the API, to which /embeddings is added; "" means https://api.openai.com/v1
	Key   string // sent as a bearer token; never logged, and removed from errors
	Model string
	Dims  int // requested of models that can shorten their vectors; 0 means as many as the model has
	Batch int // most texts in one request; 0 means 128
	// Bytes bounds one text; the rest is cut. 0 means 24,000, which is within 8,192 tokens of English.
	Bytes   int
	Timeout time.Duration // of one request; 0 means a minute
	// Patience bounds how long a call waits between attempts, in all, for a service that is busy or has asked for a
	// pause; 0 means a minute. Queries wait for two seconds at most, because a user is waiting for them.
	Patience time.Duration
	Prefixes *Prefixes    // nil means those of the family that the model's name belongs to
	Client   *http.Client // nil means one of its own; its Timeout is left as it is
}

// OpenAI is an [Embedder] that asks a service with the embeddings API of OpenAI, which many others offer too. It is
// safe for concurrent use. Make one with [NewOpenAI].
//
// The API does not show when the model behind a name is replaced: the fingerprint is made of the service's address, the
// model's name, the prefixes, Dims and Bytes. Every error is an [*Error], or wraps the context's.
type OpenAI struct {
	o           OpenAIOptions
	prefixes    Prefixes
	endpoint    string
	fingerprint string
	client      http.Client
	// 0 until the first vector, unless Dims was given; set once
	dims atomic.Int64
}

// queryPatience bounds the pauses of Queries and Probe.
const queryPatience = 2 * time.Second

// NewOpenAI checks the options. It does not ask the service.
func NewOpenAI(o OpenAIOptions) (*OpenAI, error) {
	o.URL = strings.TrimRight(cmp.Or(o.URL, "https://api.openai.com/v1"), "/")
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil {
		return nil, &Error{
			Kind: ErrUnavailable, Msg: "the address of the embeddings API is not one",
			Hint: "give it like https://api.openai.com/v1, without a name or key in it",
		}
	}
	if o.Model == "" {
		return nil, &Error{
			Kind: ErrModelMissing, Msg: "no embedding model is named",
			Hint: "name one, such as text-embedding-3-small",
		}
	}
	if o.Batch <= 0 {
		o.Batch = 128
	}
	if o.Bytes <= 0 {
		o.Bytes = 24_000
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	if o.Patience <= 0 {
		o.Patience = time.Minute
	}
	m := &OpenAI{o: o, prefixes: o.Prefixes.orDefault(o.Model), endpoint: o.URL + "/embeddings"}
	if o.Client != nil {
		m.client = *o.Client
	}
	m.client.Transport = limited{m.client.Transport}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %q %q %d", o.URL, o.Model, o.Dims, m.prefixes.Query,
		m.prefixes.Document, o.Bytes))
	m.fingerprint = hex.EncodeToString(sum[:16])
	m.dims.Store(int64(o.Dims))
	return m, nil
}

// Model returns the model. Its Dims is 0 until the first vector, unless it was given in the options.
func (m *OpenAI) Model() Model {
	return Model{Name: m.o.Model, Dims: int(m.dims.Load()), Fingerprint: m.fingerprint}
}

// Probe asks the service for one vector, and returns the model with its width.
func (m *OpenAI) Probe(ctx context.Context) (Model, error) {
	_, err := m.requestWithRetries(ctx, []string{m.prefixes.Query + "probe"}, queryPatience)
	return m.Model(), err
}

// Queries implements [Embedder].
func (m *OpenAI) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	return m.embedAll(ctx, len(texts), min(m.o.Patience, queryPatience), func(i int) (string, string) {
		return m.prefixes.Query, m.cutText(texts[i])
	})
}

// Documents implements [Embedder].
func (m *OpenAI) Documents(ctx context.Context, docs []Document) ([][]float32, error) {
	return m.embedAll(ctx, len(docs), m.o.Patience, func(i int) (string, string) {
		return m.prefixes.Document, m.cutText(docs[i].runningText())
	})
}

// cutText cuts s to Bytes, at the border of a character.
func (m *OpenAI) cutText(s string) string {
	if len(s) <= m.o.Bytes {
		return s
	}
	n := m.o.Bytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// embedAll embeds n texts in batches, each with the same patience. Blank texts get the zero vector, for which the width
// must be known: Probe finds it if no batch did.
func (m *OpenAI) embedAll(ctx context.Context, n int, patience time.Duration, text func(int) (prefix,
	text string),
) ([][]float32, error) {
	out, err := embedBatches(ctx, n, m.o.Batch, text, func(ctx context.Context, texts []string) ([][]float32, error) {
		return m.requestWithRetries(ctx, texts, patience)
	})
	if err != nil {
		return nil, err
	}
	if n > 0 && m.dims.Load() == 0 { // nothing but blank texts so far, and how long is a zero vector?
		if _, err := m.Probe(ctx); err != nil {
			return nil, err
		}
	}
	return fillZeroes(out, int(m.dims.Load())), nil
}

// requestWithRetries embeds one batch. It repeats a request that may succeed later, after half a second and then twice
// as long each time, or as long as the service asks if that is more. It returns the last error when the next pause
// would exceed patience.
func (m *OpenAI) requestWithRetries(ctx context.Context, texts []string, patience time.Duration) ([][]float32, error) {
	pause := 500 * time.Millisecond
	for {
		vectors, after, err := m.requestOnce(ctx, texts)
		if err == nil || after < 0 {
			return vectors, err
		}
		wait := max(pause, after)
		pause *= 2
		if patience -= wait; patience < 0 {
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("ask model %s: %w", m.o.Model, context.Cause(ctx))
		}
	}
}

// requestOnce sends one request. after is how long the service asks to wait before the next, or negative if repeating
// is no use; with vectors it means nothing.
func (m *OpenAI) requestOnce(ctx context.Context, texts []string) (vectors [][]float32, after time.Duration, err error) {
	within, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	body, err := json.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
		Form  string   `json:"encoding_format"`
		Dims  int      `json:"dimensions,omitempty"`
	}{m.o.Model, texts, "float", m.o.Dims})
	if err != nil {
		return nil, -1, fmt.Errorf("ask model %s: %w", m.o.Model, err)
	}
	req, err := http.NewRequestWithContext(within, http.MethodPost, m.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, -1, fmt.Errorf("ask model %s: %w", m.o.Model, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if m.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.o.Key)
	}
	answer, err := m.client.Do(req)
	if err == nil {
		defer func() { _ = answer.Body.Close() }()
		body, err = io.ReadAll(answer.Body)
	}
	switch {
	case ctx.Err() != nil: // the caller's own context comes first: then nothing is wrong with the service
		return nil, -1, fmt.Errorf("ask model %s: %w", m.o.Model, context.Cause(ctx))
	case err != nil:
		return nil, -1, &Error{
			Kind: ErrUnavailable, Msg: m.o.URL + " does not answer",
			Hint: "see whether the address is right and the service runs", Err: m.redactKey(err),
		}
	case answer.StatusCode != http.StatusOK:
		return nil, retryAfter(answer, body), m.refusedAnswer(answer.StatusCode, body)
	}
	vectors, err = m.parseAnswer(body, len(texts))
	return vectors, -1, err
}

// parseAnswer returns n unit vectors in the order of the texts. Vectors may be listed in any order by their index; an
// answer with a missing, double or unusable one is an error of kind [ErrVectors].
func (m *OpenAI) parseAnswer(body []byte, n int) ([][]float32, error) {
	var got struct {
		Data []struct {
			Index  *int      `json:"index"`
			Vector []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return nil, m.unusableAnswer("answered with something else: " + m.redactKey(err).Error())
	}
	if len(got.Data) != n {
		return nil, m.unusableAnswer(fmt.Sprintf("gave %d vectors for %d texts", len(got.Data), n))
	}
	out := make([][]float32, n)
	for i, d := range got.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil {
			return nil, m.unusableAnswer(fmt.Sprintf("numbered a vector %d of %d", at, n))
		}
		dims := m.checkWidth(len(d.Vector))
		if len(d.Vector) != dims || dims == 0 {
			return nil, m.unusableAnswer(fmt.Sprintf("gave a vector of %d components where %d are expected",
				len(d.Vector), dims))
		}
		if length, ok := scaleToUnit(d.Vector); !ok {
			return nil, m.unusableAnswer(fmt.Sprintf("gave a vector of length %v for text %d of %d", length, at+1, n))
		}
		out[at] = d.Vector
	}
	return out, nil
}

// checkWidth returns the model's number of components, which the first vector decides unless it was given in the
// options.
func (m *OpenAI) checkWidth(n int) int {
	m.dims.CompareAndSwap(0, int64(n))
	return int(m.dims.Load())
}

// unusableAnswer returns the error of an answer that breaks the API's rules.
func (m *OpenAI) unusableAnswer(what string) error {
	return &Error{
		Kind: ErrVectors, Msg: fmt.Sprintf("model %s at %s %s", m.o.Model, m.o.URL, what),
		Hint: "check that it is an embedding model and has this number of dimensions",
	}
}

// refusedAnswer returns the error of an answer whose status is not 200, with a hint that fits the status.
func (m *OpenAI) refusedAnswer(status int, body []byte) error {
	said := m.serviceMessage(status, body)
	e := &Error{
		Kind: ErrUnavailable, Msg: fmt.Sprintf("%s does not serve %s", m.o.URL, m.o.Model),
		Hint: "see the service's own log or status page", Err: said,
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Hint = "see whether OPENAI_API_KEY is a key of this service, and may use the model"
	case http.StatusNotFound:
		e.Kind, e.Msg = ErrModelMissing, fmt.Sprintf("no model %s at %s", m.o.Model, m.o.URL)
		e.Hint = "see the service's list of models, and whether the address ends in /v1 as most do"
	case http.StatusTooManyRequests:
		e.Hint = "wait, or see the limits of the account"
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		e.Hint = "check whether the model accepts this number of dimensions, and texts of this length"
	}
	return e
}

// maxSaid bounds, in bytes, how much of the service's message an error repeats.
const maxSaid = 300

// serviceMessage returns the status with the service's own message, in one line and without the key, if there is a
// message.
func (m *OpenAI) serviceMessage(status int, body []byte) error {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	msg := ""
	if json.Unmarshal(body, &e) == nil && len(e.Error) > 0 {
		var inner struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(e.Error, &inner) == nil && inner.Message != "" {
			msg = inner.Message
		} else {
			_ = json.Unmarshal(e.Error, &msg) // some give a string alone; anything else says nothing to people
		}
	}
	msg = strings.Join(strings.Fields(strings.ToValidUTF8(msg, "")), " ")
	if len(msg) > maxSaid {
		msg = strings.ToValidUTF8(msg[:maxSaid], "") + "…"
	}
	text := fmt.Sprintf("status %d", status)
	if msg != "" {
		text += ": " + msg
	}
	return m.redactKey(errors.New(text))
}

// redactKey removes the key from an error that the service or the network wrote. The copy no longer wraps the original.
func (m *OpenAI) redactKey(err error) error {
	if m.o.Key == "" || !strings.Contains(err.Error(), m.o.Key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), m.o.Key, "[key]"))
}

// retryAfter returns how long to wait before asking again: what the headers say, else 0, or less than zero if asking
// again is no use. Absurdly long headers are cut so that the product cannot overflow.
func retryAfter(answer *http.Response, body []byte) time.Duration {
	switch s := answer.StatusCode; {
	// an account without credit stays so; waiting does not help
	case s == http.StatusTooManyRequests && bytes.Contains(body, []byte("insufficient_quota")):
		return -1
	case s != http.StatusTooManyRequests && s < 500, s == http.StatusNotImplemented:
		return -1
	}
	if ms, err := strconv.ParseFloat(answer.Header.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	}
	after := answer.Header.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil && s >= 0 {
		return time.Duration(min(s, 1e6) * float64(time.Second))
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
