package index

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCoarse compares estimates and statistics with the cosines of all documents.
func TestCoarse(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, in one goroutine")
	}
	const n, dims = leastCoarse, 128
	s := build(t, randomDocs(1, n, dims), Options{})
	if !s.HasCoarse() {
		t.Fatal("there are no coarse vectors")
	}
	if build(t, randomDocs(1, n-1, dims), Options{}).HasCoarse() {
		t.Error("a small index has coarse vectors")
	}
	q := unit(rand.New(rand.NewPCG(9, 9)), dims)
	exact, rough := make([]float32, n), make([]float32, n)
	s.Cosines(q, exact)
	s.RoughCosines(q, rough)
	var sum, squares, off float64
	for i, x := range exact {
		if got := s.Cosine(q, i); got != x {
			t.Fatalf("cosine of %d is %v, want %v", i, got, x)
		}
		sum, squares = sum+float64(x), squares+float64(x)*float64(x)
		off += math.Pow(float64(rough[i]-x), 2)
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	gotMean, gotDeviation := s.CosineStatistics(q)
	if math.Abs(gotMean-mean) > 1e-5 || math.Abs(gotDeviation-deviation) > .01*deviation { // the latter is of a sample
		t.Errorf("mean %v and deviation %v, want %v and %v", gotMean, gotDeviation, mean, deviation)
	}
	if off = math.Sqrt(off / n); off > .8*deviation {
		t.Errorf("estimates are off by %v, where cosines deviate by %v", off, deviation)
	}
}

// TestRestore compares a snapshot with what is restored from its image, with and without coarse vectors.
func TestRestore(t *testing.T) {
	for _, n := range []int{0, 1, 300, leastCoarse} {
		s := build(t, randomDocs(3, n, 64), Options{Model: "m"})
		image, err := s.Image()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Restore(s.Set(), image)
		if err != nil {
			t.Fatalf("%d documents: %v", n, err)
		}
		if got.Dims() != s.Dims() || got.Model() != "m" || got.HasCoarse() != s.HasCoarse() {
			t.Errorf("%d documents: another index", n)
		}
		for id := range s.idf {
			term := string(s.words.text[s.words.at[id]:s.words.at[id+1]])
			want, _ := s.IDF(term)
			if rarity, ok := got.IDF(term); !ok || rarity != want {
				t.Fatalf("rarity of %s is %v, want %v", term, rarity, want)
			}
		}
		if n > 0 {
			if _, err := Restore(setOf(n-1), image); err == nil {
				t.Errorf("an index of %d documents is restored for fewer tools", n)
			}
		}
		for section := range image {
			broken := append([][]byte(nil), image...)
			broken[section] = append([]byte{1, 2, 3}, broken[section]...)
			if _, err := Restore(s.Set(), broken); err == nil {
				t.Errorf("%d documents: section %d of another length is accepted", n, section)
			}
		}
	}
}
