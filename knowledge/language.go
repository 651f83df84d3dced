package knowledge

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// latinLanguages are the languages of the lexicon that share the Latin script, and so must be distinguished from
// English.
var latinLanguages = []string{
	"cs", "da", "de", "es", "fi", "fr", "hr", "hu", "id", "it", "nb", "nl", "pl", "pt", "ro", "sk", "sv", "tr", "vi",
}

//go:embed function_words.txt
var functionWordsText string

// functionWords returns, by language, the words that carry no meaning in a request, such as articles, prepositions and
// pronouns. They also help to recognise the language. Words that the lexicon translates are not among them.
var functionWords = sync.OnceValue(func() map[string]wordSet {
	sets := map[string]wordSet{}
	var set wordSet
	for _, word := range strings.Fields(functionWordsText) {
		if lang, begins := strings.CutSuffix(word, ":"); begins {
			set = wordSet{spelled: map[string]bool{}, folded: map[string]bool{}}
			sets[lang] = set
			continue
		}
		set.spelled[spell(word)] = true
		set.folded[foldText(word)] = true
	}
	return sets
})

// A wordSet has words as they are spelled, and without marks.
type wordSet struct{ spelled, folded map[string]bool }

// ownLetters are the letters beyond a to z that words of a language in Latin script have.
var ownLetters = map[string]string{
	"cs": "áčďéěíňóřšťúůýž",
	"da": "åæéø",
	"de": "äöüß",
	"es": "áéíñóúü",
	"fi": "äåö",
	"fr": "àâæçèéêëîïôœùûüÿ",
	"hr": "čćđšž",
	"hu": "áéíóöőúüű",
	"id": "",
	"it": "àèéìíòóùú",
	"nb": "åæéòøô",
	"nl": "áéèëïíóöüú",
	"pl": "ąćęłńóśźż",
	"pt": "áâãàçéêíóôõúü",
	"ro": "ăâîșşțţ",
	"sk": "áäčďéíĺľňóôŕšťúýž",
	"sv": "äåéö",
	"tr": "çğıöşüâîû",
	"vi": "àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}

// minForeign guards English: a request in Latin script counts as foreign only with so many words that are not English
// and that the language has, or with half of its words.
const minForeign = 2

// languagesOf returns the languages that are written in the script of text; nil for Latin script. Of Chinese and
// Japanese the likelier comes first.
func languagesOf(text string) []string {
	var kana, han bool
	for _, r := range text {
		switch {
		case r < 0x250:
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana = true
		case unicode.Is(unicode.Han, r):
			han = true
		case unicode.Is(unicode.Hangul, r):
			return []string{"ko"}
		case unicode.Is(unicode.Greek, r):
			return []string{"el"}
		case unicode.Is(unicode.Cyrillic, r):
			return []string{"ru", "uk", "bg"}
		case unicode.Is(unicode.Devanagari, r):
			return []string{"hi"}
		case unicode.Is(unicode.Arabic, r):
			return []string{"ar", "fa"}
		case unicode.Is(unicode.Hebrew, r):
			return []string{"he"}
		case unicode.Is(unicode.Thai, r):
			return []string{"th"}
		}
	}
	switch {
	case kana:
		return []string{"ja", "zh"}
	case han:
		return []string{"zh", "ja"}
	}
	return nil
}

// The weights of a word as evidence for the language of a request in Latin script.
const (
	weighFunction = 2.  // a function word of the language
	weighShared   = 1.5 // a function word of the language that is an English word, too
	weighStop     = .5  // a function word of the language and of English
	weighKnown    = 1.  // a word that the lexicon has for the language
	weighLetters  = 1.5 // a word with letters of the language that English does not have
	weighStrange  = -2. // a word with letters that the language does not have
	weighArticle  = 3.  // against the language: a function word of English alone
	weighEnglish  = .5  // against the language: another English word; few, since all languages use English names
)

// A lexWord is a word of a request in lower case.
type lexWord struct {
	spelled string // as it was written; "" if nothing in the request has a mark
	text    string // without marks
	capital bool   // it began with a capital
	first   bool   // of the request
}

// isName reports whether a word is taken for a name, which is no evidence for a language. In German all nouns have
// capitals.
func (w lexWord) isName(lang string) bool { return w.capital && !w.first && lang != "de" }

// longestSuffix is how many letters a suffix behind the apostrophe of a name has, as in Tom's or Ankara'nın.
const longestSuffix = 3

// lexWords returns the words of a request, except for those that belong to no language: numbers, names with digits, and
// suffixes of names.
func lexWords(text string) []lexWord {
	marked := !isASCII(text)
	if marked {
		text = norm.NFC.String(text) // marks that are characters of their own would separate words
	}
	var words []lexWord
	for start, rest := true, text; rest != ""; start = false {
		at := strings.IndexFunc(rest, func(r rune) bool { return classOf(r) != classBreak })
		if at < 0 {
			break
		}
		suffix := strings.HasSuffix(rest[:at], "'") || strings.HasSuffix(rest[:at], "’")
		rest = rest[at:]
		end := strings.IndexFunc(rest, func(r rune) bool { return classOf(r) == classBreak })
		if end < 0 {
			end = len(rest)
		}
		written := rest[:end]
		rest = rest[end:]
		if strings.ContainsAny(written, "0123456789") || suffix && utf8.RuneCountInString(written) <= longestSuffix &&
			len(words) > 0 && words[len(words)-1].capital && len(words[len(words)-1].text) > longestSuffix {
			continue
		}
		first, _ := utf8.DecodeRuneInString(written)
		word := lexWord{text: strings.ToLower(written), capital: unicode.IsUpper(first), first: start}
		if marked {
			word.spelled, word.text = spell(written), strings.ToLower(foldText(written))
		}
		words = append(words, word)
	}
	return words
}

// spell returns a word in lower case with its marks. It leaves out those of Cyrillic and Arabic that people often do
// not write.
func spell(word string) string {
	return strings.Map(func(r rune) rune {
		if f, ok := letterForms[r]; ok && !unicode.Is(unicode.Latin, r) {
			return f
		}
		return r
	}, strings.ToLower(norm.NFC.String(word)))
}

// contractions are the letters that English writes alone (a, I) or behind an apostrophe.
const contractions = "aidmst"

// isASCII reports whether text is in ASCII.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isFunctionWord reports whether w is a function word of a language. In a request without any marks, w may stand for a
// function word with marks, unless the lexicon has w as another word.
func (b *Base) isFunctionWord(lang string, w lexWord) bool {
	set := functionWords()[lang]
	if w.spelled != "" {
		return set.spelled[w.spelled]
	}
	if set.spelled[w.text] || !set.folded[w.text] {
		return set.spelled[w.text]
	}
	_, known := b.lookUpWord(lang, w.text, "")
	return known < len(w.text)
}

// latinLanguage returns the language of a request in Latin script, or "" for English. A language needs enough words
// that are not English (minForeign), and more evidence than English and the other languages have.
func (b *Base) latinLanguage(words []lexWord) string {
	english := make([]float64, len(words)) // how much each word is evidence for English
	strange, marked := 0, false
	for i, w := range words {
		common := len(w.text) == 1 || b.isCommon(b.stemWord(w.text))
		switch {
		case w.spelled != "" && w.spelled != w.text:
			marked = true
		case stopWords[w.text] || len(w.text) == 1 && strings.Contains(contractions, w.text):
			english[i] = weighArticle
		case common:
			english[i] = weighEnglish
		}
		if !common && english[i] == 0 {
			strange++
		}
	}
	if strange == 0 && !marked {
		return "" // English has all of its words
	}
	best, most := "", 0.
	for _, lang := range latinLanguages {
		evidence, own := b.evidenceFor(lang, words, english)
		isEnough := own >= minForeign || own > 0 && strange > 0 && 2*own >= len(words) ||
			own > 0 && strange >= minForeign && evidence >= weighFunction
		if !isEnough || evidence <= 0 {
			continue
		}
		if evidence += b.misspellingEvidence(lang, words, english); evidence > most {
			best, most = lang, evidence
		}
	}
	return best
}

// evidenceFor returns how much words are evidence for a language and against English, and how many of the language's
// own words are among them; 0 and 0 if there are none. It looks up English words last, and only if the language has
// other words of the request: most languages have none.
func (b *Base) evidenceFor(lang string, words []lexWord, english []float64) (evidence float64, own int) {
	var room [32]float64
	known := append(room[:0], make([]float64, len(words))...)
	for i, w := range words {
		known[i] = b.formEvidence(lang, w, english[i])
		if english[i] == 0 && known[i] >= 0 {
			known[i] += b.lexiconEvidence(lang, w)
		}
		if known[i] > 0 && english[i] == 0 || known[i] >= weighShared {
			own++
		}
	}
	if own == 0 {
		return 0, 0
	}
	for i, w := range words {
		if english[i] > 0 && known[i] == 0 {
			known[i] = b.lexiconEvidence(lang, w)
		}
		if evidence += known[i]; known[i] <= 0 {
			evidence -= english[i]
		}
	}
	return evidence, own
}

// formEvidence returns how much a word is evidence for a language by its letters and as a function word. English is how
// much it is evidence for English.
func (b *Base) formEvidence(lang string, w lexWord, english float64) float64 {
	if w.isName(lang) {
		return 0
	}
	evidence := 0.
	if letters, isLatin := ownLetters[lang]; isLatin && w.spelled != "" && w.spelled != w.text {
		if strings.ContainsFunc(w.spelled, func(r rune) bool {
			return r >= utf8.RuneSelf && !strings.ContainsRune(letters, r)
		}) {
			return weighStrange
		}
		evidence = weighLetters
	}
	switch {
	case !b.isFunctionWord(lang, w):
		return evidence
	case english == 0:
		return evidence + weighFunction
	case english == weighEnglish:
		return evidence + weighShared
	}
	return evidence + weighStop
}

// lexiconEvidence returns how much a word that is no function word is evidence for a language because the lexicon has
// it. Inflected forms count only with a stem long enough not to match by chance.
func (b *Base) lexiconEvidence(lang string, w lexWord) float64 {
	const leastStem = 5
	if w.isName(lang) || b.isFunctionWord(lang, w) {
		return 0
	}
	found, stem := b.lookUpWord(lang, w.text, w.spelled)
	if found != nil && (stem == len(w.text) || stem >= leastStem) || compounds[lang] &&
		b.translateCompound(lang, w.text) != nil {
		return weighKnown
	}
	return 0
}

// misspellingEvidence returns how much words are evidence for a language as misspelt forms of it. It is used only to
// choose among other languages than English: rare English words, too, are a letter off a form of some language.
func (b *Base) misspellingEvidence(lang string, words []lexWord, english []float64) (evidence float64) {
	for i, w := range words {
		if english[i] == 0 && !w.isName(lang) && b.formEvidence(lang, w, 0) == 0 &&
			b.lexiconEvidence(lang, w) == 0 && b.translateMisspelt(lang, w.text) != nil {
			evidence += weighKnown
		}
	}
	return evidence
}
