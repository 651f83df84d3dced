package learn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tooldex/tool"
)

// bigBook is a book of 16,000 pieces of evidence for 1,165 tools, with vectors of 256 dimensions.
func bigBook() (*evidenceStore, *tool.Set) {
	set, r := tools(1165), rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(r, 1.1, 4, 8000)
	b := newEvidenceStore()
	for i := range 16_000 {
		u := &use{
			tool: set.All()[i%1165].ID(), client: "c", kind: Called, request: r.Uint64(), count: 1, last: 1e12,
			sessions: []uint32{uint32(i % 50)}, reading: &reading{model: hashFNV("m"), scale: .01},
		}
		for range 8 {
			u.reading.words = append(u.reading.words, hashFNV(fmt.Sprint(zipf.Uint64())))
		}
		for range 256 {
			u.reading.vector = append(u.reading.vector, int8(r.IntN(255)-127))
		}
		for range maxFound {
			u.reading.found = append(u.reading.found, found{hashFNV(string(set.All()[r.IntN(1165)].ID())), r.Float32()})
		}
		b.uses[u.key()] = u
	}
	return b, set
}

// BenchmarkLift lifts 1,165 tools that all have evidence, 16,000 pieces together.
func BenchmarkLift(b *testing.B) {
	book, set := bigBook()
	c := newClock()
	m := newTraining(book, "", c.t, hashFNV("m")).buildModel()
	l := New(Options{})
	l.models.Store(&map[string]*profileModel{"": m})
	terms := []string{"1", "5", "20", "100", "400", "1000", "3000", "nowhere"}
	vec, scores := make([]float32, 256), make([]float32, 1165)
	vec[0] = 1
	b.ReportMetric(float64(len(m.tools)), "tools")
	b.ReportAllocs()
	for b.Loop() {
		l.Lift(set, "", terms, vec, nil, scores)
	}
}

func BenchmarkBuild(b *testing.B) {
	book, _ := bigBook()
	c := newClock()
	t := newTraining(book, "", c.t, hashFNV("m"))
	b.Run("model", func(b *testing.B) {
		for b.Loop() {
			t.buildModel()
		}
	})
	b.Run("trust", func(b *testing.B) {
		for b.Loop() {
			t.crossValidate()
		}
	})
}
