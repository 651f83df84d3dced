package main

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits on archetypes, in runes and in items. They keep one archetype from outweighing its neighbours, and a file
// small enough to review.
const (
	maxServer      = 80
	maxTitle       = 80
	maxDescription = 300
	minDescription = 15
	maxParam       = 120
	maxCategory    = 40
	maxSynonym     = 60
	maxUtterance   = 200
	minUtterances  = 8
	maxUtterances  = 30
	minSynonyms    = 3
	maxSynonyms    = 8
	maxParams      = 16
	maxFileSize    = 200 << 10
)

var (
	toolName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	paramText = regexp.MustCompile(`^[^\s:]+: \S`)
	filePath  = regexp.MustCompile(`^archetypes/[a-z0-9-]+/[a-z0-9-]+\.jsonl$`)
)

// filler is wording that people who ask for something do not use; it teaches nothing and makes utterances alike.
var filler = strings.Split("please kindly|kindly assist|in order to leverage|seamless|seamlessly|effortless|effortlessly|"+
	"i would be grateful|at your earliest convenience|as an ai|using the tool|utilize the tool|utilise the tool|via this tool|"+
	"cutting-edge|state-of-the-art|game-changer|delve into|for the purpose of|i am writing to", "|")

// findOrder wants the lines of a file sorted by server and name, so that two writers meet in the same place.
func findOrder(c *corpus, add reporter) {
	var prev *archetype
	for _, a := range c.archetypes {
		if prev != nil && prev.at.file == a.at.file && byServerAndName(prev, a) > 0 {
			add(a.at, a.id(), "stands after %s; run with -fmt", prev.id())
		}
		prev = a
	}
}

// findPlace wants files archetypes/<domain>/<name>.jsonl of bounded size, and all tools of a server in one domain.
func findPlace(c *corpus, add reporter) {
	home := make(map[string]place)
	seen := make(map[string]bool)
	for _, a := range c.archetypes {
		if first, ok := home[a.Server]; !ok {
			home[a.Server] = a.at
		} else if first.domain() != a.at.domain() && !seen[a.at.domain()+a.Server] {
			seen[a.at.domain()+a.Server] = true
			add(a.at, a.id(), "server %q is in domain %s and in %s", a.Server, first.domain(), a.at.domain())
		}
	}
	for file, size := range c.sizes {
		if !filePath.MatchString(file) {
			add(place{file: file, line: 1}, "", "want archetypes/<domain>/<name>.jsonl in lower case")
		}
		if size > maxFileSize {
			add(place{file: file, line: 1}, "", "%d bytes, at most %d", size, maxFileSize)
		}
	}
}

// findFields checks every field alone: present, of bounded length, of the right form.
func findFields(c *corpus, add reporter) {
	for _, a := range c.archetypes {
		bad := func(format string, args ...any) { add(a.at, a.id(), format, args...) }
		length(bad, "server", a.Server, 2, maxServer)
		length(bad, "title", a.Title, 2, maxTitle)
		length(bad, "description", a.Description, minDescription, maxDescription)
		length(bad, "category", a.Category, 2, maxCategory)
		if !toolName.MatchString(a.Name) {
			bad("name %q: want letters, digits, _ . -, at most 64", a.Name)
		}
		names := make(map[string]bool)
		for _, p := range a.Params {
			length(bad, "param", p, 4, maxParam)
			if !paramText.MatchString(p) {
				bad("param %q: want \"name: text\"", p)
				continue
			}
			name, _, _ := strings.Cut(p, ":")
			if names[name] {
				bad("param %s stands twice", name)
			}
			names[name] = true
		}
		for _, s := range a.Synonyms {
			length(bad, "synonym", s, 2, maxSynonym)
		}
		for _, u := range a.Utterances {
			length(bad, "utterance", u, 2, maxUtterance)
		}
	}
}

func length(bad func(string, ...any), field, text string, lo, hi int) {
	if n := utf8.RuneCountInString(text); n < lo || n > hi {
		bad("%s %q: %d characters, want %d to %d", field, text, n, lo, hi)
	}
}

// findText wants composed UTF-8 without control characters, doubled blanks or blanks at the ends, in every text.
func findText(c *corpus, add reporter) {
	for _, a := range c.archetypes {
		for _, t := range a.texts() {
			if why := untidy(t); why != "" {
				add(a.at, a.id(), "%q: %s", t, why)
			}
		}
	}
	for _, g := range c.groups {
		for _, t := range g.texts() {
			if why := untidy(t); why != "" {
				add(g.at, g.Concept, "%q: %s", t, why)
			}
		}
	}
	for _, e := range c.entries {
		for _, forms := range e.Forms {
			for _, t := range forms {
				if why := untidy(t); why != "" {
					add(e.at, e.English, "%q: %s", t, why)
				}
			}
		}
	}
}

func (a *archetype) texts() []string {
	t := append([]string{a.Server, a.Name, a.Title, a.Description, a.Category}, a.Params...)
	return append(append(t, a.Synonyms...), a.Utterances...)
}

func (g *group) texts() []string {
	t := []string{g.Concept, g.Domain}
	for _, m := range g.Terms {
		t = append(t, m.Text)
	}
	return t
}

// untidy says what is wrong with the characters of a text, or nothing.
func untidy(text string) string {
	prev := ' '
	for _, r := range text {
		switch {
		case r == utf8.RuneError:
			return "not UTF-8"
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
			// Joiners (U+200C, U+200D) belong to the spelling of Hindi and Persian words.
			return "control or invisible character"
		case unicode.IsSpace(r) && r != ' ':
			return "blank other than a space"
		case r == ' ' && prev == ' ':
			return "blank at the start or doubled"
		}
		prev = r
	}
	switch {
	case prev == ' ':
		return "blank at the end, or empty"
	case !norm.NFC.IsNormalString(text):
		return "not composed (NFC)"
	}
	return ""
}

// findCounts bounds the lists of an archetype.
func findCounts(c *corpus, add reporter) {
	for _, a := range c.archetypes {
		if n := len(a.Utterances); n < minUtterances || n > maxUtterances {
			add(a.at, a.id(), "%d utterances, want %d to %d", n, minUtterances, maxUtterances)
		}
		if n := len(a.Synonyms); n < minSynonyms || n > maxSynonyms {
			add(a.at, a.id(), "%d synonyms, want %d to %d", n, minSynonyms, maxSynonyms)
		}
		if n := len(a.Params); n > maxParams {
			add(a.at, a.id(), "%d params, at most %d", n, maxParams)
		}
	}
}

func findFiller(c *corpus, add reporter) {
	for _, a := range c.archetypes {
		for _, t := range a.texts() {
			low := strings.ToLower(t)
			for _, f := range filler {
				if hasPhrase(low, f) {
					add(a.at, a.id(), "%q says %q", t, f)
				}
			}
		}
	}
}

// hasPhrase reports whether a phrase stands in the text with no letter next to it.
func hasPhrase(text, phrase string) bool {
	before, after, found := strings.Cut(text, phrase)
	if !found {
		return false
	}
	l, _ := utf8.DecodeLastRuneInString(before)
	r, _ := utf8.DecodeRuneInString(after)
	return !unicode.IsLetter(l) && !unicode.IsLetter(r) || hasPhrase(after, phrase)
}
