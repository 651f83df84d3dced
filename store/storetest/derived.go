package storetest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"tooldex/embed"
	"tooldex/store"
	"tooldex/tool"
)

// testLoadMoving holds a load to give away every record once, in order and in parts, and to keep what replaces them.
func testLoadMoving(t *testing.T, open Opener) {
	s := open(t)
	const many = 2500
	write(t, s, &store.Batch{Records: Records(0, many)})
	var parts []int
	next := 0
	snap, err := s.LoadMoving(context.Background(), store.View{}, func(part []store.Record) {
		parts = append(parts, len(part))
		for i := range part {
			if part[i].Tool.ID() != Record(next).Tool.ID() {
				t.Fatalf("record %d is %s", next, part[i].Tool.ID())
			}
			part[i].Tool = &tool.Tool{Server: "moved", Name: "tool"}
			next++
		}
	})
	if err != nil || next != many || len(snap.Records) != many || len(parts) < 2 {
		t.Fatalf("%d moved in parts of %v, %d loaded, %v", next, parts, len(snap.Records), err)
	}
	for _, r := range snap.Records {
		if r.Tool.Server != "moved" {
			t.Fatal("a record was not replaced")
		}
	}
}

func testSlimView(t *testing.T, open Opener) {
	s := open(t)
	m := embed.Model{Name: "m", Dims: 2, Fingerprint: "f"}
	long := bytes.Repeat([]byte("0123456789"), 10)
	write(t, s, &store.Batch{
		Model: m, Knowledge: "k", Vectors: map[store.TextHash]store.Vector{{1}: {Scale: 1, Data: []int8{3, -4}}},
		Analyses: map[tool.Hash][]byte{{1}: long, {2}: []byte("short")},
	})
	got := load(t, s, store.View{Model: m, Knowledge: "k", Slim: true})
	if d := diff(map[store.TextHash]store.Vector{{1}: {}}, got.Vectors); d != "" {
		t.Errorf("vectors (-want +got)\n%s", d)
	}
	want := map[tool.Hash][]byte{{1}: long[:store.AnalysisHead], {2}: []byte("short")}
	if d := diff(want, got.Analyses); d != "" {
		t.Errorf("analyses (-want +got)\n%s", d)
	}
}

// testReadDerived reads what was made of some tools: only of those, as it was written, and only at that generation.
func testReadDerived(t *testing.T, open Opener) {
	s := open(t)
	model := embed.Model{Name: "m", Dims: 2, Fingerprint: "f"}
	text := store.HashText("a text")
	textOf := func(b []byte) (store.TextHash, bool) { return text, string(b) == "has a text" }
	one, two, gone := tool.Hash{1}, tool.Hash{2}, tool.Hash{3}
	batch := &store.Batch{
		Records: Records(0, 1), Model: model, Knowledge: "k",
		Vectors:  map[store.TextHash]store.Vector{text: {Scale: 1, Data: []int8{3, -4}}, {7}: {Scale: 1, Data: []int8{1, 1}}},
		Analyses: map[tool.Hash][]byte{one: []byte("has a text"), two: []byte("none")},
	}
	gen := write(t, s, batch)
	v := store.View{Model: model, Knowledge: "k"}
	got, err := s.ReadDerived(context.Background(), v, gen, []tool.Hash{one, gone}, textOf)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(map[tool.Hash][]byte{one: []byte("has a text")}, got.Analyses); d != "" {
		t.Errorf("analyses (-want +got):\n%s", d)
	}
	if d := diff(map[store.TextHash]store.Vector{text: batch.Vectors[text]}, got.Vectors); d != "" {
		t.Errorf("vectors (-want +got):\n%s", d)
	}
	got, err = s.ReadDerived(context.Background(), store.View{Model: model, Knowledge: "other"}, gen, []tool.Hash{one}, textOf)
	if err != nil || len(got.Analyses)+len(got.Vectors) > 0 {
		t.Errorf("of other knowledge: %v, %v", got, err)
	}
	write(t, s, &store.Batch{Records: Records(1, 2)})
	if _, err := s.ReadDerived(context.Background(), v, gen, []tool.Hash{one}, textOf); !errors.Is(err, store.ErrChanged) {
		t.Errorf("of another generation: %v", err)
	}
}

func testModels(t *testing.T, open Opener) {
	s := open(t)
	if got, err := s.Models(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("of an empty store %v, %v", got, err)
	}
	first, second := embed.Model{Name: "b", Fingerprint: "1", Dims: 2}, embed.Model{Name: "a", Fingerprint: "2", Dims: 1}
	x, y := store.HashText("x"), store.HashText("y")
	write(t, s, &store.Batch{Model: first, Vectors: map[store.TextHash]store.Vector{
		x: store.Quantize([]float32{1, 2}), y: store.Quantize([]float32{2, 1}),
	}})
	write(t, s, &store.Batch{Model: second, Vectors: map[store.TextHash]store.Vector{y: store.Quantize([]float32{1})}})
	got, err := s.Models(t.Context(), map[store.TextHash]bool{x: true, store.HashText("z"): true})
	if err != nil {
		t.Fatal(err)
	}
	if d := diff([]store.ModelCount{{Model: second, Vectors: 1}, {Model: first, Vectors: 2, Used: 1}}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// testCompact drops what is not listed, and nothing when the state has changed since the lists were made.
func testCompact(t *testing.T, open Opener) {
	s := open(t)
	m, old := embed.Model{Name: "m", Fingerprint: "f", Dims: 1}, embed.Model{Name: "old", Fingerprint: "o", Dims: 1}
	v := store.Vector{Scale: 1, Data: []int8{1}}
	write(t, s, &store.Batch{Model: old, Vectors: map[store.TextHash]store.Vector{{1}: v}})
	gen := write(t, s, &store.Batch{
		Records: Records(0, 3), Model: m, Vectors: map[store.TextHash]store.Vector{{1}: v, {2}: v}, Knowledge: "k",
		Analyses: map[tool.Hash][]byte{{1}: []byte("a"), {2}: []byte("b")},
	})
	used := store.Used{
		Generation: gen - 1, Models: []embed.Model{m}, Texts: map[store.TextHash]bool{{1}: true}, Knowledge: []string{"k"},
		Analyses: map[tool.Hash]bool{{2}: true},
	}
	if _, err := s.Compact(t.Context(), used); !errors.Is(err, store.ErrChanged) {
		t.Fatalf("compacted for another generation: %v", err)
	}
	used.Generation = gen
	out, err := s.Compact(t.Context(), used)
	if err != nil || out.Vectors != 2 || out.Analyses != 1 || out.Before == 0 || out.After == 0 {
		t.Fatalf("%+v, %v; want 2 vectors and 1 analysis dropped", out, err)
	}
	got := load(t, s, store.View{Model: m, Knowledge: "k"})
	if d := diff(map[store.TextHash]store.Vector{{1}: v}, got.Vectors); d != "" {
		t.Errorf("vectors (-want +got)\n%s", d)
	}
	if d := diff(map[tool.Hash][]byte{{2}: []byte("b")}, got.Analyses); d != "" || len(got.Records) != 3 {
		t.Errorf("%d records, analyses (-want +got)\n%s", len(got.Records), d)
	}
	if n := len(load(t, s, store.View{Model: old}).Vectors); n != 0 {
		t.Errorf("%d vectors of a model that is not used", n)
	}
}
