package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// load is what clients do to the command.
type load struct {
	*served
	*tally
	http *http.Client

	mu     sync.Mutex // guards the following
	random *rand.Rand
	open   []string // sessions that nobody ends
}

func newLoad(s *served, seed uint64) *load {
	return &load{
		served: s, tally: &tally{all: map[string]*count{}}, random: rand.New(rand.NewPCG(seed, 1)),
		http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
}

var requests = []string{
	"bill a customer", "which parcels are on their way", "plan a lesson for tomorrow", "how warm is it in the kitchen",
	"close a ticket", "rename a playlist",
	"give back the number I say", "make a copy of all contracts", "what grows in the garden",
	"count the invoices of the office", "draw me a horoscope",
}

func (l *load) request() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return requests[l.random.IntN(len(requests))]
}

// The things that clients do. Each returns what is wrong with the answer.

func (l *load) search(ctx context.Context) error {
	body, err := l.send(ctx, http.MethodGet, "/search?q="+url.QueryEscape(l.request()), nil, http.StatusOK)
	if err == nil && !bytes.Contains(body, []byte(`"tools":[`)) {
		err = fmt.Errorf("the answer is %.200s", body)
	}
	return err
}

func (l *load) choose(ctx context.Context) error {
	body, err := l.send(ctx, http.MethodPost, "/api/tools/select", map[string]any{
		"message": l.request(),
		"session": l.request(), "format": "openai",
	}, http.StatusOK)
	if err == nil && !bytes.Contains(body, []byte(`"tools":[`)) {
		err = fmt.Errorf("the answer is %.200s", body)
	}
	return err
}

// call calls a tool over the API, and wants an answer that holds a text.
func (l *load) call(ctx context.Context, server, name string, n int, want string) error {
	body, err := l.send(ctx, http.MethodPost, "/api/tools/"+server+"/"+name+"/call",
		map[string]any{"arguments": map[string]any{"n": n}}, http.StatusOK)
	if err == nil && !bytes.Contains(body, []byte(want)) {
		err = fmt.Errorf("the answer is %.200s", body)
	}
	return err
}

func (l *load) echo(ctx context.Context, server string) error {
	return l.call(ctx, server, "echo_number", 12345, `"12345"`)
}

// callMortal calls the server that is killed: that it is gone is no surprise.
func (l *load) callMortal(ctx context.Context) error {
	err := l.echo(ctx, mortal)
	var answered *refusal
	if errors.As(err, &answered) && answered.status == http.StatusServiceUnavailable &&
		strings.Contains(answered.body, `server \"`+mortal+`\"`) {
		return fault{"a server that was killed", err}
	}
	return err
}

// visit opens a session over MCP, searches and calls in it, and ends it.
func (l *load) visit(ctx context.Context) error {
	s, err := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: l.base + "/mcp", HTTPClient: l.http, MaxRetries: -1}, nil)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = s.Close() }()
	return l.use(ctx, s)
}

// use searches and calls in a session.
func (l *load) use(ctx context.Context, s *mcp.ClientSession) error {
	for _, one := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"search_tools", map[string]any{"query": l.request()}, ""},
		{"invoke_tool", map[string]any{"name": steady + "__echo_number", "arguments": map[string]any{"n": 7}}, "7"},
		{far + "__echo_number", map[string]any{"n": 8}, "8"},
	} {
		res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: one.name, Arguments: one.args})
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		text := ""
		for _, c := range res.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				text += t.Text
			}
		}
		if res.IsError || text == "" || one.want != "" && text != one.want {
			return fmt.Errorf("%s answers %.200q", one.name, text)
		}
	}
	return nil
}

// stay opens a session that is never ended.
func (l *load) stay(ctx context.Context) error {
	_, err := l.begin(ctx)
	return err
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`

func (l *load) begin(ctx context.Context) (session string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.base+"/mcp", strings.NewReader(initialize))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := l.http.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return "", err
	}
	if session = res.Header.Get("Mcp-Session-Id"); session == "" {
		return "", fmt.Errorf("no session, status %d", res.StatusCode)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, session)
	return session, nil
}

// bring imports a listing that differs from the one before.
func (l *load) bring(ctx context.Context) error {
	l.mu.Lock()
	file := l.dumps[l.random.IntN(len(l.dumps))]
	l.mu.Unlock()
	if out, err := l.command(ctx, "import", file); err != nil {
		return fmt.Errorf("%w: %.500s", err, out)
	}
	return nil
}

// ask searches on the command line.
func (l *load) ask(ctx context.Context) error {
	out, err := l.command(ctx, "search", "-o", "json", "count the invoices of the office")
	if err == nil && !bytes.Contains(out, []byte("count_invoice_office")) {
		err = errors.New("the tool is not found")
	}
	if err != nil {
		return fmt.Errorf("%w: %.500s", err, out)
	}
	return nil
}

// refusal is an answer with another status than was wanted.
type refusal struct {
	status int
	body   string
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %.300s", r.status, r.body) }

func (l *load) send(ctx context.Context, method, path string, v any, want int) ([]byte, error) {
	var body io.Reader
	if v != nil {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, l.base+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := l.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != want {
		return nil, &refusal{res.StatusCode, string(b)}
	}
	return b, nil
}

// wakeAll has every upstream run.
func (l *load) wakeAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, server := range []string{steady, mortal, stormy, far} {
		for err := l.echo(ctx, server); err != nil; err = l.echo(ctx, server) { // one that was killed has its pause
			if !pause(ctx, 100*time.Millisecond) {
				return fmt.Errorf("%s: %w", server, err)
			}
		}
	}
	l.http.CloseIdleConnections()
	return nil
}

// warmUp does everything a few times, so that what is made once has been made.
func (l *load) warmUp(ctx context.Context) error {
	for deadline := time.Now().Add(time.Minute); ; { // the tools are read while the command serves
		if l.wakeAll(ctx) == nil {
			break
		}
		if time.Now().After(deadline) {
			return errors.New("the upstreams cannot be called")
		}
	}
	for range 20 {
		for _, do := range []func(context.Context) error{
			l.search, l.choose, l.visit,
			func(ctx context.Context) error { return l.use(ctx, l.pipe) },
		} {
			if err := do(ctx); err != nil {
				return err
			}
		}
	}
	for range 3 {
		if err := l.call(ctx, stormy, "stir_up", 100, "stirred"); err != nil {
			return err
		}
		if err := l.bring(ctx); err != nil {
			return err
		}
	}
	l.http.CloseIdleConnections()
	return nil
}

// The pace of the clients whose times are compared at rest and under load.
const probeEvery = 50 * time.Millisecond

// probe searches and calls at a moderate pace until ctx ends.
func (l *load) probe(ctx context.Context, when string) {
	for pause(ctx, probeEvery) {
		l.do(ctx, "search "+when, l.search)
		l.do(ctx, "call "+when, func(ctx context.Context) error { return l.echo(ctx, steady) })
	}
	l.http.CloseIdleConnections()
}

// run has all clients at work until ctx ends, and looks at the command every second.
func (l *load) run(ctx context.Context) []state {
	var all sync.WaitGroup
	repeat := func(every time.Duration, name string, do func(context.Context) error) {
		all.Go(func() {
			for pause(ctx, every) {
				l.do(ctx, name, do)
			}
		})
	}
	all.Go(func() { l.probe(ctx, "under load") })
	for range 2 {
		repeat(100*time.Millisecond, "search", l.search)
		repeat(500*time.Millisecond, "session over MCP", l.visit)
	}
	repeat(200*time.Millisecond, "select", l.choose)
	repeat(200*time.Millisecond, "calls on standard streams", func(ctx context.Context) error {
		return l.use(ctx, l.pipe)
	})
	repeat(200*time.Millisecond, "call of a server that is killed", l.callMortal)
	repeat(500*time.Millisecond, "session that is never ended", l.stay)
	repeat(2*time.Second, "call with a large answer", func(ctx context.Context) error {
		return l.call(ctx, steady, "fill_page", 1<<20, "xxx")
	})
	repeat(4*time.Second, "import", l.bring)
	repeat(10*time.Second, "search on the command line", l.ask)
	l.misbehave(ctx, repeat)
	var samples []state
	begin := time.Now()
	for pause(ctx, time.Second) {
		l.do(ctx, "look at the metrics", func(ctx context.Context) error {
			now, err := l.look(ctx)
			now.At = time.Since(begin)
			if err == nil {
				samples = append(samples, now)
			}
			return err
		})
		if len(samples)%60 == 1 {
			fmt.Fprintf(os.Stderr, "%+v\n", samples[len(samples)-1])
		}
	}
	all.Wait()
	return samples
}

// leave ends the sessions that are still open.
func (l *load) leave(ctx context.Context) {
	for _, id := range l.open {
		req, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.base+"/mcp", nil)
		if err != nil {
			continue
		}
		req.Header.Set("Mcp-Session-Id", id)
		if res, err := l.http.Do(req); err == nil { // most have had to give way
			_ = res.Body.Close()
		}
	}
	l.http.CloseIdleConnections()
}
