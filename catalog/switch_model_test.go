package catalog

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"testing"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/store"
	"tooldex/tool"
)

// hashed is an embedder of three dimensions whose vectors depend on nothing but the text and its own name.
type hashed struct {
	name   string
	asked  int            // documents, over all calls
	before func(docs int) // called by Documents with those asked for so far
	fail   error
	spoil  func(v [][]float32)
}

func (h *hashed) Model() embed.Model {
	return embed.Model{Name: h.name, Dims: 3, Fingerprint: h.name}
}

func (h *hashed) vector(text string) []float32 {
	f := fnv.New32a()
	fmt.Fprint(f, h.name, text)
	s, c := math.Sincos(float64(f.Sum32()))
	return []float32{float32(s), float32(c), 0}
}

func (h *hashed) Queries(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = h.vector(t)
	}
	return out, h.fail
}

func (h *hashed) Documents(ctx context.Context, docs []embed.Document) ([][]float32, error) {
	if h.before != nil {
		h.before(h.asked)
	}
	if h.fail != nil {
		return nil, h.fail
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	h.asked += len(docs)
	out := make([][]float32, len(docs))
	for i, d := range docs {
		out[i] = h.vector(d.Name + d.Description)
	}
	if h.spoil != nil {
		h.spoil(out)
	}
	return out, nil
}

// usedCatalog holds many tools, embedded with the model "old".
func usedCatalog(t *testing.T, dir string, n int) (*Catalog, *index.Index) {
	t.Helper()
	x := &index.Index{}
	c, err := Open(t.Context(), Options{
		Store: openStore(t, dir), Model: Model{Embedder: &hashed{name: "old"}},
		Index: x,
	})
	if err != nil {
		t.Fatal(err)
	}
	src := &fake{name: "s"}
	for i := range n {
		src.tools = append(src.tools, aTool("s", fmt.Sprintf("tool_%03d", i), fmt.Sprintf("Does thing number %d.", i)))
	}
	mustSync(t, c, src)
	return c, x
}

func TestUse(t *testing.T) {
	dir := t.TempDir()
	c, x := usedCatalog(t, dir, 150)
	next := &hashed{name: "next"}
	next.before = func(int) {
		if got := x.Current(); got.Model() != "old" || got.Dims() != 3 || c.Set().Len() != 150 {
			t.Errorf("while it embeds, the index is of %q", got.Model())
		}
	}
	var told []int
	if err := c.Use(t.Context(), Model{Embedder: next}, func(done, total int) {
		told = append(told, done)
		if total != 150 {
			t.Errorf("of %d", total)
		}
	}); err != nil {
		t.Fatal(err)
	}
	next.before = nil
	if d := diff([]int{64, 128, 150}, told); d != "" {
		t.Errorf("progress (-want +got):\n%s", d)
	}
	if x.Current().Model() != "next" || x.Current().Dims() != 3 || next.asked != 150 {
		t.Errorf("afterwards the index is of %q, and %d were asked for", x.Current().Model(), next.asked)
	}
	if err := c.Use(t.Context(), Model{Embedder: next}, nil); err != nil || next.asked != 150 {
		t.Errorf("once more: %v, %d asked for", err, next.asked)
	}
	mustSync(t, c, &fake{name: "more", tools: []*tool.Tool{aTool("more", "new", "Is new.")}})
	if next.asked != 150 || x.Current().Model() != "next" || x.Current().Len() != 151 {
		t.Errorf("a new tool is not there at once: %d asked for, index of %q", next.asked, x.Current().Model())
	}
	if err := c.Use(t.Context(), Model{Embedder: next}, nil); err != nil || next.asked != 151 {
		t.Errorf("a new tool: %v, %d asked for", err, next.asked)
	}
	back := &hashed{name: "old"}
	if err := c.Use(t.Context(), Model{Embedder: back}, nil); err != nil || back.asked != 1 ||
		x.Current().Model() != "old" {
		t.Errorf("back to the old one, which lacks the new tool: %v, %d asked for", err, back.asked)
	}
}

// TestUseGoesOn stops a switch in several ways, and finishes it from another process.
func TestUseGoesOn(t *testing.T) {
	down := errors.New("down")
	tests := []struct {
		name string
		stop func(h *hashed, cancel func())
		want error
		code tool.Code
	}{
		{"the model fails", func(h *hashed, _ func()) { h.fail = down }, down, tool.Internal},
		{"the caller stops", func(_ *hashed, cancel func()) { cancel() }, context.Canceled, tool.Timeout},
		{"vectors that are no numbers", func(h *hashed, _ func()) {
			h.spoil = func(v [][]float32) { v[3][1] = float32(math.NaN()) }
		}, nil, tool.Unavailable},
		{"vectors too wide", func(h *hashed, _ func()) {
			h.spoil = func(v [][]float32) { v[3] = append(v[3], 1) }
		}, nil, tool.Unavailable},
		{"another model under the name", func(h *hashed, _ func()) { h.name = "other" }, nil, tool.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c, x := usedCatalog(t, dir, 150)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			next := &hashed{name: "next"}
			next.before = func(asked int) {
				if asked == 128 {
					tt.stop(next, cancel)
				}
			}
			err := c.Use(ctx, Model{Embedder: next}, nil)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || tool.CodeOf(err) != tt.code {
				t.Fatalf("error %v", err)
			}
			if x.Current().Model() != "old" {
				t.Errorf("afterwards the index is of %q", x.Current().Model())
			}
			if _, err := c.Refresh(t.Context()); err != nil || x.Current().Model() != "old" {
				t.Errorf("after a refresh it is of %q: %v", x.Current().Model(), err)
			}
			again, err := Open(t.Context(), Options{
				Store: openStore(t, dir),
				Model: Model{Embedder: &hashed{name: "old"}}, Index: &index.Index{},
			})
			if err != nil {
				t.Fatal(err)
			}
			rest := &hashed{name: "next"}
			if err := again.Use(t.Context(), Model{Embedder: rest}, nil); err != nil || rest.asked != 22 {
				t.Errorf("to finish, %d were asked for, error %v", rest.asked, err)
			}
		})
	}
}

// TestUseWhileToolsChange adds a tool in the middle of a switch.
func TestUseWhileToolsChange(t *testing.T) {
	c, x := usedCatalog(t, t.TempDir(), 70)
	next := &hashed{name: "next"}
	next.before = func(asked int) {
		if asked == 64 {
			next.before = nil
			mustSync(t, c, &fake{name: "more", tools: []*tool.Tool{aTool("more", "new", "Is new.")}})
		}
	}
	if err := c.Use(t.Context(), Model{Embedder: next}, nil); err != nil {
		t.Fatal(err)
	}
	if next.asked != 71 || x.Current().Len() != 71 || x.Current().Model() != "next" {
		t.Errorf("%d asked for, %d tools, index of %q", next.asked, x.Current().Len(), x.Current().Model())
	}
	snap, err := c.o.Store.Load(t.Context(), store.View{Model: embed.Model{Name: "next", Dims: 3, Fingerprint: "next"}})
	if err != nil || len(snap.Vectors) != 71 {
		t.Errorf("%d vectors stored, error %v", len(snap.Vectors), err)
	}
}

func TestUseOfNothing(t *testing.T) {
	c, x := usedCatalog(t, t.TempDir(), 0)
	next := &hashed{name: "next"}
	if err := c.Use(t.Context(), Model{Embedder: next}, nil); err != nil {
		t.Fatal(err)
	}
	mustSync(t, c, &fake{name: "s", tools: []*tool.Tool{aTool("s", "new", "Is new.")}})
	if x.Current().Model() != "old" || next.asked != 0 {
		t.Errorf("a model that had nothing to embed has taken over: index of %q", x.Current().Model())
	}
	if err := c.Use(t.Context(), Model{}, nil); tool.CodeOf(err) != tool.Invalid {
		t.Error(err)
	}
}
