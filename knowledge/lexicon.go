package knowledge

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// compileLexicon maps the language and stem of a form to English words. Each keeps the ending that the stem was cut from,
// so that a word that is a form itself is not taken for an inflection of its neighbours.
func compileLexicon(entries []map[string][]string) ([]byte, error) {
	m := map[string][]string{}
	for _, e := range entries {
		for lang, forms := range e {
			if lang == "en" {
				continue
			}
			for _, form := range forms {
				form = joinLex(lang, form)
				stem := lexStem(lang, form)
				key, value := lang+fieldSep+stem, form[len(stem):]+fieldSep+e["en"][0]
				if !slices.Contains(m[key], value) {
					m[key] = append(m[key], value)
				}
			}
		}
	}
	flat := make(map[string][]byte, len(m))
	for k, v := range m {
		slices.Sort(v)
		flat[k] = []byte(strings.Join(v, listSep))
	}
	return packPairs(flat)
}

// englishFor reads a value of the lexicon: the English words of the forms with exactly this ending, or of all forms if none
// has it.
func englishFor(value []byte, ending string) (out []string, exact bool) {
	var all []string
	for _, v := range splitList(string(value)) {
		of, english, _ := strings.Cut(v, fieldSep)
		all = appendNew(all, []string{english})
		if of == ending {
			out = appendNew(out, []string{english})
		}
	}
	if out == nil {
		return all, false
	}
	return out, true
}

func joinLex(lang, form string) string {
	form = strings.ToLower(fold(form))
	if dense(lang) {
		return strings.Join(strings.Fields(form), "")
	}
	return strings.Join(strings.FieldsFunc(form, func(r rune) bool { return classOf(r) == classBreak }), " ")
}

// dense reports whether a language is written without spaces between words.
func dense(lang string) bool { return lang == "zh" || lang == "ja" }

// lexStem cuts what inflection changes: the last two characters of a last word longer than four, but never below four.
func lexStem(lang, form string) string {
	last := strings.LastIndexByte(form, ' ') + 1
	runes := []rune(form[last:])
	if dense(lang) || lang == "ko" || lang == "vi" || len(runes) <= 4 {
		return form
	}
	return form[:last] + string(runes[:max(4, len(runes)-2)])
}

// longestEnding is how many characters beyond a stem a word may have.
const longestEnding = 4

// Translate returns the English words for what the lexicon knows of a request in another language, or "" for one in
// English. Words in Latin script within a request of another script stay out of it: they are names.
func (b *Base) Translate(text string) string {
	written := fold(text)
	text = strings.ToLower(written)
	langs := languagesOf(text)
	var out []string
	if len(langs) > 0 {
		for _, lang := range langs {
			found, _ := b.translateFrom(lang, text)
			out = appendNew(out, found)
			if len(found) > 0 && !dense(lang) && len(langs) > 1 && lang != "ru" {
				break
			}
		}
		return strings.Join(out, " ")
	}
	if lang := b.latinLanguage(written); lang != "" {
		out, _ = b.translateFrom(lang, text)
	}
	return strings.Join(out, " ")
}

func appendNew(out, more []string) []string {
	for _, w := range more {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// translateFrom returns English words for the forms of one language in text, and how many words of text were recognised.
func (b *Base) translateFrom(lang, text string) (english []string, known int) {
	if dense(lang) {
		return b.translateDense(lang, text)
	}
	words := lexWords(text)
	for i := 0; i < len(words); {
		if functionWords[lang][words[i]] {
			i++
			continue
		}
		taken, before := 1, known
		for n := min(3, len(words)-i); n > 0; n-- {
			if found, _ := b.lookUp(lang, strings.Join(words[i:i+n], " ")); len(found) > 0 {
				english = appendNew(english, found)
				known += n
				taken = n
				break
			}
		}
		if taken == 1 && known == before && compounds[lang] {
			if found := b.compound(lang, words[i]); len(found) > 0 {
				english = appendNew(english, found)
				known++
			}
		}
		i += taken
	}
	return english, known
}

// compounds are the languages that write compound nouns as one word.
var compounds = map[string]bool{"de": true, "nl": true}

// leastPart is the fewest letters of a part of a compound, and longestCompound the most bytes of one: looking for the parts
// takes time by the square of its length.
const (
	leastPart       = 4
	longestCompound = 64
)

// compound finds the parts of a compound noun: two words of the lexicon, perhaps joined by an s or n.
func (b *Base) compound(lang, word string) []string {
	if len(word) > longestCompound {
		return nil
	}
	for cutAt := len(word) - leastPart; cutAt >= leastPart; cutAt-- {
		tail, _ := b.lookUp(lang, word[cutAt:])
		if tail == nil {
			continue
		}
		for _, joint := range []string{"", "s", "n", "en", "es"} {
			head, ok := strings.CutSuffix(word[:cutAt], joint)
			if !ok || len(head) < leastPart-1 {
				continue
			}
			if found, _ := b.lookUp(lang, head); found != nil {
				return appendNew(slices.Clone(found), tail)
			}
		}
	}
	return nil
}

// lexWords returns the words of folded text that may be words of a language: no numbers, no names with digits.
func lexWords(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return classOf(r) == classBreak })
	return slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "0123456789") })
}

// lookUp finds a word or phrase as it is, else by the longest stem that it can be an inflection of. It also returns how
// much of the word was recognised, in bytes: all of it where the lexicon has this very form.
func (b *Base) lookUp(lang, word string) (english []string, stem int) {
	runes, lexicon := []rune(word), b.lexicon()
	for n := len(runes); n > 0 && n >= len(runes)-longestEnding-2; n-- {
		if n < len(runes) && (runes[n] == ' ' || n < 4 && !(lang == "ko" && n >= 2)) {
			break // an ending is a part of the last word, and leaves a stem
		}
		front := string(runes[:n])
		v := lexicon.get(lang + fieldSep + front)
		if v == nil {
			continue
		}
		found, exact := englishFor(v, word[len(front):])
		if exact {
			return found, len(word)
		}
		if english == nil {
			english, stem = found, len(front)
		}
	}
	if english != nil || lang != "ar" {
		return english, stem
	}
	for _, particle := range arabicParticles {
		if bare, ok := strings.CutPrefix(word, particle); ok && utf8.RuneCountInString(bare) > 2 {
			return b.lookUp(lang, bare)
		}
	}
	return nil, 0
}

// arabicParticles are written together with the word that they stand before: the article, alone and behind and, by, to.
var arabicParticles = []string{"وال", "بال", "لل", "ال"}

// longestDense is the longest form of a language without spaces, in characters.
const longestDense = 8

// translateDense reads text from left to right, taking the longest form at each place. A form of one character counts
// only where it stands alone, since inside a word it means something else.
func (b *Base) translateDense(lang, text string) (english []string, known int) {
	runes, lexicon := []rune(text), b.lexicon()
	for i := 0; i < len(runes); {
		if classOf(runes[i]) != classIdeograph {
			i++
			continue
		}
		taken := 1
		for n := min(longestDense, len(runes)-i); n > 0; n-- {
			if n == 1 && !alone(runes, i) {
				break
			}
			if v := lexicon.get(lang + fieldSep + string(runes[i:i+n])); v != nil {
				found, _ := englishFor(v, "")
				english = appendNew(english, found)
				known += n
				taken = n
				break
			}
		}
		i += taken
	}
	return english, known
}

func alone(runes []rune, i int) bool {
	return (i == 0 || classOf(runes[i-1]) != classIdeograph) && (i+1 == len(runes) || classOf(runes[i+1]) != classIdeograph)
}

// NotUnderstood returns the words of a request that neither the catalogue, as known reports, nor the archetypes have ever
// seen: likely names, or subjects nobody offers tools for.
func (b *Base) NotUnderstood(text string, known func(stem string) bool) []string {
	var out []string
	var an Analyzer
	Words(text, func(w string) {
		if stopWords[w] || len(w) < 3 || !bytes.ContainsAny([]byte(w), "abcdefghijklmnopqrstuvwxyz") {
			return
		}
		if stem := an.stem(w); !known(stem) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	})
	return out
}
