package main

import (
	"maps"
	"slices"
	"strings"
)

// Balance of the utterances of one archetype.
const (
	maxOpeningPercent = 40 // of the utterances may begin with the same word
	minFar            = 2  // utterances share no content word with the name
	maxAlike          = .8 // Jaccard of the content words of two utterances
)

// findOpenings bounds how many utterances of a tool begin alike.
func findOpenings(c *corpus, add reporter) {
	for _, a := range c.archetypes {
		first := make(map[string]int)
		for _, u := range a.Utterances {
			if w := split(u); len(w) > 0 {
				first[w[0]]++
			}
		}
		for _, w := range slices.Sorted(maps.Keys(first)) {
			if n := first[w]; n*100 > maxOpeningPercent*len(a.Utterances) {
				add(a.at, a.id(), "%d of %d utterances begin with %q", n, len(a.Utterances), w)
			}
		}
	}
}

// findNear wants utterances that share no content word with the name: they are what plain word search cannot find.
func findNear(c *corpus, add reporter) {
	an := newAnalyser()
	for _, a := range c.archetypes {
		name := an.content(a.Name)
		far := 0
		for _, words := range c.utteranceWords(a) {
			if common(words, name) == 0 {
				far++
			}
		}
		if far < minFar {
			add(a.at, a.id(), "%d utterances without a word of the name, want %d", far, minFar)
		}
	}
}

// findRephrased counts utterances that repeat an earlier one of the same tool but for small words.
func findRephrased(c *corpus, add reporter) {
	for _, a := range c.archetypes {
		sets := c.utteranceWords(a)
		for i, u := range a.Utterances {
			for j := range i {
				if jaccard(sets[i], sets[j]) > maxAlike {
					add(a.at, utteranceID(a, i), "%q says the same words as %q", u, strings.ToLower(a.Utterances[j]))
					break
				}
			}
		}
	}
}

func jaccard(a, b map[string]bool) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := common(a, b)
	return float64(n) / float64(len(a)+len(b)-n)
}
