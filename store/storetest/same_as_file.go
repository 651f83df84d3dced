package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tooldex/embed"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/upstream"
)

// testSameAsFile makes random changes to a backend and to a file, and compares all that they hold after each.
func testSameAsFile(t *testing.T, open Opener) {
	file, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	v := store.View{Model: embed.Model{Name: "m", Fingerprint: "f", Dims: 4}, Knowledge: "7"}
	two := []store.Backend{open(t), open(t)}
	for n := range 30 {
		b := randomBatch(r, v)
		if _, err := file.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		write(t, two[n%2], b)
		want, got := load(t, file, v), load(t, two[r.IntN(2)], v)
		got.Generation = want.Generation
		if d := diff(want, got); d != "" {
			t.Fatalf("after change %d (-want +got)\n%s", n, d)
		}
	}
}

// randomBatch returns a batch that changes about a third of a few entries of each kind.
func randomBatch(r *rand.Rand, v store.View) *store.Batch {
	b := &store.Batch{
		Model: v.Model, Knowledge: v.Knowledge, Vectors: map[store.TextHash]store.Vector{},
		Analyses: map[tool.Hash][]byte{}, Overlays: map[string][]byte{}, Trust: map[tool.ID][]byte{},
	}
	text := func() []byte { return []byte(strings.Repeat(fmt.Sprint(r.IntN(1000), "\x00\xff"), r.IntN(50))) }
	at := time.Unix(r.Int64N(1e9), 0).UTC()
	for i := range 12 {
		one := Record(i)
		one.Tool.Description, one.Changed = string(text()), at
		one.Hash = one.Tool.Hash()
		switch id := one.Tool.ID(); r.IntN(6) {
		case 0:
			b.Records = append(b.Records, one)
		case 1:
			b.Remove = append(b.Remove, id)
			b.Trust[id] = nil
		case 2:
			b.Trust[id] = text()
		case 3:
			b.Vectors[store.TextHash{byte(i)}] = store.Quantize([]float32{float32(r.IntN(9)), 1, 0, -1})
			b.Analyses[tool.Hash{byte(i)}] = text()
		case 4:
			b.DropVectors = append(b.DropVectors, store.TextHash{byte(i)})
			b.DropAnalyses = append(b.DropAnalyses, tool.Hash{byte(i)})
		}
	}
	for i := range 4 {
		name := fmt.Sprint("s", i)
		switch r.IntN(4) {
		case 0:
			b.RemoveServers, b.RemoveSources = append(b.RemoveServers, name), append(b.RemoveSources, name)
			b.RemoveOverlays = append(b.RemoveOverlays, name)
		case 1:
			b.Servers = append(b.Servers, upstream.Server{Name: name, Command: "run", Args: []string{fmt.Sprintf("%q", text())}})
		case 2:
			b.Sources = append(b.Sources, store.SourceState{Name: name, Synced: at, Note: text(), Rules: i})
			b.Overlays[name] = text()
		}
	}
	return b
}
