package knowledge

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// The weights of an archetype's parts in its word list, and BM25F's saturation.
const (
	wordsName, wordsDescription, wordsSaid = 2, 1, .6
	wordsK1, wordsB                        = 1.2, .75
)

// A list has an entry for each archetype that has its stem, in ascending order. An entry begins with a varint: the
// distance from the archetype before and, in the lowest bits, how often the archetype's requests and synonyms have the
// stem. A byte with the stem's impact follows, and, if they have it manyTimes or more, a byte that says how often.
const (
	impactUnits = 12 // steps of a stored impact in one unit of score
	timesBits   = 2
	manyTimes   = 1<<timesBits - 1
	mostImpact  = 255
)

// compileLists returns the stems, sorted, and for each its list, with BM25F impacts over names, descriptions and
// requests. The list of a stem of extra that no archetype has is empty. As in BM25F, the occurrences in each field are
// divided by the field's length relative to its mean, weighted and added up, before the sum is saturated once. The
// first pass collects lengths, the second weights and document frequencies, the third the impacts.
func compileLists(all []Archetype, extra []string) (dict, lists []string) {
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
	values, last := make([][]byte, len(stems)), make([]int, len(stems))
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
			values[k] = appendEntry(values[k], i-last[k], int(impact), times[t])
			last[k] = i
		}
	}
	flat := make([]string, len(values))
	for k := range values {
		flat[k] = string(values[k])
	}
	return stems, flat
}

// said returns what people say for an archetype, as one text.
func (a *Archetype) said() string {
	return strings.Join(a.Utterances, "\n") + "\n" + strings.Join(a.Synonyms, "\n")
}

// appendEntry appends an entry to a list.
func appendEntry(list []byte, distance, impact, times int) []byte {
	list = binary.AppendUvarint(list, uint64(distance<<timesBits|min(times, manyTimes)))
	list = append(list, byte(impact))
	if times >= manyTimes {
		list = append(list, byte(min(times, 255)))
	}
	return list
}

// readEntry reads the first entry of a list, which lies behind the archetype at, and returns the rest of the list. It
// returns ok false at the end of the list, and where a list is damaged.
func readEntry(list []byte, at int) (archetype, impact, times int, rest []byte, ok bool) {
	distance, n := binary.Uvarint(list)
	if n <= 0 || n >= len(list) || distance > math.MaxInt32 {
		return 0, 0, 0, nil, false
	}
	at += int(distance >> timesBits)
	impact, times = int(list[n]), int(distance&manyTimes)
	list = list[n+1:]
	if times == manyTimes {
		if len(list) == 0 {
			return 0, 0, 0, nil, false
		}
		times, list = int(list[0]), list[1:]
	}
	return at, impact, times, list, true
}

// addWords adds the impact of stem, in steps of 1/impactUnits, to the score of each archetype that has it. Scores
// cannot overflow for maxWords stems.
func (b *Base) addWords(stem string, scores []uint16) {
	dict := b.dict()
	k, ok := dict.indexOf(stem)
	if !ok {
		return
	}
	list, at := b.lists.entryAt(k), 0
	for {
		var impact int
		at, impact, _, list, ok = readEntry(list, at)
		if !ok || at >= len(scores) {
			return
		}
		scores[at] += uint16(impact)
	}
}

// maxWords bounds the stems that are looked up for one text, so that scores do not overflow.
const maxWords = 256

// isCommon reports whether a stem occurs in several archetypes, as English words do and the foreign ones in names do
// not.
func (b *Base) isCommon(stem string) bool {
	const leastBytes = 8 // of a list of three or four
	dict := b.dict()
	k, ok := dict.indexOf(stem)
	return ok && len(b.lists.entryAt(k)) >= leastBytes
}
