package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tooldex/tool"
)

// words is a field in which each word occurs once.
func words(list ...string) []Term {
	out := make([]Term, len(list))
	for i, w := range list {
		out[i] = Term{w, 1}
	}
	return out
}

// setOf makes a set of n tools, s/t0000 and so on, which are in this order by ID.
func setOf(n int) *tool.Set {
	tools := make([]*tool.Tool, n)
	for i := range tools {
		tools[i] = &tool.Tool{Server: "s", Name: fmt.Sprintf("t%06d", i)}
	}
	return tool.NewSet(tools, "")
}

func build(t testing.TB, docs []Doc, o Options) *Snapshot {
	t.Helper()
	s, err := Build(setOf(len(docs)), docs, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func scoresOf(s *Snapshot, term string) []float32 {
	scores := make([]float32, s.Len())
	s.AddWordScores(term, 1, scores, nil)
	return scores
}

func unit(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// randomDocs makes documents as a catalogue has them: a few words of a name, some dozens of a description and of lent
// words, from a vocabulary in which few words are frequent and most are rare.
func randomDocs(seed uint64, n, dims int) []Doc {
	r := rand.New(rand.NewPCG(seed, 1))
	vocabulary := make([]string, 20000)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprintf("word%d", i)
	}
	zipf := rand.NewZipf(r, 1.2, 8, uint64(len(vocabulary)-1))
	field := func(n int) []Term {
		out := make([]Term, 0, n)
		for range n {
			w := vocabulary[zipf.Uint64()]
			if k := slices.IndexFunc(out, func(t Term) bool { return t.Text == w }); k >= 0 {
				out[k].Weight++
				continue
			}
			out = append(out, Term{w, 1})
		}
		return out
	}
	docs := make([]Doc, n)
	for i := range docs {
		docs[i].Fields[Name] = field(3)
		docs[i].Fields[Text] = field(25)
		docs[i].Fields[Params] = field(12)
		docs[i].Fields[Lent] = field(40)
		if dims > 0 {
			docs[i].Vector = unit(r, dims)
		}
	}
	return docs
}

// cosine is what Cosines is held against: as exact as it gets.
func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
