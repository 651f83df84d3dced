package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// DefaultURL is the address of the official registry.
const DefaultURL = "https://registry.modelcontextprotocol.io"

// Bounds of one question.
const (
	maxEntries = 100
	maxAnswer  = 8 << 20 // bytes
	timeout    = 20 * time.Second
	fresh      = time.Hour // for so long an answer on disk is used without a question
)

// Client asks one registry. Its methods are safe for concurrent use. The zero Client asks the official registry and
// keeps nothing.
type Client struct {
	URL   string       // of the registry, without the path of the API; "" means DefaultURL
	Cache string       // the folder of kept answers, made when first needed; "" keeps none
	HTTP  *http.Client // nil means one that waits 20 seconds
}

// Found is the answer to a search.
type Found struct {
	Entries []Entry `json:"servers"`
	// Since is when the registry gave the answer; zero if it was just asked.
	Since time.Time `json:"since,omitzero"`
}

// Search returns the servers whose name or description has the words of a query, in the registry's order, at most limit
// (0 means 30, the most is 100). An answer of the last hour is not asked for again, and an older one is used where the
// registry cannot be reached. The error is Invalid for an address that is none, and Unavailable where there is neither
// an answer nor a kept one.
func (c *Client) Search(ctx context.Context, query string, limit int) (*Found, error) {
	if limit <= 0 {
		limit = 30
	}
	q := url.Values{"search": {query}, "version": {"latest"}, "limit": {strconv.Itoa(min(limit, maxEntries))}}
	body, since, err := c.get(ctx, "/servers?"+q.Encode())
	if err != nil {
		return nil, err
	}
	var listed struct {
		Servers []listedEntry `json:"servers"`
	}
	if err := json.Unmarshal(body, &listed); err != nil {
		return nil, c.unavailable("its answer is not one of the registry API", err)
	}
	found := &Found{Since: since}
	for _, l := range listed.Servers {
		if e, ok := l.entry(); ok && len(found.Entries) < limit {
			found.Entries = append(found.Entries, e)
		}
	}
	return found, nil
}

// Get returns the latest version of the server with this name, such as io.github.owner/name. The error is NotFound if
// the registry has none; otherwise as of Search.
func (c *Client) Get(ctx context.Context, name string) (*Entry, error) {
	body, _, err := c.get(ctx, "/servers/"+url.PathEscape(name)+"/versions/latest")
	if err != nil {
		return nil, err
	}
	var listed listedEntry
	if err := json.Unmarshal(body, &listed); err != nil {
		return nil, c.unavailable("its answer is not one of the registry API", err)
	}
	e, ok := listed.entry()
	if !ok || e.Name != name {
		return nil, notFound(name)
	}
	return &e, nil
}

func notFound(name string) error {
	return &tool.Error{
		Code: tool.NotFound, Op: "ask registry", Msg: fmt.Sprintf("the registry has no server %q", name),
		Hint: "tooldex servers search lists names",
	}
}

// kept is an answer on disk.
type kept struct {
	Time time.Time       `json:"time"`
	Body json.RawMessage `json:"body"`
}

// get returns the body of a path of the API, and when the registry gave it; the time is zero for a new answer.
func (c *Client) get(ctx context.Context, path string) ([]byte, time.Time, error) {
	base, err := url.Parse(strings.TrimRight(c.base(), "/"))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, time.Time{}, &tool.Error{
			Code: tool.Invalid, Op: "ask registry", Msg: fmt.Sprintf("%q is not the address of a registry", c.URL),
			Hint: "give it like " + DefaultURL,
		}
	}
	old, have := c.read(path)
	if have && time.Since(old.Time) < fresh {
		return old.Body, old.Time, nil
	}
	body, err := c.ask(ctx, base.String()+"/v0.1"+path)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusNotFound { // an older registry, or no such server
		body, err = c.ask(ctx, base.String()+"/v0"+path)
		if errors.As(err, &status) && status.code == http.StatusNotFound {
			name, _ := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(path, "/servers/"), "/versions/latest"))
			return nil, time.Time{}, notFound(name)
		}
	}
	switch {
	case err == nil:
		return body, time.Time{}, c.keep(path, body)
	case ctx.Err() != nil:
		return nil, time.Time{}, context.Cause(ctx)
	case have:
		return old.Body, old.Time, nil
	}
	return nil, time.Time{}, c.unavailable("it does not answer", err)
}

func (c *Client) base() string {
	if c.URL == "" {
		return DefaultURL
	}
	return c.URL
}

func (c *Client) unavailable(what string, err error) error {
	return &tool.Error{
		Code: tool.Unavailable, Op: "ask registry", Msg: "the registry at " + c.base() + ": " + what, Err: err,
		Hint: "check the network, or the setting registry",
	}
}

// statusError is an answer with another status than 200.
type statusError struct{ code int }

func (e *statusError) Error() string { return "status " + strconv.Itoa(e.code) }

// ask returns the body of a new answer, which is JSON.
func (c *Client) ask(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: timeout}
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read: nothing can be lost
	if resp.StatusCode != http.StatusOK {
		return nil, &statusError{resp.StatusCode}
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	case !json.Valid(b):
		return nil, errors.New("the answer is not JSON")
	}
	return b, nil
}

// file returns where the answer to a path of this registry is kept.
func (c *Client) file(path string) string {
	sum := sha256.Sum256([]byte(c.base() + " " + path))
	return filepath.Join(c.Cache, hex.EncodeToString(sum[:16])+".json")
}

// read returns the kept answer to a path. A file that cannot be read counts as none: the registry is asked again.
func (c *Client) read(path string) (kept, bool) {
	var k kept
	if c.Cache == "" {
		return k, false
	}
	b, err := os.ReadFile(c.file(path))
	if err != nil || json.Unmarshal(b, &k) != nil {
		return kept{}, false
	}
	return k, len(k.Body) > 0
}

// keep stores an answer.
func (c *Client) keep(path string, body []byte) error {
	if c.Cache == "" {
		return nil
	}
	b, err := json.Marshal(kept{time.Now().UTC(), body})
	if err == nil {
		if err = os.MkdirAll(c.Cache, 0o700); err == nil {
			err = atomicfile.Write(c.file(path), b, 0o600)
		}
	}
	if err != nil {
		return &tool.Error{
			Code: tool.Unavailable, Op: "ask registry", Msg: "the answer of the registry cannot be kept in " + c.Cache,
			Hint: "check the folder and the space on its disk", Err: err,
		}
	}
	return nil
}
