package index

import (
	"sync"
	"testing"
)

// TestSwapWhileSearching changes the index under readers. Each state n has n documents that all have the word "common"
// and lie in one direction, so a reader that saw two states at once would see scores that differ.
func TestSwapWhileSearching(t *testing.T) {
	var states []*Snapshot
	for n := 1; n <= 20; n++ {
		docs := make([]Doc, n)
		for i := range docs {
			docs[i] = Doc{
				Fields: [NumFields][]Term{Text: words("common")}, Vector: []float32{0, 1},
				Landmarks: []Landmark{{Point: 1, Like: .5}},
			}
		}
		states = append(states, build(t, docs, Options{}))
	}
	var x Index
	if x.Current() != nil {
		t.Fatal("the zero Index holds a snapshot")
	}
	x.Swap(states[0])
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				readOne(t, x.Current())
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 20 {
		for _, s := range states {
			x.Swap(s)
		}
	}
	close(done)
	readers.Wait()
	if x.Current() != states[len(states)-1] {
		t.Error("the last swapped in is not current")
	}
}

func readOne(t *testing.T, s *Snapshot) {
	n := s.Len()
	scores, allowed := make([]float32, n), make([]bool, n)
	s.AddWordScores("common", 1, scores, nil)
	want, _ := s.IDF("common")
	cos := make([]float32, n)
	s.Cosines([]float32{0, 1}, cos)
	for i := range scores {
		allowed[i] = true
		if scores[i] != scores[0] || scores[i] < want || cos[i] != 1 {
			t.Errorf("document %d of %d: words %v, cosine %v", i, n, scores[i], cos[i])
		}
	}
	if like := s.Resemblance(1, allowed); like != .5 {
		t.Errorf("resembles by %v", like)
	}
	near, err := s.Neighbours(t.Context(), 0, 3)
	if err != nil || len(near) != min(3, n-1) {
		t.Errorf("%d neighbours of %d, %v", len(near), n, err)
	}
}
