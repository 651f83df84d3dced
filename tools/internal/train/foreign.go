package train

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Words that say nothing once a sentence is put into another language word by word.
const function = " a an the of to for in on at by with and or is are be this that it i me my you your we our can could please do does what how from as into if will would want need like so up out all any them its was has have had not there which who when where been i'm i've let's don't "

func isFunction(word string) bool { return strings.Contains(function, " "+word+" ") }

// switchLanguages adds requests of archetypes with their words put into one other language, as far as the lexicon knows
// them. What it does not know stays or goes by chance: real requests in other languages keep English technical terms.
func (c *corpus) switchLanguages(rng *rand.Rand) {
	of, langs := byLanguage(c.lexicon)
	if len(langs) == 0 {
		return
	}
	at := slices.IndexFunc(c.families, func(f family) bool { return f.name == "archetypes" })
	f := family{name: "switched", weight: .75}
	for _, q := range c.families[at].requests {
		if rng.IntN(3) != 0 {
			continue
		}
		if text, ok := translate(q.text, of[langs[rng.IntN(len(langs))]], rng); ok {
			q.text = text
			f.requests = append(f.requests, q)
		}
	}
	c.families = append(c.families, f)
}

// byLanguage lists the forms of English words for each language, and the languages.
func byLanguage(lex []concept) (of map[string]map[string][]string, langs []string) {
	of = map[string]map[string][]string{}
	for _, k := range lex {
		for lang, forms := range k.forms {
			if of[lang] == nil {
				of[lang] = map[string][]string{}
			}
			of[lang][k.english] = append(of[lang][k.english], forms...)
		}
	}
	return of, sortedKeys(of)
}

// translate puts text into another language word by word. It reports false if fewer than two words have a translation,
// or less than a third of those that carry meaning.
func translate(text string, forms map[string][]string, rng *rand.Rand) (string, bool) {
	var out []string
	known, content := 0, 0
	for _, word := range strings.Fields(strings.ToLower(text)) {
		word = strings.Trim(word, ".,;:!?\"'()[]")
		if word == "" || isFunction(word) {
			continue
		}
		content++
		if f := lookup(forms, word); len(f) > 0 {
			out = append(out, f[rng.IntN(len(f))])
			known++
		} else if rng.IntN(2) == 0 {
			out = append(out, word)
		}
	}
	return strings.Join(out, " "), known >= 2 && 3*known >= content
}

// lookup finds the forms of a word or of what it is inflected from.
func lookup(forms map[string][]string, word string) []string {
	for _, end := range []string{"", "s", "es", "ed", "d", "ing", "ies", "ied"} {
		stem, ok := strings.CutSuffix(word, end)
		if !ok || len(stem) < 2 {
			continue
		}
		for _, back := range []string{"", "e", "y"} {
			if f := forms[stem+back]; f != nil {
				return f
			}
		}
	}
	return nil
}
