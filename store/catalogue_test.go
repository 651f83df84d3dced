package store

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tooldex/embed"
	"tooldex/tool"
)

// realBatch holds the tools of the real servers, each with a vector and some lent bytes. It skips where they are
// absent.
func realBatch(t testing.TB) *Batch {
	t.Helper()
	dir := os.Getenv("TOOLDEX_DATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	files, err := filepath.Glob(filepath.Join(dir, "catalogue", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("no real catalogue: set TOOLDEX_DATA to the folder that holds catalogue/*.json")
	}
	m := embed.Model{Name: "table", Fingerprint: "f", Dims: 256}
	b := &Batch{Model: m, Vectors: map[TextHash]Vector{}, Knowledge: "k", Analyses: map[tool.Hash][]byte{}}
	rng := rand.New(rand.NewPCG(1, 2))
	v := make([]float32, m.Dims)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var dump struct{ Tools []*tool.Tool }
		if err := json.Unmarshal(raw, &dump); err != nil {
			t.Fatal(err)
		}
		for _, one := range dump.Tools {
			one.Server = strings.TrimSuffix(filepath.Base(f), ".json")
			for i := range v {
				v[i] = rng.Float32() - 0.5
			}
			hash := one.Hash()
			b.Records = append(b.Records, Record{Tool: one, Source: one.Server, Hash: hash})
			b.Vectors[HashText(string(one.ID()))] = Quantize(v)
			b.Analyses[hash] = make([]byte, 1000)
		}
	}
	return b
}

func TestRealCatalogue(t *testing.T) {
	b := realBatch(t)
	s := open(t, t.TempDir())
	write(t, s, b)
	snap := load(t, s, View{Model: b.Model, Knowledge: b.Knowledge})
	if len(snap.Records) != len(b.Records) || len(snap.Vectors) != len(b.Vectors) || len(snap.Analyses) != len(b.Analyses) ||
		len(snap.Damaged) != 0 {
		t.Fatalf("%d records, %d vectors, %d lent, damaged %v; want %d of each", len(snap.Records), len(snap.Vectors),
			len(snap.Analyses), snap.Damaged, len(b.Records))
	}
	for _, r := range snap.Records {
		if r.Tool.Hash() != r.Hash {
			t.Errorf("%s changed on the way through the file", r.Tool.ID())
		}
	}
}

func BenchmarkLoadReal(b *testing.B) {
	batch := realBatch(b)
	s := open(b, b.TempDir())
	write(b, s, batch)
	b.ReportAllocs()
	for b.Loop() {
		if snap := load(b, s, View{
			Model:     batch.Model,
			Knowledge: batch.Knowledge,
		}); len(snap.Records) != len(batch.Records) {
			b.Fatal("records are missing")
		}
	}
}

func BenchmarkWriteReal(b *testing.B) {
	batch := realBatch(b)
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(b.TempDir(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		write(b, s, batch)
	}
}

func BenchmarkWriteOne(b *testing.B) {
	batch := realBatch(b)
	s := open(b, b.TempDir())
	write(b, s, batch)
	for b.Loop() {
		write(b, s, &Batch{Records: batch.Records[:1]})
	}
}

func BenchmarkGenerationAtRest(b *testing.B) {
	s := open(b, b.TempDir())
	write(b, s, &Batch{Records: records(0, 1)})
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.Location(), old, old); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Generation(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
