package knowledge

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// compileLexicon maps the language and stem of a form to English words. With each word it keeps the ending that was cut
// off for the stem, so that a word which is itself a form is not taken for an inflection of another. Where only marks
// distinguish a form from another, it keeps the spelling, too.
func compileLexicon(entries []map[string][]string) ([]byte, error) {
	spellings := map[string][]string{}
	eachForm(entries, func(lang, form, _ string) {
		key := lang + fieldSep + joinLex(lang, form)
		spellings[key] = appendNew(spellings[key], []string{spell(form)})
	})
	m := map[string][]string{}
	eachForm(entries, func(lang, form, english string) {
		folded := joinLex(lang, form)
		stem := lexStem(lang, folded)
		key, value := lang+fieldSep+stem, folded[len(stem):]+fieldSep+english
		if len(spellings[lang+fieldSep+folded]) > 1 {
			value += fieldSep + spell(form)
		}
		if !slices.Contains(m[key], value) {
			m[key] = append(m[key], value)
		}
	})
	flat := make(map[string][]byte, len(m))
	for k, v := range m {
		slices.Sort(v)
		flat[k] = []byte(strings.Join(v, listSep))
	}
	return packPairs(flat)
}

// eachForm calls do with each form of the lexicon, its language and its English word.
func eachForm(entries []map[string][]string, do func(lang, form, english string)) {
	for _, e := range entries {
		for lang, forms := range e {
			if lang == "en" {
				continue
			}
			for _, form := range forms {
				do(lang, form, e["en"][0])
			}
		}
	}
}

// englishFor returns the English words of the forms with exactly this ending, or of all forms of the stem if none has
// it. Where only marks distinguish forms, it prefers those with this spelling. Spelled is "" for a request without
// marks.
func englishFor(value []byte, ending, spelled string) (out []string, exact bool) {
	var all, same []string
	for _, v := range splitList(string(value)) {
		of, rest, _ := strings.Cut(v, fieldSep)
		english, spelling, _ := strings.Cut(rest, fieldSep)
		all = appendNew(all, []string{english})
		if of != ending {
			continue
		}
		out = appendNew(out, []string{english})
		if spelling != "" && spelling == spelled {
			same = appendNew(same, []string{english})
		}
	}
	switch {
	case same != nil:
		return same, true
	case out == nil:
		return all, false
	}
	return out, true
}

// joinLex normalises a form for look-ups: folded, in lower case, with one space between words, or with none in
// languages that are written without.
func joinLex(lang, form string) string {
	form = strings.ToLower(foldText(form))
	if isUnspaced(lang) {
		return strings.Join(strings.Fields(form), "")
	}
	return strings.Join(strings.FieldsFunc(form, func(r rune) bool { return classOf(r) == classBreak }), " ")
}

// isUnspaced reports whether a language is written without spaces between words.
func isUnspaced(lang string) bool { return lang == "zh" || lang == "ja" || lang == "th" }

// isDense reports whether r is a letter of a language without spaces.
func isDense(r rune) bool { return classOf(r) == classIdeograph || unicode.Is(unicode.Thai, r) }

// cutOff is the most characters that lexStem removes.
const cutOff = 2

// lexStem removes what inflection changes: up to two characters of the last word, of which at least four stay.
// Languages without such endings keep the whole form.
func lexStem(lang, form string) string {
	last := strings.LastIndexByte(form, ' ') + 1
	runes := []rune(form[last:])
	if isUnspaced(lang) || lang == "ko" || lang == "vi" || len(runes) <= 4 {
		return form
	}
	return form[:last] + string(runes[:max(4, len(runes)-cutOff)])
}

// longestEnding is how many characters beyond a stem a word may have.
const longestEnding = 4

// Translate returns the English words for what the lexicon has of a request in another language, or "" for one in
// English. Latin words within a request of another script are taken for names and left out. A word that is a letter off
// a longer one of the lexicon is read as that.
func (b *Base) Translate(text string) string {
	words := lexWords(text)
	langs := b.likelyLanguages(text, words)
	var out []string
	for _, lang := range langs {
		var found []string
		if isUnspaced(lang) {
			found = b.translateUnspaced(lang, strings.ToLower(foldText(text)))
		} else {
			found = b.translateFrom(lang, langs, words)
		}
		out = appendNew(out, found)
		if len(found) > 0 && !isUnspaced(lang) {
			break
		}
	}
	return strings.Join(out, " ")
}

// likelyLanguages returns the languages that a request with these words may be in, the likeliest first, or nil for
// English.
func (b *Base) likelyLanguages(text string, words []lexWord) []string {
	if langs := languagesOf(strings.ToLower(text)); langs != nil {
		if len(langs) > 1 && !isUnspaced(langs[0]) {
			evidence := map[string]float64{}
			for _, lang := range langs {
				evidence[lang], _ = b.evidenceFor(lang, words, make([]float64, len(words)))
			}
			slices.SortStableFunc(langs, func(a, c string) int { return cmp.Compare(evidence[c], evidence[a]) })
		}
		return langs
	}
	if lang := b.latinLanguage(words); lang != "" {
		return []string{lang}
	}
	return nil
}

// appendNew appends the words of more that out does not contain.
func appendNew(out, more []string) []string {
	for _, w := range more {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// translateFrom returns English words for the forms of one language in a request, which may be in any of langs.
func (b *Base) translateFrom(lang string, langs []string, words []lexWord) (english []string) {
	for i := 0; i < len(words); {
		if b.isFunctionWord(lang, words[i]) {
			i++
			continue
		}
		found, taken := b.translatePhrase(lang, words[i:])
		if found == nil {
			found, taken = b.translateWord(lang, words[i], b.mayBeMisspelt(lang, langs, words[i])), 1
		}
		english = appendNew(english, found)
		i += taken
	}
	return english
}

// longestForm is the most words that a form has.
const longestForm = 3

// translatePhrase returns the English words of the longest form of several words that words begin with, and how many
// words it takes; nil and 0 if there is none.
func (b *Base) translatePhrase(lang string, words []lexWord) (english []string, taken int) {
	for n := min(longestForm, len(words)); n > 1; n-- {
		text, spelled := words[0].text, words[0].spelled
		for _, w := range words[1:n] {
			text, spelled = text+" "+w.text, spelled+" "+w.spelled
		}
		if found, _ := b.lookUpWord(lang, text, spelled); found != nil {
			return found, n
		}
	}
	return nil, 0
}

// translateWord looks a word up as it is, else as a misspelt form if it may be one, else as an inflection or a
// compound. A form that is one letter off comes before one that only begins alike, because the letters cut off as an
// ending may be the ones that distinguish two words.
func (b *Base) translateWord(lang string, w lexWord, mayBeMisspelt bool) []string {
	found, known := b.lookUpWord(lang, w.text, w.spelled)
	if known == len(w.text) {
		return found
	}
	if mayBeMisspelt {
		if near := b.translateMisspelt(lang, w.text); near != nil && !b.isEnglish(w.text) {
			return near
		}
	}
	if found == nil && compounds[lang] {
		return b.translateCompound(lang, w.text)
	}
	return found
}

// compounds are the languages that write compound nouns as one word.
var compounds = map[string]bool{"de": true, "nl": true}

// leastPart is the fewest letters of a part of a compound, and longestCompound the most bytes of one: looking for the
// parts takes time by the square of its length.
const (
	leastPart       = 4
	longestCompound = 64
)

// translateCompound returns the English words for the two parts of a compound noun, which may be joined by s, n, en or
// es; nil if it has no such parts.
func (b *Base) translateCompound(lang, word string) []string {
	if len(word) > longestCompound {
		return nil
	}
	for cutAt := len(word) - leastPart; cutAt >= leastPart; cutAt-- {
		tail, _ := b.lookUpWord(lang, word[cutAt:], "")
		if tail == nil {
			continue
		}
		for _, joint := range []string{"", "s", "n", "en", "es"} {
			head, ok := strings.CutSuffix(word[:cutAt], joint)
			if !ok || len(head) < leastPart-1 {
				continue
			}
			if found, _ := b.lookUpWord(lang, head, ""); found != nil {
				return appendNew(slices.Clone(found), tail)
			}
		}
	}
	return nil
}

// lookUpWord looks a word or phrase up as it is, else by the longest stem that it can be an inflection of. It also
// returns how many bytes of the word were recognised: all of them where the lexicon has this very form. Spelled is the
// word with its marks, or "".
func (b *Base) lookUpWord(lang, word, spelled string) (english []string, stem int) {
	lexicon := b.lexicon()
	key := lang + fieldSep + word
	letters, at := utf8.RuneCountInString(word), len(word)
	for least := letters - longestEnding - cutOff; letters > 0 && letters >= least; letters-- {
		if v := lexicon.get(key[:len(key)-len(word)+at]); v != nil {
			found, exact := englishFor(v, word[at:], spelled)
			if exact {
				return found, len(word)
			}
			if english == nil {
				english, stem = found, at
			}
		}
		last, size := utf8.DecodeLastRuneInString(word[:at])
		if at -= size; last == ' ' || letters <= 4 && !(lang == "ko" && letters > 2) {
			break // an ending is a part of the last word, and leaves a stem
		}
	}
	if bare := withoutParticle(lang, word); bare != "" {
		if found, known := b.lookUpWord(lang, bare, ""); found != nil && (english == nil || known == len(bare)) {
			return found, len(word) - len(bare) + known
		}
	}
	return english, stem
}

// arabicParticles are written as one with the word behind them: the article, alone or after and, by, to. Longer ones
// come first, since the first that fits is removed.
var arabicParticles = []string{"وال", "بال", "لل", "ال"}

// withoutParticle returns an Arabic word without its particle, or "" if it has none or fewer than three letters are
// left.
func withoutParticle(lang, word string) string {
	if lang != "ar" {
		return ""
	}
	for _, particle := range arabicParticles {
		if bare, ok := strings.CutPrefix(word, particle); ok && utf8.RuneCountInString(bare) > 2 {
			return bare
		}
	}
	return ""
}

// longestDense is the longest form of a language without spaces, in characters.
const longestDense = 12

// translateUnspaced reads text from left to right and takes the longest form at each place. A form of one character
// counts only where it stands alone, because inside a word it has another meaning.
func (b *Base) translateUnspaced(lang, text string) (english []string) {
	runes, lexicon := []rune(text), b.lexicon()
	for i := 0; i < len(runes); {
		if !isDense(runes[i]) {
			i++
			continue
		}
		taken := 1
		for n := min(longestDense, len(runes)-i); n > 0; n-- {
			if n == 1 && !standsAlone(runes, i) {
				break
			}
			if v := lexicon.get(lang + fieldSep + string(runes[i:i+n])); v != nil {
				found, _ := englishFor(v, "", "")
				english = appendNew(english, found)
				taken = n
				break
			}
		}
		i += taken
	}
	return english
}

// standsAlone reports whether the letter at i has no other next to it.
func standsAlone(runes []rune, i int) bool {
	return (i == 0 || !isDense(runes[i-1])) && (i+1 == len(runes) || !isDense(runes[i+1]))
}

// NotUnderstood returns the words of a request that neither the catalogue, as known reports, nor the archetypes
// contain: likely names, or subjects for which no tools are offered. Only words with Latin letters count.
func (b *Base) NotUnderstood(text string, known func(stem string) bool) []string {
	var out []string
	Words(text, func(w string) {
		if stopWords[w] || len(w) < 3 || !bytes.ContainsAny([]byte(w), "abcdefghijklmnopqrstuvwxyz") {
			return
		}
		if stem := b.stemWord(w); !known(stem) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	})
	return out
}
