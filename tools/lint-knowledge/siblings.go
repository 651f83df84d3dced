package main

import (
	"fmt"
	"slices"
)

// sureWords is the number of content words from which full cover by a sibling is an error and not a matter of degree.
const sureWords = 3

// findTwice wants a tool once per server, and an utterance and a synonym once per tool.
func findTwice(c *corpus, add reporter) {
	seen := make(map[string]place)
	for _, a := range c.archetypes {
		if first, ok := seen[a.id()]; ok {
			add(a.at, a.id(), "is in %s already", first)
		} else {
			seen[a.id()] = a.at
		}
		for what, texts := range map[string][]string{"utterance": a.Utterances, "synonym": a.Synonyms} {
			once := make(map[string]bool)
			for _, t := range texts {
				n := normal(t)
				if once[n] {
					add(a.at, a.id(), "%s %q stands twice", what, t)
				}
				once[n] = true
			}
		}
	}
}

// findShared wants no utterance on two tools of one server: it could not tell them apart.
func findShared(c *corpus, add reporter) {
	by, names := c.servers()
	for _, server := range names {
		first := make(map[string]*archetype)
		for _, a := range by[server] {
			for i, u := range a.Utterances {
				n := normal(u)
				if o := first[n]; o != nil && o != a {
					add(a.at, utteranceID(a, i), "%q is an utterance of %s too", u, o.Name)
				}
				first[n] = a
			}
		}
	}
}

// findElsewhere counts utterances that tools of other names on other servers have word for word: lent to both,
// they say little about either.
func findElsewhere(c *corpus, add reporter) {
	first := make(map[string]*archetype)
	for _, a := range c.archetypes {
		for i, u := range a.Utterances {
			n := normal(u)
			o := first[n]
			if o == nil {
				first[n] = a
			} else if o.Server != a.Server && o.Name != a.Name {
				add(a.at, utteranceID(a, i), "%q is an utterance of %s too", u, o.id())
			}
		}
	}
}

// findSiblingOwned wants no utterance all of whose content words, three or more, a sibling's name and description
// hold while its own tool's do not: a reader would give it to the sibling.
func findSiblingOwned(c *corpus, add reporter) {
	eachTaken(c, func(a *archetype, i, words int, by string) {
		if words >= sureWords {
			add(a.at, utteranceID(a, i), "%q: every word is in %s, not in its own tool", a.Utterances[i], by)
		}
	})
}

// findLeaning counts the same for utterances of two content words, which may be terse on purpose.
func findLeaning(c *corpus, add reporter) {
	eachTaken(c, func(a *archetype, i, words int, by string) {
		if words == sureWords-1 {
			add(a.at, utteranceID(a, i), "%q: both words are in %s, not in its own tool", a.Utterances[i], by)
		}
	})
}

// eachTaken calls fn for every utterance that a sibling's name, title and description cover wholly and its own
// tool's words do not, with the number of its content words and the sibling that covers it. The tool's own side
// counts everything it has, synonyms and parameters too.
func eachTaken(c *corpus, fn func(a *archetype, i, words int, by string)) {
	an := newAnalyser()
	by, names := c.servers()
	for _, server := range names {
		tools := by[server]
		holders := make(map[string][]int) // tools by word of their name, title and description, ascending
		for i, a := range tools {
			for w := range an.content(a.Name, a.Title, a.Description) {
				holders[w] = append(holders[w], i)
			}
		}
		for i, a := range tools {
			own := an.content(append(append([]string{a.Name, a.Title, a.Description, a.Category, a.Server},
				a.Params...), a.Synonyms...)...)
			for n, words := range c.utteranceWords(a) {
				if common(words, own) == len(words) {
					continue
				}
				if j := coveredBy(words, holders); j >= 0 && j != i {
					fn(a, n, len(words), tools[j].Name)
				}
			}
		}
	}
}

// coveredBy returns the first tool that holds every word, or -1. The words are at least one.
func coveredBy(words map[string]bool, holders map[string][]int) int {
	var left []int
	first := true
	for w := range words {
		if first {
			left, first = slices.Clone(holders[w]), false
			continue
		}
		left = slices.DeleteFunc(left, func(i int) bool {
			_, held := slices.BinarySearch(holders[w], i)
			return !held
		})
	}
	if len(left) == 0 {
		return -1
	}
	return left[0]
}

// utteranceID names one utterance, counted from 1.
func utteranceID(a *archetype, i int) string { return fmt.Sprintf("%s#%d", a.id(), i+1) }
