package store

import (
	"context"
	"errors"
	"testing"

	"tooldex/embed"
	"tooldex/tool"
)

// TestReadDerived reads what was made of some tools: only of those, as it was written, and only at that generation.
func TestReadDerived(t *testing.T) {
	s := open(t, t.TempDir())
	model := embed.Model{Name: "m", Dims: 2, Fingerprint: "f"}
	text := HashText("a text")
	textOf := func(b []byte) (TextHash, bool) { return text, string(b) == "has a text" }
	one, two, gone := tool.Hash{1}, tool.Hash{2}, tool.Hash{3}
	batch := &Batch{
		Records: records(0, 1), Model: model, Knowledge: "k", Vectors: map[TextHash]Vector{text: {1, []int8{3, -4}}},
		Analyses: map[tool.Hash][]byte{one: []byte("has a text"), two: []byte("none")},
	}
	gen := write(t, s, batch)
	v := View{Model: model, Knowledge: "k"}
	got, err := s.ReadDerived(context.Background(), v, gen, []tool.Hash{one, gone}, textOf)
	if err != nil {
		t.Fatal(err)
	}
	want := map[tool.Hash][]byte{one: []byte("has a text")}
	if d := diff(want, got.Analyses); d != "" {
		t.Errorf("analyses (-want +got):\n%s", d)
	}
	if d := diff(batch.Vectors, got.Vectors); d != "" {
		t.Errorf("vectors (-want +got):\n%s", d)
	}
	got, err = s.ReadDerived(context.Background(), View{Model: model, Knowledge: "other"}, gen, []tool.Hash{one}, textOf)
	if err != nil || len(got.Analyses)+len(got.Vectors) > 0 {
		t.Errorf("of other knowledge: %v, %v", got, err)
	}
	write(t, s, &Batch{Records: records(1, 2)})
	if _, err := s.ReadDerived(context.Background(), v, gen, []tool.Hash{one}, textOf); !errors.Is(err, ErrChanged) {
		t.Errorf("of another generation: %v", err)
	}
}
