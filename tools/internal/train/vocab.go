package train

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tooldex/embed"
)

// How a vocabulary's rows are shared out. Words take what the others leave.
const (
	minWordCount  = 2    // of the corpus, to be worth a row
	suffixPieces  = 3000 // pieces that continue a word
	prefixPieces  = 1200 // pieces that only begin words
	maxDenseRunes = 4    // longest word of a script without spaces; longer ones are read in parts
	foreignShare  = 11   // of 36 rows, for foreign words at most
)

// counts is how often each word and each character occurs.
type counts struct {
	words   map[string]int // English and whatever else tools and requests are written in
	foreign map[string]int // words of the lexicon
	dense   map[string]bool
	chars   map[string]int
}

func (n *counts) add(to map[string]int, text string) {
	for w, dense := range embed.Words(text) {
		word := string(w)
		to[word]++
		if dense {
			n.dense[word] = true
		}
		for _, r := range word {
			n.chars[string(r)]++
		}
	}
}

func count(c *corpus) *counts {
	n := &counts{words: map[string]int{}, foreign: map[string]int{}, dense: map[string]bool{}, chars: map[string]int{}}
	for _, t := range c.tools {
		for _, text := range []string{t.server, t.name, t.desc, t.par} {
			n.add(n.words, text)
		}
	}
	for _, f := range c.families {
		to := n.words
		switch f.name {
		case "lexicon":
			to = n.foreign
		case "switched": // made of words that were counted already
			continue
		}
		for _, q := range f.requests {
			n.add(to, q.text)
		}
	}
	for _, text := range c.extra {
		n.add(n.words, text)
	}
	return n
}

// vocabulary lists the tokens of a table with the given number of rows at most: every character that occurs, pieces for
// what is no word, stems of foreign words, and the commonest words.
func vocabulary(c *corpus, rows int) []string {
	n := count(c)
	v := &list{have: map[string]bool{}}
	for _, ch := range ranked(n.chars) {
		r, _ := utf8.DecodeRuneInString(ch)
		v.add(ch)
		if !isDense(r) {
			v.add("#" + ch)
		}
	}
	for d := range 100 { // counts and page sizes all look alike to the ranking by frequency
		v.add(strconv.Itoa(d))
	}
	for y := 1990; y <= 2035; y++ {
		v.add(strconv.Itoa(y))
	}
	suffixes, prefixes := affixes(n)
	for _, s := range suffixes[:min(suffixPieces, len(suffixes))] {
		v.add("#" + s)
	}
	for _, s := range prefixes[:min(prefixPieces, len(prefixes))] {
		v.add(s)
	}
	room := len(v.tokens) + rows*foreignShare/36
	for _, w := range foreignTokens(n) {
		if len(v.tokens) >= room {
			break
		}
		v.add(w)
	}
	for _, w := range ranked(n.words) {
		if len(v.tokens) >= rows || n.words[w] < minWordCount {
			break
		}
		if !n.dense[w] && !numeric(w) {
			v.add(w)
		}
	}
	return v.tokens
}

// list is tokens in order, each once.
type list struct {
	tokens []string
	have   map[string]bool
}

func (l *list) add(t string) {
	if !l.have[t] && len(t) <= 40 {
		l.have[t] = true
		l.tokens = append(l.tokens, t)
	}
}

// ranked gives the keys of m from the commonest down, ties in order of the alphabet.
func ranked(m map[string]int) []string {
	keys := sortedKeys(m)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(m[b], m[a]) })
	return keys
}

// foreignTokens are the stems of the lexicon's words: inflected forms then share a row, and forms that the lexicon does
// not list find it too. Words of scripts without spaces are taken whole, since the pieces there are the words.
func foreignTokens(n *counts) []string {
	stems := map[string]int{}
	for w, k := range n.foreign {
		runes := []rune(w)
		size := len(runes)
		switch {
		case n.dense[w]:
			if size > maxDenseRunes {
				continue
			}
		case n.words[w] >= minWordCount: // also an English word, or one that tools use
			continue
		case size >= 9:
			runes = runes[:size-3]
		case size >= 6:
			runes = runes[:size-2]
		}
		stems[string(runes)] += k
	}
	return ranked(stems)
}

// affixes ranks the beginnings and the continuations of words by how many words have them and how much they spare.
func affixes(n *counts) (suffixes, prefixes []string) {
	suf, pre := map[string]int{}, map[string]int{}
	for _, words := range []map[string]int{n.words, n.foreign} {
		for w := range words {
			if n.dense[w] || numeric(w) {
				continue
			}
			runes := []rune(w)
			for i := 2; i+2 <= len(runes); i++ {
				for j := i + 2; j <= min(len(runes), i+7); j++ {
					if j == len(runes) || j-i >= 3 {
						suf[string(runes[i:j])] += j - i - 1
					}
				}
				if i >= 3 && i <= 7 {
					pre[string(runes[:i])] += i - 1
				}
			}
		}
	}
	return ranked(suf), ranked(pre)
}

func numeric(w string) bool { return strings.Trim(w, "0123456789") == "" }

func isDense(r rune) bool {
	for _, dense := range embed.Words(string(r)) {
		return dense
	}
	return false
}
