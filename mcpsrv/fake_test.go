package mcpsrv

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/validate"
)

// fixture is a server over a real set, with a search that matches words and upstreams that answer from functions.
type fixture struct {
	*Server
	set     atomic.Pointer[tool.Set]
	queries chan tool.Query

	mu    sync.Mutex
	calls []tool.Call
	// answer runs a call; nil answers with the arguments as text.
	answer func(context.Context, tool.Call) (*tool.CallResult, error)
	found  func(tool.Query) (*tool.Result, error)
	log    syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (f *fixture) Set() *tool.Set { return f.set.Load() }

func (f *fixture) Call(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	if f.answer != nil {
		return f.answer(ctx, c)
	}
	return &tool.CallResult{Raw: object{{Key: "content", Value: textContent(string(c.ID) + " " + string(c.Arguments))}}.Bytes()},
		nil
}

// last returns the call that reached the upstream, which must be the only one since it was last asked.
func (f *fixture) last(t *testing.T) tool.Call {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) != 1 {
		t.Fatalf("%d calls reached the upstream, want 1", len(f.calls))
	}
	c := f.calls[0]
	f.calls = nil
	return c
}

func (f *fixture) none(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) != 0 {
		t.Fatalf("a call reached the upstream: %s %s", f.calls[0].ID, f.calls[0].Arguments)
	}
}

// Search ranks tools by how many words of the query their texts hold.
func (f *fixture) Search(_ context.Context, q tool.Query) (*tool.Result, error) {
	select {
	case f.queries <- q:
	default:
	}
	if f.found != nil {
		return f.found(q)
	}
	texts := q.Texts
	if len(texts) == 0 {
		texts = []string{q.Text}
	}
	res := &tool.Result{Query: q.Text, Tools: []tool.Hit{}, Confident: true}
	for _, text := range texts {
		hits := f.match(text, q)
		res.Tools = append(res.Tools, hits...)
		res.Confident = res.Confident && len(hits) > 0
		if len(q.Texts) > 0 {
			res.Groups = append(res.Groups, tool.Group{Query: text, Tools: hits, Confident: len(hits) > 0})
		}
	}
	return res, nil
}

func (f *fixture) match(text string, q tool.Query) []tool.Hit {
	set := f.Set()
	words := strings.Fields(strings.ToLower(text))
	var hits []tool.Hit
	for _, t := range set.All() {
		if !q.Filter.Match(t) {
			continue
		}
		doc := strings.ToLower(t.Name + " " + t.Summary + " " + t.Description)
		n := 0
		for _, w := range words {
			if strings.Contains(doc, w) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		h := tool.Hit{
			ID: t.ID(), Name: t.Name, Server: t.Server, Exposed: set.Exposed(t.ID()), Summary: t.Summary,
			Category: t.Category, Warning: t.Warning, Deprecated: t.Deprecated, Score: float64(n) / float64(len(words)), Tool: t,
		}
		switch q.Detail {
		case tool.DetailSchema:
			h.Schema = t.InputSchema
			fallthrough
		case tool.DetailSignature:
			h.Signature = t.Signature()
		}
		if q.Explain {
			h.Explain = &tool.Explain{
				Keyword: float64(n), Semantic: .5, Fused: h.Score, Weight: .4,
				Borrowed: []tool.Loan{{Archetype: "files", Weight: .8}},
			}
		}
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b tool.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), cmp.Or(q.Limit, tool.DefaultLimit))]
}

func newFixture(t testing.TB, tools []*tool.Tool, o Options) *fixture {
	t.Helper()
	f := &fixture{queries: make(chan tool.Query, 16)}
	f.set.Store(tool.NewSet(tools, ""))
	o.Searcher, o.Catalog = f, f
	o.Version = "1.2.3"
	o.Logger = slog.New(slog.NewTextHandler(&f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.Schemas = validate.NewSchemas(o.Logger)
	o.Caller = validate.NewCaller(f, f, o.Schemas)
	f.Server = New(o)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func smallServer(t testing.TB) []*tool.Tool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "small.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tools []*tool.Tool
	if err := json.Unmarshal(raw, &tools); err != nil {
		t.Fatal(err)
	}
	return tools
}

// connect opens a session of the SDK's client. Revision "" is its newest.
func (f *fixture) connect(t testing.TB, revision string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	theirs, ours := mcp.NewInMemoryTransports()
	ran := make(chan error, 1)
	go func() { ran <- f.Run(context.Background(), ours) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), theirs,
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return session
}

func text(r *mcp.CallToolResult) string {
	var parts []string
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// ask calls a tool with arguments given as JSON and returns its text and whether it is a tool error.
func ask(t *testing.T, session *mcp.ClientSession, name, args string) (string, bool) {
	t.Helper()
	p := &mcp.CallToolParams{Name: name}
	if args != "" {
		p.Arguments = json.RawMessage(args)
	}
	res, err := session.CallTool(t.Context(), p)
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return text(res), res.IsError
}

// countTokens estimates how many tokens a model reads for s: characters / 4, rounded up.
func countTokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }
