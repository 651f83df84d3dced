package knowledge

import (
	"cmp"
	"slices"

	"tooldex/index"
)

// termSums adds up the weights of terms, given by their place in the dictionary.
type termSums struct {
	weights []float32 // by place; 0 for a term that is not in it
	places  []int32   // of those that are
	sorted  []float32 // a buffer
}

// reset empties the sums, for a dictionary of n terms.
func (s *termSums) reset(n int) {
	if len(s.weights) != n {
		*s = termSums{weights: make([]float32, n)}
	}
	for _, k := range s.places {
		s.weights[k] = 0
	}
	s.places = s.places[:0]
}

// add adds a weight to a term. Weights that are not positive are ignored, as are places that the dictionary does not
// have.
func (s *termSums) add(place int32, weight float32) {
	if weight <= 0 || int(place) >= len(s.weights) {
		return
	}
	if s.weights[place] == 0 {
		s.places = append(s.places, place)
	}
	s.weights[place] += weight
}

// addAll adds terms times weight.
func (s *termSums) addAll(terms []stemWeight, weight float32) {
	for _, t := range terms {
		s.add(t.stem, weight*t.weight)
	}
}

// heaviest returns the n heaviest terms with their weights times scale, heaviest first, and those of equal weight by
// their text. dict has the text of each place.
func (s *termSums) heaviest(n int, scale float32, dict []string) []index.Term {
	s.sorted = s.sorted[:0]
	for _, k := range s.places {
		s.sorted = append(s.sorted, s.weights[k])
	}
	least := nthHighest(s.sorted, n)
	picked := make([]int32, 0, n+n/4)
	for _, k := range s.places {
		if s.weights[k] >= least {
			picked = append(picked, k)
		}
	}
	slices.SortFunc(picked, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.weights[b], s.weights[a]), cmp.Compare(a, b)) // dict is sorted
	})
	picked = picked[:min(n, len(picked))]
	out := make([]index.Term, len(picked))
	for i, k := range picked {
		out[i] = index.Term{Text: dict[k], Weight: s.weights[k] * scale}
	}
	return out
}

// nthHighest returns the n-th highest of some numbers, which it sorts, and the lowest if there are fewer; 0 of none.
// Numbers alone sort several times faster than what they belong to.
func nthHighest(numbers []float32, n int) float32 {
	if len(numbers) == 0 {
		return 0
	}
	slices.Sort(numbers)
	return numbers[max(0, len(numbers)-n)]
}
