package knowledge

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// latinLanguages are the languages of the lexicon that share the Latin script and must be told from English first.
var latinLanguages = []string{"de", "es", "fr", "id", "it", "nl", "pl", "pt", "tr", "vi"}

// functionWords are little words that tell a language and mean nothing in a request. None is an English word that
// requests use.
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

// languagesOf tells languages by script; nil means Latin.
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

// What a word says about the language of a request in Latin script.
const (
	weighFunction = 2. // a little word of the language
	weighKnown    = 1. // a word that the lexicon has for the language
	weighArticle  = 3. // against it: a little word that only English has
	weighEnglish  = .5 // against it: another English word, since names and terms are English in any language
)

// latinWord is a word of a request in Latin script.
type latinWord struct {
	text    string
	english float64 // how much it speaks for English
	name    bool    // it has a capital inside the request
}

// latinLanguage returns the language of a request in Latin script, or "" for English. Words with a capital inside a
// sentence are names and tell nothing, but for the nouns of German.
func (b *Base) latinLanguage(text string) string {
	words, strange := b.latinWords(text)
	enough := func(n int) bool { return n >= minForeign || n > 0 && 2*n >= len(words) }
	if !enough(len(strange)) {
		return ""
	}
	best, most := "", 0.
	for _, lang := range latinLanguages {
		own := 0
		for _, w := range strange {
			if b.speaksFor(lang, w) > 0 {
				own++
			}
		}
		if !enough(own) {
			continue
		}
		evidence, against := 0., 0.
		for _, w := range words {
			f := b.speaksFor(lang, w)
			evidence += f
			if f < weighFunction && !sharedWords[lang][w.text] {
				against += w.english
			}
		}
		if evidence > against && evidence > most {
			best, most = lang, evidence
		}
	}
	return best
}

// latinWords returns the words of a request, and again those that are not English.
func (b *Base) latinWords(text string) (words, strange []latinWord) {
	var an Analyzer
	for i, w := range lexWords(text) {
		l := latinWord{text: strings.ToLower(w), name: i > 0 && unicode.IsUpper([]rune(w)[0])}
		switch {
		case stopWords[l.text] || len(l.text) == 1:
			l.english = weighArticle
		case b.common(an.stem(l.text)):
			l.english = weighEnglish
		default:
			strange = append(strange, l)
		}
		if l.english == weighEnglish && someFunctionWord(l.text) {
			strange = append(strange, l)
		}
		words = append(words, l)
	}
	return words, strange
}

// someFunctionWord reports whether any language in Latin script has w as a little word.
func someFunctionWord(w string) bool {
	for _, lang := range latinLanguages {
		if functionWords[lang][w] {
			return true
		}
	}
	return false
}

// speaksFor tells how much a word speaks for a language. Inflections count only where the stem is long enough not to be
// met by chance.
func (b *Base) speaksFor(lang string, w latinWord) float64 {
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
	english, stem := b.lookUp(lang, w.text)
	if english != nil && (stem == len(w.text) || stem >= leastStem) || compounds[lang] && b.compound(lang, w.text) != nil {
		return weighKnown
	}
	return 0
}

// sharedWords are function words of a language that are as common in English, and tell nothing.
var sharedWords = map[string]map[string]bool{
	"de": setOf("in an am was so war die"), "es": setOf("a no me he"), "fr": setOf("a on me"), "it": setOf("in i a no me so per"),
	"pt": setOf("a no as do me"), "nl": setOf("in is me we was"), "pl": setOf("i a to do"), "vi": setOf("a"),
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
