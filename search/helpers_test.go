package search

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

var update = flag.Bool("update", false, "write golden files anew")

// model is opened once for all tests: it is immutable.
var model = sync.OnceValues(catalog.BuiltinModel)

func builtin(t testing.TB) catalog.Model {
	t.Helper()
	m, err := model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fixed is a Lookup of one snapshot.
type fixed struct{ s *index.Snapshot }

func (f fixed) Current() *index.Snapshot { return f.s }

func snapshotOf(t testing.TB, tools []*tool.Tool) *index.Snapshot {
	t.Helper()
	s, err := catalog.NewSnapshot(context.Background(), tool.NewSet(tools, ""), builtin(t), index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// options are those of the program, over s.
func options(t testing.TB, s *index.Snapshot) Options {
	m := builtin(t)
	return Options{Lookup: fixed{s}, Embedder: m.Embedder, Base: m.Base, Map: m.Encoder}
}

func engineOf(t testing.TB, tools []*tool.Tool) *Engine {
	t.Helper()
	return New(options(t, snapshotOf(t, tools)))
}

// catalogue reads the tools of testdata.
func catalogue(t testing.TB) []*tool.Tool {
	t.Helper()
	f, err := os.Open("testdata/catalogue.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []*tool.Tool
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		one := new(tool.Tool)
		if err := json.Unmarshal(lines.Bytes(), one); err != nil {
			t.Fatal(err)
		}
		if _, err := sanitize.Tool(one); err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	if lines.Err() != nil || len(out) < 40 {
		t.Fatal(len(out), lines.Err())
	}
	return out
}

// labelled is a line of testdata/queries.txt.
type labelled struct {
	text string
	want tool.ID // "" where no tool fits
}

func queries(t testing.TB) []labelled {
	t.Helper()
	data, err := os.ReadFile("testdata/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []labelled
	for line := range strings.Lines(string(data)) {
		text, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok {
			continue
		}
		if want == "none" {
			want = ""
		}
		out = append(out, labelled{text, tool.ID(want)})
	}
	if len(out) < 40 {
		t.Fatalf("only %d queries", len(out))
	}
	return out
}

func mustSearch(t testing.TB, e *Engine, q tool.Query) *tool.Result {
	t.Helper()
	r, err := e.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Text+strings.Join(q.Texts, "; "), err)
	}
	return r
}

func hitIDs(hits []tool.Hit) []tool.ID {
	out := []tool.ID{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

// archetypeTools makes n tools of what the knowledge has, spread over all kinds: as many servers and as different as a
// large company's.
func archetypeTools(t testing.TB, n int) []*tool.Tool {
	t.Helper()
	base := builtin(t).Base
	out := make([]*tool.Tool, 0, n)
	for i := range n {
		h, err := base.Head(i * base.Len() / n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, &tool.Tool{
			Server: strings.ReplaceAll(h.Server, "/", "-"), Name: h.Name,
			Description: h.Title + ". " + h.Utterances[0], InputSchema: json.RawMessage(`{"type":"object"}`),
		})
	}
	return out
}

// failing is an embedder that cannot be reached.
type failing struct {
	embed.Embedder
	err error
}

func (f failing) Queries(context.Context, []string) ([][]float32, error) { return nil, f.err }

// narrow is an embedder of another width.
type narrow struct{ embed.Embedder }

func (narrow) Queries(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1, 0}
	}
	return out, nil
}

// past is a deadline that is over.
var past = time.Unix(0, 0)

// ending is an embedder during whose work the caller goes away.
type ending struct {
	failing
	leave context.CancelFunc
}

func (e ending) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	e.leave()
	return e.failing.Queries(ctx, texts)
}
