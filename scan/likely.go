package scan

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"tooldex/internal/textclass"
	"tooldex/tool"
)

// weights is made by tools/train from the sentences under examples, which hostile and honest tools might have, and from
// those of real tools.
//
//go:embed weights.bin
var weights []byte

// examples returns the model of weights.
var examples = openWeights(weights)

// openWeights returns a function that returns the model of embedded weights, which are read at its first call.
func openWeights(b []byte) func() *textclass.Model {
	return sync.OnceValue(func() *textclass.Model {
		m, err := textclass.Open(b)
		if err != nil {
			panic(err) // the program was built with a broken file
		}
		return m
	})
}

// How a score counts. "make train-scanner" reports the rates: among sentences and pairs of sentences of real tools and
// archetypes that were not trained on, nor any of their server, one in 2,300 scores at least sure; of hostile ones,
// two in five do, and of honest ones that look alike one in eighty.
const (
	sure       = 4.0 // a score that makes a finding by itself, as the logarithm of the odds
	likelyFrom = .6  // the fraction of sure from which a score is a clue
	shortest   = 6   // the fewest words of a sentence that is scored

	// unspacedShortest is the same in bytes, where scripts set no spaces and only known words count.
	unspacedShortest = 24
)

// scoreSentence scores a sentence, whose words have the classes of has, by the trained model: alone, and together with
// the sentence before it in the same text, since many an order is given in two. It skips texts in which a rule already
// found something, since a rule names the reason. A score is worth three fifths where the sentence speaks of what the
// tool states as its subject, or has the model ask a person.
func (w *work) scoreSentence(x text, said string, words []token, has *classes) {
	both := words
	if n := len(w.before); n > 0 {
		both = w.before[:n+len(words)] // they lie one behind the other in w.words
	}
	w.before = words
	if w.hits != nil {
		w.scoreInResult(said, words, both)
		return
	}
	if x.field == "" { // texts put together
		return
	}
	sentence := spanOf(said, words)
	if len(both) < shortest && !isUnspaced(sentence) ||
		slices.ContainsFunc(w.found, func(f Finding) bool { return f.Field == x.field }) {
		return
	}
	score := float32(-1)
	if isScored(sentence, words, shortest) {
		score = examples().ScoreClasses(sentence, w.hashesOf(words))
	}
	if len(both) > len(words) {
		score = max(score, examples().ScoreClasses(spanOf(said, both), w.hashesOf(both)))
	}
	worth := enough * score / sure
	own, opens := has.intersection(&lexicon().subjects), x.field == "description" && words[0].start == 0
	if own.intersects(&w.named) || !opens && own.intersects(&w.stated) || asksPerson(words) {
		worth = worth * 3 / 5 // a first sentence does not excuse itself
	}
	if worth >= enough*likelyFrom {
		w.noteMatch("likely", x.field, sentence, int(worth))
	}
}

// isScored reports whether a sentence is long enough to be scored alone: it has so many words, or is of a script
// without spaces and so many bytes.
func isScored(sentence string, words []token, least int) bool {
	return len(words) >= least || len(sentence) >= unspacedShortest && isUnspaced(sentence)
}

// isUnspaced reports whether a text is of a script that sets no spaces between words, or joins endings to them.
func isUnspaced(s string) bool { return hasUnusualByte(s) && strings.ContainsFunc(s, joinsWords) }

// spanOf is sentenceOf with the letters before and after it that belong to no known word, in scripts in which words are
// found by the lexicon.
func spanOf(said string, words []token) string {
	from, to := int(words[0].start), int(words[len(words)-1].end)
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(said[:from])
		if !joinsWords(r) {
			break
		}
		from -= n
	}
	for to < len(said) {
		r, n := utf8.DecodeRuneInString(said[to:])
		if !joinsWords(r) && r != ' ' {
			break
		}
		to += n
	}
	return strings.TrimRight(said[from:to], " ")
}

// hashesOf returns the hashes of the classes of each word, for the trained model. The slice is reused.
func (w *work) hashesOf(words []token) [][]uint64 {
	w.hashes = w.hashes[:0]
	for _, t := range words {
		w.hashes = append(w.hashes, t.hashes)
	}
	return w.hashes
}

// Example is a text as the trained model sees it: a sentence, or two in a row.
type Example struct {
	Text    string
	Classes [][]uint64 // as for textclass.Model.ScoreClasses
	Both    bool       // two sentences
}

// Examples returns what the trained model scores in a tool: the sentences of its texts without names of parameters, and
// each together with the one before it. It is for training.
func Examples(t *tool.Tool) []Example {
	w := &work{s: New(nil), t: t}
	w.gatherTexts()
	var out []Example
	for _, x := range w.texts {
		if x.place == key {
			continue
		}
		w.words = splitWords(x.text, w.words)
		var before []token
		for words := range eachSentence(w.words) {
			one := words
			for _, both := range []bool{false, true} {
				if both {
					if len(before) == 0 {
						break
					}
					one = before[:len(before)+len(words)]
				}
				out = append(out, Example{spanOf(x.text, one), slices.Clone(w.hashesOf(one)), both})
			}
			before = words
		}
	}
	return out
}

// Whole returns a text of any number of sentences as one example.
func Whole(text string) Example {
	w := &work{words: splitWords(text, nil)}
	return Example{text, slices.Clone(w.hashesOf(w.words)), false}
}
