package search

import (
	"context"
	"errors"
	"testing"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/tool"
)

// pointing is an embedder whose every vector points one way.
type pointing struct {
	name string
	to   []float32
	err  error
}

func (p *pointing) Model() embed.Model {
	return embed.Model{Name: p.name, Dims: len(p.to), Fingerprint: p.name}
}

func (p *pointing) Queries(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = p.to
	}
	return out, p.err
}

func (p *pointing) Documents(ctx context.Context, docs []embed.Document) ([][]float32, error) {
	return p.Queries(ctx, make([]string, len(docs)))
}

// TestFallback has an index of one model, while another is on its way.
func TestFallback(t *testing.T) {
	set := tool.NewSet([]*tool.Tool{{Server: "s", Name: "a"}, {Server: "s", Name: "b"}}, "")
	chosen, builtin := &pointing{name: "chosen", to: []float32{1, 0}}, &pointing{name: "builtin", to: []float32{0, 1}}
	tests := []struct {
		name, model string
		broken      error
		first       string
		degraded    bool
	}{
		{"vectors of the chosen model", "chosen", nil, "a", false},
		{"vectors of the other, of the same width", "builtin", nil, "b", false},
		{"vectors of neither", "former", nil, "", true},
		{"the chosen model does not answer, and its vectors are there", "chosen", errors.New("down"), "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			docs := []index.Doc{{Vector: []float32{1, 0}}, {Vector: []float32{0, 1}}}
			snap, err := index.Build(set, docs, index.Options{Model: tt.model})
			if err != nil {
				t.Fatal(err)
			}
			var x index.Index
			x.Swap(snap)
			chosen.err = tt.broken
			e := New(Options{Lookup: &x, Embedder: chosen, Fallback: builtin})
			r, err := e.Search(t.Context(), tool.Query{Text: "whatever it is"})
			if err != nil {
				t.Fatal(err)
			}
			if (r.Degraded != "") != tt.degraded {
				t.Errorf("degraded %q", r.Degraded)
			}
			if tt.first != "" && (len(r.Tools) == 0 || r.Tools[0].Name != tt.first) {
				t.Errorf("found %+v, want %s first", r.Tools, tt.first)
			}
		})
	}
}
