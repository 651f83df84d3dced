package knowledge

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// leastMisspelt is the fewest letters of a word that is taken for a misspelt one: of five letters, every tenth word is
// a letter away from one of another meaning, in Arabic every fourth.
const leastMisspelt = 6

// translateMisspelt returns the English of the forms of a language that a word misses by one letter: one too many, one
// too few, another one, or two that changed places. The first letter counts as right, since it mostly is, and only
// forms of one word are looked at. Of several forms those win that the word follows longest.
func (b *Base) translateMisspelt(lang, word string) (english []string) {
	if utf8.RuneCountInString(word) < leastMisspelt {
		return nil
	}
	lexicon := b.lexicon()
	_, first := utf8.DecodeRuneInString(word)
	prefix := lang + fieldSep + word[:first]
	longest := 0
	for i := sort.Search(lexicon.keys.n, func(i int) bool {
		return string(lexicon.keys.entryAt(i)) >= prefix
	}); i < lexicon.keys.n; i++ {
		key := lexicon.keys.entryAt(i)
		if len(key) < len(prefix) || string(key[:len(prefix)]) != prefix {
			break
		}
		stem := key[len(prefix)-first:]
		if _, begins := isOneEditAway(word, stem, false); !begins {
			continue // as nearly all do
		}
		for rest := lexicon.values.entryAt(i); len(rest) > 0; {
			var value []byte
			value, rest, _ = bytes.Cut(rest, []byte(listSep))
			ending, en, _ := bytes.Cut(value, []byte(fieldSep))
			en, _, _ = bytes.Cut(en, []byte(fieldSep))
			var room [64]byte
			same, ok := isOneEditAway(word, append(append(room[:0], stem...), ending...), true)
			switch {
			case !ok || same < longest:
			case same > longest:
				longest, english = same, []string{string(en)}
			default:
				english = appendNew(english, []string{string(en)})
			}
		}
	}
	if bare := withoutParticle(lang, word); english == nil && bare != "" {
		return b.translateMisspelt(lang, bare)
	}
	return english
}

// isOneEditAway reports whether one letter more, less or changed, or two neighbours changed about, make word of form,
// and how many bytes both begin with. If form is not the whole of one, it reports whether word may be one letter off a
// form that begins so.
func isOneEditAway(word string, form []byte, whole bool) (same int, ok bool) {
	for same < len(word) && same < len(form) && word[same] == form[same] {
		same++
	}
	for same > 0 && (same < len(word) && !utf8.RuneStart(word[same]) || same < len(form) &&
		!utf8.RuneStart(form[same])) {
		same--
	}
	w, f := word[same:], form[same:]
	if w == "" && len(f) == 0 {
		return same, !whole
	}
	_, w1 := utf8.DecodeRuneInString(w)
	_, f1 := utf8.DecodeRune(f)
	if matchesForm(w[w1:], f[f1:], whole) || matchesForm(w, f[f1:], whole) || matchesForm(w[w1:], f, whole) {
		return same, true
	}
	_, w2 := utf8.DecodeRuneInString(w[w1:])
	_, f2 := utf8.DecodeRune(f[f1:])
	return same, w[:w1] == string(f[f1:f1+f2]) && w[w1:w1+w2] == string(f[:f1]) && matchesForm(w[w1+w2:], f[f1+f2:], whole)
}

// matchesForm reports whether w is f, or begins with f if that is not the whole.
func matchesForm(w string, f []byte, whole bool) bool {
	return len(w) >= len(f) && (!whole || len(w) == len(f)) && w[:len(f)] == string(f)
}

// mayBeMisspelt reports whether w may be a misspelt word of lang, in a request in one of langs. A name is not, nor is a
// word that another of these languages has as it is.
func (b *Base) mayBeMisspelt(lang string, langs []string, w lexWord) bool {
	if w.isName(lang) {
		return false
	}
	for _, other := range langs {
		if other == lang {
			continue
		}
		if _, known := b.lookUpWord(other, w.text, w.spelled); known == len(w.text) {
			return false
		}
	}
	return true
}

// isEnglish reports whether a word is one of English: requests in any language in Latin script have such.
func (b *Base) isEnglish(word string) bool {
	return stopWords[word] || b.isCommon(b.stemWord(word))
}
