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
// and that the language has, or with more than half of its words.
const minForeign = 2

// compileLexicon maps language and form to English words. Long forms are kept by their stem, since languages inflect.
func compileLexicon(entries []map[string][]string) (keys, values []byte) {
	m := map[string][]string{}
	for _, e := range entries {
		for lang, forms := range e {
			if lang == "en" {
				continue
			}
			for _, form := range forms {
				key := lang + fieldSep + lexStem(lang, joinLex(lang, form))
				if !slices.Contains(m[key], e["en"][0]) {
					m[key] = append(m[key], e["en"][0])
				}
			}
		}
	}
	flat := make(map[string][]byte, len(m))
	for k, v := range m {
		slices.Sort(v)
		flat[k] = []byte(strings.Join(v, listSep))
	}
	return encodePairs(flat)
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

// lexStem cuts what inflection changes: the last two characters of forms longer than four, but never below four.
func lexStem(lang, form string) string {
	n := utf8.RuneCountInString(form)
	if dense(lang) || lang == "ko" || lang == "vi" || n <= 4 {
		return form
	}
	return string([]rune(form)[:max(4, n-2)])
}

// longestEnding is how many characters beyond a stem a word may have.
const longestEnding = 4

// Translate returns the English words for what the lexicon knows of a request in another language, or "" for one in
// English. Words in Latin script within a request of another script stay out of it: they are names.
func (b *Base) Translate(text string) string {
	text = strings.ToLower(fold(text))
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
	if lang := b.latinLanguage(text); lang != "" {
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

// latinLanguage returns the language of a request in Latin script, or "" for English. Evidence is words that only that
// language has; words that the archetypes know as English speak against it.
func (b *Base) latinLanguage(text string) string {
	words := lexWords(text)
	var an Analyzer
	english := make([]bool, len(words))
	foreign := false
	for i, w := range words {
		english[i] = stopWords[w] || len(w) > 2 && b.knows(an.stem(w))
		foreign = foreign || !english[i]
	}
	if !foreign {
		return ""
	}
	best, most := "", 0
	for _, lang := range latinLanguages {
		evidence, against, own := 0, 0, 0
		for i, w := range words {
			switch {
			case functionWords[lang][w]:
				evidence += 2
				if !english[i] {
					own++
				}
			case b.lookUp(lang, w) != nil || compounds[lang] && b.compound(lang, w) != nil:
				evidence++
				if english[i] {
					against++
				} else {
					own++
				}
			case english[i]:
				against++
			}
		}
		if (own >= minForeign || 2*own > len(words)) && evidence > against && evidence > most {
			best, most = lang, evidence
		}
	}
	return best
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
			if found := b.lookUp(lang, strings.Join(words[i:i+n], " ")); len(found) > 0 {
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

// leastPart is the fewest letters of a part of a compound.
const leastPart = 4

// compound finds the parts of a compound noun: two words of the lexicon, perhaps joined by an s or n.
func (b *Base) compound(lang, word string) []string {
	for cutAt := len(word) - leastPart; cutAt >= leastPart; cutAt-- {
		tail := b.lookUp(lang, word[cutAt:])
		if tail == nil {
			continue
		}
		for _, joint := range []string{"", "s", "n", "en", "es"} {
			head, ok := strings.CutSuffix(word[:cutAt], joint)
			if !ok || len(head) < leastPart-1 {
				continue
			}
			if found := b.lookUp(lang, head); found != nil {
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

// lookUp finds a word or phrase as it is, else by the longest stem that it can be an inflection of.
func (b *Base) lookUp(lang, word string) []string {
	runes := []rune(word)
	for cutOff := 0; cutOff <= longestEnding+2 && len(runes)-cutOff >= 1; cutOff++ {
		stem := string(runes[:len(runes)-cutOff])
		n := len(runes) - cutOff
		if cutOff > 0 && n < 4 && !(lang == "ko" && n >= 2) {
			break
		}
		if v := b.lexicon.get(lang + fieldSep + stem); v != nil {
			return splitList(string(v))
		}
	}
	return nil
}

// longestDense is the longest form of a language without spaces, in characters.
const longestDense = 8

// translateDense reads text from left to right, taking the longest form at each place. A form of one character counts
// only where it stands alone, since inside a word it means something else.
func (b *Base) translateDense(lang, text string) (english []string, known int) {
	runes := []rune(text)
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
			if v := b.lexicon.get(lang + fieldSep + string(runes[i:i+n])); v != nil {
				english = appendNew(english, splitList(string(v)))
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
