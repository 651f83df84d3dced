package index

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	chromem "github.com/philippgille/chromem-go"
)

const benchDims = 256

// sizes are the catalogues that are measured: what a person has, what a company has, and what nobody has yet.
var sizes = []int{1_000, 10_000, 100_000}

func atSizes(b *testing.B, dims int, run func(b *testing.B, s *Snapshot)) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := build(b, randomDocs(1, n, dims), Options{})
			b.ReportAllocs()
			run(b, s)
		})
	}
}

// BenchmarkWords scores a request of eight words, two of them frequent.
func BenchmarkWords(b *testing.B) {
	atSizes(b, 0, func(b *testing.B, s *Snapshot) {
		scores := make([]float32, s.Len())
		request := []string{"word0", "word3", "word20", "word50", "word100", "word400", "word900", "word5000"}
		for b.Loop() {
			clear(scores)
			for _, w := range request {
				s.AddWordScores(w, 1, scores, nil)
			}
		}
	})
}

func BenchmarkCosines(b *testing.B) {
	q := unit(rand.New(rand.NewPCG(9, 9)), benchDims)
	atSizes(b, benchDims, func(b *testing.B, s *Snapshot) {
		scores := make([]float32, s.Len())
		for b.Loop() {
			s.Cosines(q, scores)
		}
	})
}

// BenchmarkChromem asks chromem for the ten nearest of the vectors that BenchmarkCosines scans.
func BenchmarkChromem(b *testing.B) {
	q := unit(rand.New(rand.NewPCG(9, 9)), benchDims)
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := build(b, randomDocs(1, n, benchDims), Options{})
			c, err := chromem.NewDB().CreateCollection("bench", nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			for i := range n {
				if err := c.AddDocument(context.Background(), chromem.Document{
					ID:        strconv.Itoa(i),
					Embedding: s.vectorOf(i),
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if found, err := c.QueryEmbedding(b.Context(), q, 10, nil, nil); err != nil || len(found) != 10 {
					b.Fatal(found, err)
				}
			}
		})
	}
}

func BenchmarkNeighbours(b *testing.B) {
	atSizes(b, benchDims, func(b *testing.B, s *Snapshot) {
		if _, err := s.Neighbours(b.Context(), 0, 1); err != nil { // the first fills the collection
			b.Fatal(err)
		}
		i := 0
		for b.Loop() {
			if near, err := s.Neighbours(b.Context(), i%s.Len(), 10); err != nil || len(near) != 10 {
				b.Fatal(near, err)
			}
			i++
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			docs, set := randomDocs(1, n, benchDims), setOf(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Build(set, docs, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
