package knowledge

import (
	"unicode/utf8"
)

// rarelySeen is how much a word counts as understood that only one or two archetypes have.
const rarelySeen = .5

// Understood returns the share of the words of a request that are known: to the catalogue, as known reports, to the
// archetypes, or to the lexicon of the request's language. Stop words, function words and numbers do not count; 0 if
// nothing else is there.
func (b *Base) Understood(text string, known func(stem string) bool) float64 {
	var langs []string
	asked, stems := false, &b.lists().stems
	var all, has float64
	Words(text, func(w string) {
		r, size := utf8.DecodeRuneInString(w)
		ideograph := classOf(r) == classIdeograph
		if stopWords[w] || r >= '0' && r <= '9' || ideograph && size == len(w) {
			return
		}
		stem := b.stemWord(w)
		if known(stem) || b.isCommon(stem) {
			all, has = all+1, has+1
			return
		}
		if !asked {
			langs, asked = b.likelyLanguages(text, lexWords(text)), true
		}
		share, counts := b.understoodIn(langs, w, ideograph)
		if !counts {
			return
		}
		if _, ok := stems.indexOf(stem); ok {
			share = max(share, rarelySeen)
		}
		all, has = all+1, has+share
	})
	if all == 0 {
		return 0
	}
	return has / all
}

// understoodIn returns 1 for a word that the lexicon has in one of langs, else 0; and whether the word counts: a
// function word does not.
func (b *Base) understoodIn(langs []string, w string, ideograph bool) (share float64, counts bool) {
	for _, lang := range langs {
		if functionWords()[lang].folded[w] {
			return 0, false
		}
		var known bool
		switch {
		case ideograph:
			known = b.lexicon().get(lang+fieldSep+w) != nil
		case isUnspaced(lang): // Thai: this is all between two spaces
			known = b.translateUnspaced(lang, w) != nil
		default:
			found, _ := b.lookUpWord(lang, w, "")
			known = found != nil
		}
		if known {
			return 1, true
		}
	}
	return 0, true
}
