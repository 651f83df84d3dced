package index

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func vectorDocs(vectors ...[]float32) []Doc {
	docs := make([]Doc, len(vectors))
	for i, v := range vectors {
		docs[i].Vector = v
	}
	return docs
}

func TestCosinesAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{1, 2, 3, 4, 5, 7, 8, 63, 64, 256, 384} {
		var vectors [][]float32
		for range 50 {
			vectors = append(vectors, unit(r, dims))
		}
		s := build(t, vectorDocs(vectors...), Options{})
		if s.Dims() != dims {
			t.Errorf("dims %d, want %d", s.Dims(), dims)
		}
		q, got := unit(r, dims), make([]float32, len(vectors))
		s.Cosines(q, got)
		for i, v := range vectors {
			if want := cosine(q, v); math.Abs(float64(got[i])-want) > 1e-6 {
				t.Errorf("%d dims, document %d: %v, want %v", dims, i, got[i], want)
			}
		}
	}
}

func TestCosinesWithoutVector(t *testing.T) {
	s := build(t, vectorDocs(nil, []float32{0, 1}, nil), Options{})
	for name, c := range map[string]struct{ q, want []float32 }{
		"only one has a vector":     {[]float32{0, 1}, []float32{0, 1, 0}},
		"a query of another width":  {[]float32{0, 1, 0}, []float32{0, 0, 0}},
		"no query":                  {nil, []float32{0, 0, 0}},
		"old scores are overridden": {[]float32{1, 0}, []float32{0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			got := []float32{9, 9, 9}
			if s.Cosines(c.q, got); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// scan is what Neighbours is held against: all cosines, sorted.
func scan(vectors [][]float32, i, n int) []Neighbour {
	var out []Neighbour
	for j, v := range vectors {
		if j != i && v != nil {
			out = append(out, Neighbour{j, float32(cosine(vectors[i], v))})
		}
	}
	slices.SortFunc(out, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Doc, b.Doc))
	})
	return out[:min(n, len(out))]
}

func TestNeighboursEqualTheScan(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	vectors := make([][]float32, 500)
	for i := range vectors {
		if i%17 != 3 {
			vectors[i] = unit(r, 32)
		}
	}
	s := build(t, vectorDocs(vectors...), Options{})
	for i := range 40 {
		if vectors[i] == nil {
			continue
		}
		for _, n := range []int{1, 5, 50} {
			got, err := s.Neighbours(t.Context(), i, n)
			if err != nil {
				t.Fatal(err)
			}
			if d := gocmp.Diff(scan(vectors, i, n), got, nearCosines); d != "" {
				t.Fatalf("%d nearest of %d (-scan +got):\n%s", n, i, d)
			}
		}
	}
}

// nearCosines compares what was summed in another order.
var nearCosines = gocmp.Comparer(func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 })

func TestNeighbours(t *testing.T) {
	x, y, between := []float32{1, 0}, []float32{0, 1}, []float32{.6, .8}
	opposite := []float32{-1, 0}
	for name, c := range map[string]struct {
		docs []Doc
		i, n int
		want []Neighbour
	}{
		"best first, not itself":             {vectorDocs(x, y, between), 0, 2, []Neighbour{{2, .6}, {1, 0}}},
		"the opposite comes last":            {vectorDocs(x, opposite, y), 0, 5, []Neighbour{{2, 0}, {1, -1}}},
		"more wanted than there are":         {vectorDocs(x, between), 1, 99, []Neighbour{{0, .6}}},
		"as many wanted as a machine counts": {vectorDocs(x, between), 1, math.MaxInt, []Neighbour{{0, .6}}},
		"one without a vector is not near":   {vectorDocs(x, nil, between), 0, 5, []Neighbour{{2, .6}}},
		"one with a zero vector is not near": {vectorDocs(x, []float32{0, 0}, between), 0, 5, []Neighbour{{2, .6}}},
		"of one without a vector":            {vectorDocs(nil, x, y), 0, 5, nil},
		"of one with a zero vector":          {vectorDocs(x, y, []float32{0, 0}), 2, 5, nil},
		"ties by ID":                         {vectorDocs(y, x, y, x, y), 4, 3, []Neighbour{{0, 1}, {2, 1}, {1, 0}}},
		"alone":                              {vectorDocs(x), 0, 3, []Neighbour{}},
		"none wanted":                        {vectorDocs(x, y), 0, 0, nil},
		"fewer than none wanted":             {vectorDocs(x, y), 0, -1, nil},
		"of a document that is not there":    {vectorDocs(x, y), 2, 1, nil},
		"of a document before the first":     {vectorDocs(x, y), -1, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := build(t, c.docs, Options{}).Neighbours(t.Context(), c.i, c.n)
			if err != nil {
				t.Fatal(err)
			}
			if d := gocmp.Diff(c.want, got, nearCosines); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestNeighboursTiesAtTheCut has more equals than are wanted, by far: always the same ones must be chosen.
func TestNeighboursTiesAtTheCut(t *testing.T) {
	vectors := make([][]float32, 200)
	for i := range vectors {
		vectors[i] = []float32{0, 1}
	}
	vectors[150] = []float32{.6, .8}
	vectors[7] = []float32{1, 0}
	s := build(t, vectorDocs(vectors...), Options{})
	want := []Neighbour{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {8, 1}}
	for range 10 {
		got, err := s.Neighbours(t.Context(), 100, len(want))
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(want, got, nearCosines); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	}
}

func TestNeighboursEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := build(t, randomDocs(1, 50, 8), Options{})
	if near, err := s.Neighbours(ctx, 0, 5); tool.CodeOf(err) != tool.Timeout {
		t.Errorf("got %v, %v, want a Timeout error and not a part of the answer", near, err)
	}
}
