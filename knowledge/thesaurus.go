package knowledge

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// Expansion is a stem that could stand for a word of the request, with a weight from 0 to 1 for how well.
type Expansion struct {
	Stem   string
	Weight float32
}

const (
	leastRelated  = .6 // terms of a group below this weight are too loose to expand from or to
	longestPhrase = 4  // words
	// An effect ("put it back to the former version") is recognised by this share of its content words, and at least
	// two.
	effectShare  = .75
	effectPrefix = "\x01" // keys: a stem of an effect's phrase
	phrasePrefix = "\x02" // keys: the number of an effect's phrase
	verbPrefix   = "\x03" // keys: the stem of a verb that tools' names begin with
)

// compileThesaurus maps phrases to what they expand to, one hop. Effects are indexed by their stems instead, since no
// two requests put one in the same words.
func compileThesaurus(groups []Group, verbs []string) ([]byte, error) {
	m := map[string]map[string]float64{}
	effects := map[string][]byte{}
	entries := map[string][]byte{}
	phrases := 0
	for _, g := range groups {
		for _, from := range g.Terms {
			if from.Weight < leastRelated {
				continue
			}
			if g.Kind == "effect" {
				phrases++
				addEffect(entries, effects, phrases, from.Text, g, from.Weight)
				continue
			}
			phrase := joinWords(from.Text)
			for _, to := range g.Terms {
				if to.Weight >= leastRelated && to.Text != from.Text {
					addExpansions(m, phrase, to.Text, from.Weight*to.Weight)
				}
			}
		}
	}
	for phrase, to := range m {
		entries[phrase] = encodeExpansions(to)
	}
	for stem, ids := range effects {
		entries[effectPrefix+stem] = ids
	}
	for _, stem := range verbs {
		entries[verbPrefix+stem] = []byte{1}
	}
	return packPairs(entries)
}

// addExpansions makes the terms of `to` an expansion of a phrase; several terms share the weight, and of two weights
// for one term the higher counts.
func addExpansions(m map[string]map[string]float64, phrase, to string, weight float64) {
	stems := Terms(to)
	if m[phrase] == nil {
		m[phrase] = map[string]float64{}
	}
	for _, s := range stems {
		m[phrase][s] = max(m[phrase][s], weight/float64(len(stems)))
	}
}

// addEffect adds a phrase that expands to the group's concept in a request with most of its words (see effectShare). A
// phrase with fewer than two different stems is left out.
func addEffect(entries, effects map[string][]byte, id int, phrase string, g Group, weight float64) {
	stems := uniqueTerms(phrase)
	if len(stems) < 2 {
		return
	}
	for _, s := range stems {
		effects[s] = binary.LittleEndian.AppendUint16(effects[s], uint16(id))
	}
	to := map[string]float64{}
	for _, s := range Terms(g.Concept) {
		to[s] = weight
	}
	entries[phraseKey(id)] = append([]byte{byte(len(stems))}, encodeExpansions(to)...)
}

// phraseKey returns the key of an effect's phrase in the thesaurus.
func phraseKey(id int) string { return phrasePrefix + string(rune(id+0x100)) }

// uniqueTerms returns the terms of s, sorted, each once.
func uniqueTerms(s string) []string {
	t := Terms(s)
	slices.Sort(t)
	return slices.Compact(t)
}

// joinWords returns the words of s with one space between them.
func joinWords(s string) string {
	var words []string
	Words(s, func(w string) { words = append(words, w) })
	return strings.Join(words, " ")
}

// encodeExpansions writes each stem with its weight in hundredths and its length, a byte each, sorted by stem.
func encodeExpansions(m map[string]float64) []byte {
	stems := make([]string, 0, len(m))
	for s := range m {
		stems = append(stems, s)
	}
	slices.Sort(stems)
	var out []byte
	for _, s := range stems {
		out = append(out, byte(m[s]*100+.5), byte(len(s)))
		out = append(out, s...)
	}
	return out
}

// eachExpansion calls yield with each stem that encodeExpansions wrote; a damaged entry ends it early.
func eachExpansion(b []byte, yield func(stem string, weight float32)) {
	for len(b) >= 2 {
		n := int(b[1])
		if len(b) < 2+n {
			return
		}
		yield(string(b[2:2+n]), float32(b[0])/100)
		b = b[2+n:]
	}
}

// Expand returns stems that could stand for words and phrases of the request, best first, at most limit; none of them
// is a stem of the request itself. Only words for which rare reports true are expanded: a word that the catalogue uses
// often speaks for itself.
func (b *Base) Expand(text string, limit int, rare func(stem string) bool) []Expansion {
	var words, stems []string
	own := map[string]bool{}
	Words(text, func(w string) {
		words = append(words, w)
		stem := b.stemWord(w)
		stems = append(stems, stem)
		own[stem] = true
	})
	found := map[string]float32{}
	add := func(stem string, weight float32) {
		if !own[stem] {
			found[stem] = max(found[stem], weight)
		}
	}
	for i := range words {
		for n := min(longestPhrase, len(words)-i); n > 0; n-- {
			if n == 1 && (stopWords[words[i]] || !rare(stems[i])) {
				continue
			}
			eachExpansion(b.thesaurus().get(strings.Join(words[i:i+n], " ")), add)
		}
	}
	b.addEffects(own, add)
	out := make([]Expansion, 0, len(found))
	for s, w := range found {
		out = append(out, Expansion{s, w})
	}
	slices.SortFunc(out, func(x, y Expansion) int {
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.Stem, y.Stem))
	})
	return out[:min(limit, len(out))]
}

// addEffects adds the concepts of effect phrases most of whose content words are in the request.
func (b *Base) addEffects(own map[string]bool, add func(string, float32)) {
	hits := map[int]int{}
	for stem := range own {
		ids := b.thesaurus().get(effectPrefix + stem)
		for ; len(ids) >= 2; ids = ids[2:] {
			hits[int(binary.LittleEndian.Uint16(ids))]++
		}
	}
	for id, n := range hits {
		v := b.thesaurus().get(phraseKey(id))
		if n >= 2 && len(v) > 0 && float64(n) >= effectShare*float64(v[0]) {
			eachExpansion(v[1:], add)
		}
	}
}

// fewestNames is how many archetypes' names must begin with a word for it to count as a verb.
const fewestNames = 15

// particleVerbs begin verbs of several words (turn on, set up) and are verbs by themselves, too.
var particleVerbs = setOf("turn set look put bring take switch pull push shut log sign check break cut fill hand kick line lock open point roll round send sort start strip top track wind wrap write")

// verbsOf returns the stems, in no order, of words that name an action: those that many archetypes' names begin with,
// and the verbs of the thesaurus.
func verbsOf(src *Source) []string {
	var an Analyzer
	count := map[string]int{}
	for _, a := range src.Archetypes {
		if t := an.Terms(nil, a.Name); len(t) > 1 {
			count[t[0]]++
		}
	}
	for _, g := range src.Thesaurus {
		for _, t := range g.Terms {
			first, _, phrase := strings.Cut(t.Text, " ")
			if g.Kind != "verb" || t.Weight < leastRelated || phrase && !particleVerbs[first] {
				continue
			}
			for _, stem := range an.Terms(nil, first) {
				count[stem] += fewestNames
			}
		}
	}
	var out []string
	for stem, n := range count {
		if n >= fewestNames {
			out = append(out, stem)
		}
	}
	return out
}

// IsVerb reports whether a stem is a verb that tools' names begin with: create, list, send.
func (b *Base) IsVerb(stem string) bool { return b.thesaurus().get(verbPrefix+stem) != nil }
