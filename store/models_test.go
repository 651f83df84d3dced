package store

import (
	"testing"

	"tooldex/embed"

	"github.com/google/go-cmp/cmp"
)

func TestModels(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Models(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("of an empty store %v, %v", got, err)
	}
	first, second := embed.Model{Name: "b", Fingerprint: "1", Dims: 2}, embed.Model{Name: "a", Fingerprint: "2", Dims: 1}
	x, y := HashText("x"), HashText("y")
	for _, b := range []*Batch{
		{Model: first, Vectors: map[TextHash]Vector{x: Quantize([]float32{1, 2}), y: Quantize([]float32{2, 1})}},
		{Model: second, Vectors: map[TextHash]Vector{y: Quantize([]float32{1})}},
	} {
		if _, err := s.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Models(t.Context(), map[TextHash]bool{x: true, HashText("z"): true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]ModelCount{{second, 1, 0}, {first, 2, 1}}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for _, key := range []string{"", "a", "a\x00b", "a\x00b\x00c", "a\x00b\x001\x002"} {
		if m, ok := modelOf([]byte(key)); ok {
			t.Errorf("%q is %v", key, m)
		}
	}
}
