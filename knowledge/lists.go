package knowledge

import (
	"math"
	"slices"
	"strings"
)

// The weights of an archetype's parts in its word list, and BM25F's saturation.
const (
	wordsName, wordsDescription, wordsSaid = 2, 1, .6
	wordsK1, wordsB                        = 1.2, .75
)

// A list has an entry for each archetype that has its stem, in ascending order: the archetype, the stem's impact on it,
// and how often the archetype's requests and synonyms have the stem.
const (
	impactUnits = 12 // steps of a stored impact in one unit of score
	mostImpact  = 255
	mostTimes   = 255
)

// compileLists returns the stems, sorted, and for each its list, with BM25F impacts over names, descriptions and
// requests. The list of a stem of extra that no archetype has is empty. As in BM25F, the occurrences in each field are
// divided by the field's length relative to its mean, weighted and added up, before the sum is saturated once. The
// first pass collects lengths, the second weights and document frequencies, the third the impacts.
func compileLists(all []Archetype, extra []string) (dict []string, lists [][]entry) {
	var an Analyzer
	weights := make([]map[string]float64, len(all))
	df := map[string]int{}
	for _, t := range extra {
		df[t] = 0
	}
	lengths := make([][3]float64, len(all))
	parts := make([][3][]string, len(all))
	var mean [3]float64
	for i, a := range all {
		parts[i] = [3][]string{
			an.Terms(nil, a.Name+" "+a.Server), an.Terms(nil, a.Title+" "+a.Description),
			an.Terms(nil, a.said()),
		}
		for f := range parts[i] {
			lengths[i][f] = float64(len(parts[i][f]))
			mean[f] += lengths[i][f] / float64(len(all))
		}
	}
	for i := range all {
		weights[i] = map[string]float64{}
		for f, w := range [3]float64{wordsName, wordsDescription, wordsSaid} {
			for _, t := range parts[i][f] {
				weights[i][t] += w / (1 - wordsB + wordsB*lengths[i][f]/mean[f])
			}
		}
		for t := range weights[i] {
			df[t]++
		}
	}
	stems := make([]string, 0, len(df))
	for t := range df {
		stems = append(stems, t)
	}
	slices.Sort(stems)
	// Archetypes are visited in ascending order, so that a distance is never negative. Impacts are whole numbers, so
	// that adding them up needs no floating point.
	lists = make([][]entry, len(stems))
	n := float64(len(all))
	for i := range all {
		times := map[string]int{}
		for _, t := range parts[i][2] {
			times[t]++
		}
		for t, w := range weights[i] {
			k, _ := slices.BinarySearch(stems, t)
			idf := math.Log(1 + (n-float64(df[t])+.5)/(float64(df[t])+.5))
			impact := min(mostImpact, math.Round(impactUnits*idf*w*(wordsK1+1)/(w+wordsK1)))
			if impact < 1 && times[t] == 0 {
				continue
			}
			lists[k] = append(lists[k], entry{int32(i), uint8(impact), uint8(min(times[t], mostTimes))})
		}
	}
	return stems, lists
}

// said returns what people say for an archetype, as one text.
func (a *Archetype) said() string {
	return strings.Join(a.Utterances, "\n") + "\n" + strings.Join(a.Synonyms, "\n")
}

// addWords adds the impact of stem, in steps of 1/impactUnits, to the score of each archetype that has it, of which
// scores has one each. Scores cannot overflow for maxWords stems.
func (b *Base) addWords(stem string, scores []uint16) {
	for _, e := range b.lists().impacts(stem, b.count) {
		scores[e>>8] += uint16(e & 0xff)
	}
}

// maxWords bounds the stems that are looked up for one text, so that scores do not overflow.
const maxWords = 256

// isCommon reports whether a stem occurs in several archetypes, as English words do and foreign words in names do not.
// Each of the first four archetypes gives two points, and one more for each of three reasons: it is not near the one
// before, it is far from it, or its requests have the stem often. Archetypes of one kind of server are near each other.
// Four archetypes are always enough.
func (b *Base) isCommon(stem string) bool {
	const several, one, near, far, often = 8, 2, 32, 4096, 3
	var buf [several / one]entry
	list, sum, last := b.lists().of(stem), 0, int32(0)
	for _, e := range list.next(buf[:]) {
		sum += one
		for _, more := range []bool{e.archetype-last >= near, e.archetype-last >= far, e.times >= often} {
			if more {
				sum++
			}
		}
		last = e.archetype
	}
	return sum >= several
}
