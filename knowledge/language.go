package knowledge

import (
	"slices"
	"strings"
	"unicode"
)

// latinLanguages are the languages of the lexicon that share the Latin script, and so must be distinguished from
// English.
var latinLanguages = []string{"de", "es", "fr", "id", "it", "nl", "pl", "pt", "tr", "vi"}

// functionWords are short words that identify a language and carry no meaning in a request. None is an English word
// that requests use.
var functionWords = map[string]map[string]bool{
	"de": setOf("der die das den dem des ein eine einen einem einer und oder mit fur von im ins zu zum zur auf aus bei nach uber unter nicht ist sind wie ich mir mich wir uns unser mein meine meinen alle bitte kannst dieser diese dieses welche neue neuen neues wird"),
	"es": setOf("el la los las un una unos unas y o de del al con sin para por en que como mi mis tu su sus este esta estos todos todas quiero puedes hay nuevo nueva es son se lo le me cual cuales"),
	"fr": setOf("le la les un une des du de et ou avec sans pour par dans sur que qui quoi comment mon ma mes ton ta ce cette ces tous toutes je veux peux est sont nouveau nouvelle il elle nous vous au aux en quels quelles moi"),
	"it": setOf("il lo la gli le un uno una e o di del della dei delle al alla con senza per da in nel nella su che come mio mia miei questo questa tutti tutte voglio puoi nuovo nuova sono mi ci quali"),
	"pt": setOf("o os as um uma uns umas e ou de do da dos das ao com sem para por em no na nos nas que como meu minha meus este esta esse todos todas quero pode novo nova me quais"),
	"nl": setOf("de het een en of met zonder voor van op aan naar uit bij niet ik mij mijn we ons onze alle deze dit die dat wil kan kun nieuwe welke hoe er zijn wordt"),
	"pl": setOf("i oraz lub z ze bez dla do na w we od przez nie jest sa ten ta to te tym moj moja moje wszystkie nowy nowa nowe jak chce mi sie czy ktore"),
	"tr": setOf("ve veya ile icin bir bu su tum butun yeni ben benim bana biz nasil mi mu da de ne hangi olan"),
	"vi": setOf("va hoac voi cho cua la mot cac nhung nay do toi chung tat ca moi nhu the nao o trong tren nhung hay giup"),
	"id": setOf("dan atau dengan tanpa untuk dari di ke pada yang ini itu saya kami semua baru bagaimana tolong apa adalah ada"),
}

// minForeign guards English: a request in Latin script counts as foreign only with so many words that are not English
// and that the language has, or with half of its words.
const minForeign = 2

// languagesOf returns the languages that the script of text suggests, the likelier first; nil means Latin script.
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
		case unicode.Is(unicode.Cyrillic, r):
			if strings.ContainsAny(text, "іїєґ") {
				return []string{"uk", "ru"}
			}
			return []string{"ru", "uk"}
		case unicode.Is(unicode.Devanagari, r):
			return []string{"hi"}
		case unicode.Is(unicode.Arabic, r):
			return []string{"ar"}
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
	weighFunction = 2. // a function word of the language
	weighKnown    = 1. // a word that the lexicon has for the language
	weighArticle  = 3. // against it: a function word that only English has
	weighEnglish  = .5 // against it: another English word, since names and terms are English in any language
)

// latinWord is a word of a request in Latin script.
type latinWord struct {
	text    string
	english float64 // how much it speaks for English
	name    bool    // it has a capital inside the request
}

// latinLanguage returns the language of a request in Latin script, or "" for English. Words with a capital inside a
// sentence are taken for names and count for no language, except for the nouns of German.
func (b *Base) latinLanguage(text string) string {
	words, strange := b.latinWords(text)
	if !slices.ContainsFunc(strange, func(w latinWord) bool { return w.english == 0 }) {
		return "" // English has all of its words
	}
	enough := func(n int) bool { return n >= minForeign || n > 0 && 2*n >= len(words) }
	if !enough(len(strange)) {
		return ""
	}
	best, most := "", 0.
	for _, lang := range latinLanguages {
		own := 0
		for _, w := range strange {
			if b.wordEvidence(lang, w) > 0 {
				own++
			}
		}
		if !enough(own) {
			continue
		}
		evidence, against := 0., 0.
		for _, w := range words {
			f := b.wordEvidence(lang, w)
			evidence += f
			if f < weighFunction && !sharedWords[lang][w.text] {
				against += w.english
			}
		}
		if evidence <= against {
			continue
		}
		if evidence += b.misspellingEvidence(lang, strange); evidence > most {
			best, most = lang, evidence
		}
	}
	return best
}

// latinWords returns the words of a request, and those of them that are not English or that are function words
// elsewhere.
func (b *Base) latinWords(text string) (words, strange []latinWord) {
	for i, w := range lexWords(text) {
		l := latinWord{text: strings.ToLower(w), name: i > 0 && unicode.IsUpper([]rune(w)[0])}
		switch {
		case stopWords[l.text] || len(l.text) == 1:
			l.english = weighArticle
		case b.isCommon(b.stemWord(l.text)):
			l.english = weighEnglish
		default:
			strange = append(strange, l)
		}
		if l.english == weighEnglish && isFunctionWord(l.text) {
			strange = append(strange, l)
		}
		words = append(words, l)
	}
	return words, strange
}

// isFunctionWord reports whether w is a function word of any language in Latin script.
func isFunctionWord(w string) bool {
	for _, lang := range latinLanguages {
		if functionWords[lang][w] {
			return true
		}
	}
	return false
}

// wordEvidence returns how much a word is evidence for a language. Inflected forms count only with a stem long enough
// not to match by chance.
func (b *Base) wordEvidence(lang string, w latinWord) float64 {
	const leastStem = 5
	switch {
	case sharedWords[lang][w.text] || w.name && lang != "de":
		return 0
	case functionWords[lang][w.text]:
		if w.name {
			return 0
		}
		return weighFunction
	}
	english, stem := b.lookUpWord(lang, w.text)
	if english != nil && (stem == len(w.text) || stem >= leastStem) || compounds[lang] &&
		b.translateCompound(lang, w.text) != nil {
		return weighKnown
	}
	return 0
}

// misspellingEvidence returns how much words are evidence for a language as misspelt forms of it. It decides only
// between languages, not against English: rare English words are a letter off a form of some language, too.
func (b *Base) misspellingEvidence(lang string, words []latinWord) (evidence float64) {
	for _, w := range words {
		if b.wordEvidence(lang, w) == 0 && !w.name && w.english == 0 && b.translateMisspelt(lang, w.text) != nil {
			evidence += weighKnown
		}
	}
	return evidence
}

// sharedWords are function words of a language that are as common in English, so that they are no evidence.
var sharedWords = map[string]map[string]bool{
	"de": setOf("in an am was so war die"), "es": setOf("a no me he"), "fr": setOf("a on me"),
	"it": setOf("in i a no me so per"),
	"pt": setOf("a no as do me"), "nl": setOf("in is me we was"), "pl": setOf("i a to do"), "vi": setOf("a"),
}
