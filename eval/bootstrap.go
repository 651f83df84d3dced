package eval

import (
	"math"
	"math/rand/v2"
	"strings"
)

// resamples is how often the requests are drawn anew: the ends of a 95 % interval are then the 250th values from below
// and above, and move by less than a hundredth of its width from seed to seed.
const resamples = 10_000

// bootstrapMeans returns, for each metric, the means of all draws, unsorted. deltas are by metric, then by request. One
// draw serves all metrics. Many of the n requests change in the same way, so it counts how often each pattern of
// changes is drawn and adds up the patterns.
func bootstrapMeans(deltas [][]float64, n int) [][]float64 {
	of, patterns := patternsOf(deltas, n)
	means := make([][]float64, len(deltas))
	for m := range means {
		means[m] = make([]float64, resamples)
	}
	rng := rand.New(rand.NewPCG(0x746f6f6c, 0x64657821)) // any two numbers, as long as they stay
	drawn := make([]float64, len(patterns))
	for draw := range resamples {
		clear(drawn)
		for range n {
			drawn[of[rng.Int32N(int32(n))]]++
		}
		for m := range means {
			sum := 0.0
			for p, times := range drawn {
				sum += times * patterns[p][m]
			}
			means[m][draw] = sum / float64(n)
		}
	}
	return means
}

// patternsOf returns the distinct rows of changes, a row being one request's values in all metrics, and for each
// request the index of its row.
func patternsOf(deltas [][]float64, n int) (of []int32, patterns [][]float64) {
	seen := map[string]int32{}
	of = make([]int32, n)
	for i := range n {
		row := make([]float64, len(deltas))
		var key strings.Builder
		for m := range deltas {
			row[m] = deltas[m][i]
			bits := math.Float64bits(row[m] + 0) // -0 is 0
			for range 8 {
				key.WriteByte(byte(bits))
				bits >>= 8
			}
		}
		k, ok := seen[key.String()]
		if !ok {
			k = int32(len(patterns))
			seen[key.String()], patterns = k, append(patterns, row)
		}
		of[i] = k
	}
	return of, patterns
}

// confidenceInterval returns the bounds of the middle 95 % of sorted values.
func confidenceInterval(sorted []float64) (low, high float64) {
	n := float64(len(sorted))
	return sorted[int(math.Floor(.025*n))], sorted[int(math.Ceil(.975*n))-1]
}
