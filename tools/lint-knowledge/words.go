package main

import (
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// stopWords carry no content: they neither tie an utterance to a tool nor tell tools apart.
const stopWords = `a about above after again all also am an and any anything are as at back be because been before being
below between both but by can cannot could did do does doing done down during each else ever every few for from further
get gets getting give go goes going got had has have having he her here hers him his how i if in into is it its itself
just know let lets like ll m made make me mine more most much must my need needs no nor not now of off on once one only
or other our ours out over own per please pls plz put re s same see she should so some something still such t take than
that the their them then there these they thing things this those through to too under until up us ve very want wants
was we were what when where whether which while who whom whose why will with would yet you your yours`

// analyser turns text into content words. It is not safe for concurrent use.
type analyser struct {
	stop  map[string]bool
	stems map[string]string // the same words come back thousands of times
}

func newAnalyser() *analyser {
	a := &analyser{stop: make(map[string]bool), stems: make(map[string]string)}
	for _, w := range strings.Fields(stopWords) {
		a.stop[w] = true
	}
	return a
}

// content returns the set of stems of the words of texts that are not stop words.
func (a *analyser) content(texts ...string) map[string]bool {
	set := make(map[string]bool)
	for _, t := range texts {
		for _, w := range split(t) {
			if a.stop[w] {
				continue
			}
			set[a.stem(w)] = true
		}
	}
	return set
}

func (a *analyser) stem(w string) string {
	s, ok := a.stems[w]
	if !ok {
		s = english.Stem(w, false)
		a.stems[w] = s
	}
	return s
}

// split cuts text into lower-case words at everything that is not a letter or digit, and at the humps of camelCase.
func split(text string) []string {
	var words []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	prev := ' '
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			flush()
			prev = r
			continue
		}
		if unicode.IsUpper(r) && unicode.IsLower(prev) {
			flush()
		}
		b.WriteRune(unicode.ToLower(r))
		prev = r
	}
	flush()
	return words
}

// normal is text as a sequence of lower-case words: two texts that differ in case, spacing and punctuation agree.
func normal(text string) string {
	return strings.Join(split(strings.ToLower(text)), " ")
}

// common counts the words of a that are in b.
func common(a, b map[string]bool) int {
	n := 0
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}
