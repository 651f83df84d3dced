package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// kinds of thesaurus groups.
var kinds = []string{"verb", "noun", "product", "abbreviation", "effect"}

// languages of the lexicon, in the order of the keys of a line after en and pos.
var languages = []string{
	"de", "es", "fr", "pt", "it", "nl", "pl", "ru", "uk", "tr", "zh", "ja", "ko", "hi", "ar", "vi",
	"id", "cs", "da", "el", "fi", "hu", "nb", "ro", "sv",
	"bg", "fa", "he", "hr", "sk", "th",
}

// minLanguages is how many of them a concept must have to be worth an entry.
const minLanguages = 5

// scripts that the forms of a language are written in; languages that are not here use Latin letters.
var scripts = map[string][]*unicode.RangeTable{
	"ru": {unicode.Cyrillic},
	"uk": {unicode.Cyrillic},
	"zh": {unicode.Han},
	"ja": {unicode.Han, unicode.Hiragana, unicode.Katakana},
	"ko": {unicode.Hangul},
	"hi": {unicode.Devanagari},
	"ar": {unicode.Arabic},
	"el": {unicode.Greek},
	"bg": {unicode.Cyrillic},
	"fa": {unicode.Arabic},
	"he": {unicode.Hebrew},
	"th": {unicode.Thai},
}

// findGroups checks the thesaurus: known kinds, weights in (0, 1], two terms at least and none twice, and no group
// twice.
func findGroups(c *corpus, add reporter) {
	seen := make(map[string]place)
	for _, g := range c.groups {
		bad := func(format string, args ...any) { add(g.at, g.Concept, format, args...) }
		length(bad, "concept", g.Concept, 1, maxSynonym)
		length(bad, "domain", g.Domain, 1, maxCategory)
		if !slices.Contains(kinds, g.Kind) {
			bad("kind %q: want one of %s", g.Kind, strings.Join(kinds, ", "))
		}
		if len(g.Terms) < 2 {
			bad("%d terms, want 2 or more", len(g.Terms))
		}
		once := make(map[string]bool)
		for _, t := range g.Terms {
			if once[strings.ToLower(t.Text)] {
				bad("term %q stands twice", t.Text)
			}
			once[strings.ToLower(t.Text)] = true
			if t.Weight <= 0 || t.Weight > 1 {
				bad("term %q: weight %g is not in (0, 1]", t.Text, t.Weight)
			}
		}
		key := fmt.Sprintf("%s\x00%s\x00%s", strings.ToLower(g.Concept), g.Kind, g.Domain)
		if first, ok := seen[key]; ok {
			bad("%s %q of domain %q is in line %d already", g.Kind, g.Concept, g.Domain, first.line)
			continue
		}
		seen[key] = g.at
	}
}

// findEntries checks the lexicon: known languages in their order, one form at least in each that stands there and none
// twice, some languages at least, no concept twice. A language may be absent where people say the English word.
func findEntries(c *corpus, add reporter) {
	seen := make(map[string]bool)
	for _, e := range c.entries {
		bad := func(format string, args ...any) { add(e.at, e.English, format, args...) }
		if !inOrder(e.keys, append([]string{"en", "pos"}, languages...)) {
			bad("keys %v: want en, pos and languages in the order %v", e.keys, languages)
			continue
		}
		length(bad, "en", e.English, 1, maxSynonym)
		length(bad, "pos", e.Pos, 2, maxSynonym)
		key := e.English + "\x00" + e.Pos
		if seen[key] {
			bad("%s %q stands twice", e.Pos, e.English)
		}
		seen[key] = true
		if len(e.Forms) < minLanguages {
			bad("%d languages of %d, want %d", len(e.Forms), len(languages), minLanguages)
		}
		for lang, forms := range e.Forms {
			if len(forms) == 0 {
				bad("%s has no form", lang)
			}
			once := make(map[string]bool)
			for _, f := range forms {
				if once[strings.ToLower(f)] {
					bad("%s form %q stands twice", lang, f)
				}
				once[strings.ToLower(f)] = true
			}
		}
	}
}

// inOrder reports whether keys begin with the first two of all and go on with some of the others, each once and in
// their order.
func inOrder(keys, all []string) bool {
	if len(keys) < 2 || !slices.Equal(keys[:2], all[:2]) {
		return false
	}
	last := 1
	for _, k := range keys[2:] {
		i := slices.Index(all, k)
		if i <= last {
			return false
		}
		last = i
	}
	return true
}

// findScript counts forms without a letter of the script of their language. Names that are written in Latin letters
// everywhere (API, SQL) are right, so this is a warning.
func findScript(c *corpus, add reporter) {
	for _, e := range c.entries {
		for _, lang := range languages {
			tables := scripts[lang]
			if tables == nil {
				tables = []*unicode.RangeTable{unicode.Latin}
			}
			for _, f := range e.Forms[lang] {
				if !strings.ContainsFunc(f, func(r rune) bool { return unicode.In(r, tables...) }) {
					add(e.at, e.English, "%s form %q is not in its script", lang, f)
				}
			}
		}
	}
}

// How many everyday words an object has, and phrases an operation, and how many words one may have.
const (
	minWords, maxWords     = 6, 14
	minPhrases, maxPhrases = 12, 28
	longestPhrase          = 7
)

// findGlossaries checks objects and operations: known domains, the bounds above, nothing twice, no word that is the
// thing itself.
func findGlossaries(c *corpus, add reporter) {
	domains := make(map[string]bool)
	for _, a := range c.archetypes {
		domains[a.at.domain()] = true
	}
	seen := make(map[[2]string]bool)
	for _, g := range c.glossary {
		bad := func(format string, args ...any) { add(g.at, g.name, format, args...) }
		least, most := minWords, maxWords
		if g.domain == "" {
			least, most = minPhrases, maxPhrases
		} else if !domains[g.domain] {
			bad("no archetypes of domain %q", g.domain)
		}
		if len(g.said) < least || len(g.said) > most {
			bad("%d entries, want %d to %d", len(g.said), least, most)
		}
		if seen[[2]string{g.domain, g.name}] {
			bad("stands twice")
		}
		seen[[2]string{g.domain, g.name}] = true
		once := map[string]bool{strings.ToLower(g.name): true}
		for _, s := range g.said {
			if n := len(strings.Fields(s)); n == 0 || n > longestPhrase {
				bad("%q has %d words, want 1 to %d", s, n, longestPhrase)
			}
			if once[strings.ToLower(s)] {
				bad("%q stands twice or is the thing itself", s)
			}
			once[strings.ToLower(s)] = true
		}
	}
}
