package knowledge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tooldex/index"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// Analyzer turns text into index terms. The zero Analyzer is ready. It remembers stems, so that reading a catalogue
// costs one look-up a word, and it must not be used by two goroutines at once.
type Analyzer struct {
	stems map[string]string
	terms []string
}

// maxRemembered bounds the stems that an Analyzer remembers, for texts that never repeat a word.
const maxRemembered = 1 << 15

// Terms returns the index terms of text: words in lower case without marks, English ones stemmed and stop words
// dropped; identifiers split at case changes, underscores and punctuation; Han and kana as single characters and pairs.
// Any script gives terms. Order and repetition are those of the text.
func Terms(text string) []string {
	var a Analyzer
	return a.Terms(nil, text)
}

// Terms appends the terms of text, as described at the function [Terms], to dst.
func (a *Analyzer) Terms(dst []string, text string) []string {
	Words(text, func(w string) {
		if !stopWords[w] {
			dst = append(dst, a.stemWord(w))
		}
	})
	return dst
}

// Count returns each term of text once, in the order in which they first occur, with its number of occurrences as
// weight.
func (a *Analyzer) Count(text string) []index.Term {
	a.terms = a.Terms(a.terms[:0], text)
	if len(a.terms) == 0 {
		return nil
	}
	at := make(map[string]int, len(a.terms))
	out := make([]index.Term, 0, len(a.terms))
	for _, t := range a.terms {
		i, ok := at[t]
		if !ok {
			i = len(out)
			at[t] = i
			out = append(out, index.Term{Text: t})
		}
		out[i].Weight++
	}
	return out
}

// stemWord returns the English stem of a word of ASCII letters, and any other word as it is.
func (a *Analyzer) stemWord(w string) string {
	if len(w) < 3 || !isLowerASCII(w) {
		return w
	}
	if s, ok := a.stems[w]; ok {
		return s
	}
	if a.stems == nil {
		a.stems = make(map[string]string, 256)
	} else if len(a.stems) >= maxRemembered {
		clear(a.stems)
	}
	s := english.Stem(w, true)
	w = strings.Clone(w) // a key must not keep the whole text alive
	if s == w {
		s = w
	} else {
		s = strings.Clone(s)
	}
	a.stems[w] = s
	return s
}

// isLowerASCII reports whether s consists of the letters a to z, as most words do; such a word needs no folding.
func isLowerASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

// Words calls yield with each word of text in lower case, without marks: before stemming, with stop words. A word in
// camel case is given in parts and, where it is short enough to be a product's name (GitHub, PostgreSQL), also whole.
func Words(text string, yield func(string)) {
	text = foldText(text)
	start, prev := -1, classBreak
	flush := func(end int) {
		if start >= 0 {
			splitCase(text[start:end], yield)
		}
		start = -1
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		c := classOf(r)
		switch {
		case c == classIdeograph:
			flush(i)
			yield(text[i : i+size])
			if prev == classIdeograph {
				_, before := utf8.DecodeLastRuneInString(text[:i])
				yield(text[i-before : i+size])
			}
		case c == classWord:
			if start < 0 {
				start = i
			}
		default:
			flush(i)
		}
		prev = c
		i += size
	}
	flush(len(text))
}

// foldText removes what two spellings of one word differ in but for case: compatibility forms and marks. Text in ASCII
// is returned as it is.
func foldText(text string) string {
	ascii := true
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range norm.NFKD.String(text) {
		if unicode.Is(unicode.Mn, r) && !keepsMarks(r) {
			continue
		}
		if f, ok := letterForms[r]; ok {
			r = f
		}
		b.WriteRune(r)
	}
	// Hangul was decomposed; put its syllables together again.
	return norm.NFC.String(b.String())
}

// keepsMarks reports whether a mark spells a vowel, as in Devanagari and other Indic scripts, Thai and kana.
func keepsMarks(r rune) bool { return r >= 0x0900 && r < 0x1000 || r >= 0x3000 && r < 0x3100 }

// letterForms are letters that are written in more than one way: Arabic alef and ta marbuta, Turkish dotless i, German
// ß is left to the lexicon.
var letterForms = map[rune]rune{
	'أ': 'ا', 'إ': 'ا', 'آ': 'ا', 'ٱ': 'ا', 'ة': 'ه', 'ى': 'ي', 'ı': 'i', 'ё': 'е',
	'Ё': 'Е', 'ł': 'l', 'Ł': 'L', 'đ': 'd', 'Đ': 'D', 'ø': 'o', 'Ø': 'O',
}

// runeClass is how a character takes part in words. Ideographs are words of their own.
type runeClass int

const (
	classBreak runeClass = iota
	classWord
	classIdeograph
)

// longVowel is the mark in データ, which belongs to no script.
const longVowel = 'ー'

// classOf returns the class of characters that r belongs to.
func classOf(r rune) runeClass {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return classWord
		}
		return classBreak
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana), r == longVowel:
		return classIdeograph
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return classWord
	}
	return classBreak
}

// longestWhole is the longest camel-case word that is also given whole.
const longestWhole = 14

// splitCase yields the parts of one run of letters and digits: createIssue as create, issue; XMLParser as xml, parser;
// listURLs as list, urls.
func splitCase(run string, yield func(string)) {
	isUpper := func(i int) bool { return i < len(run) && run[i] >= 'A' && run[i] <= 'Z' }
	start, parts := 0, 0
	for i := 1; i < len(run); i++ {
		if !isUpper(i) {
			continue
		}
		before := run[i-1] >= 'a' && run[i-1] <= 'z' || run[i-1] >= '0' && run[i-1] <= '9'
		after := i+1 < len(run) && run[i+1] >= 'a' && run[i+1] <= 'z'
		plural := after && run[i+1] == 's' && (i+2 == len(run) || isUpper(i+2)) // of an abbreviation, such as PDFs
		if before || isUpper(i-1) && after && !plural {
			yield(strings.ToLower(run[start:i]))
			start = i
			parts++
		}
	}
	yield(strings.ToLower(run[start:]))
	if parts > 0 && len(run) <= longestWhole {
		yield(strings.ToLower(run))
	}
}

// stopWords carry no meaning of their own in a request or a description.
var stopWords = setOf(`a an the of to for in on at by with and or is are be been was were this that these those it its i me my
	mine you your yours we our us can could may might please do does did done what how from as into if will would shall should want wants
	need needs like there their them they he she his her so some any has have had am which who whom let lets just also than then but not`)

// setOf returns the set of the words in a text.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
