package scan

import _ "embed"

// resultWeights is made by tools/train from the passages under result-examples and the sentences under examples, which
// hostile and honest results and tools might have, and from the documents of Go modules.
//
//go:embed result_weights.bin
var resultWeights []byte

// resultExamples returns the model of resultWeights.
var resultExamples = openWeights(resultWeights)

// How a score counts in results. docs/scanner.md has what these numbers find.
const (
	sureInResult   = 7.0 // a score that makes a finding by itself
	likelyInResult = 2.0 // the least score that counts together with other rules
	// leastIfPlain is the score below which a sentence is harmless, so that it takes more than one rule to make a
	// finding.
	leastIfPlain = 1.0
	// shortestInResult is the fewest words of a sentence that is scored.
	shortestInResult = 8
	// mostOther is the greatest share of characters, in percent, that are neither letters nor spaces in prose.
	mostOther = 15
)

// scoreInResult scores a sentence of a result by the model for results. It is scored together with the one before it,
// too, if either alone resembles an attack: that saves half of the time, and few attacks.
func (w *work) scoreInResult(said string, words, both []token) {
	m, sentence := resultExamples(), spanOf(said, words)
	before := w.scored
	w.scored = 0
	if !isProse(sentence) {
		return
	}
	score := float32(0) // of a sentence too short to be scored
	if isScored(sentence, words, shortestInResult) {
		score = m.ScoreClasses(sentence, w.hashesOf(words))
	}
	w.scored = score
	if len(both) > len(words) && len(both) >= shortestInResult && max(score, before) >= 0 {
		if all := spanOf(said, both); isProse(all) {
			score = max(score, m.ScoreClasses(all, w.hashesOf(both)))
		}
	}
	for i := len(w.hits) - 1; i >= 0 && w.hits[i].at == w.sentences; i-- {
		w.hits[i].harmless = score != 0 && score < leastIfPlain
	}
	if score < likelyInResult {
		return
	}
	worth := enough
	if score < sureInResult {
		worth = int(enough * score / sureInResult)
	}
	w.hits = append(w.hits, hit{"likely", sentenceOf(said, words), worth, w.sentences, score >= sureInResult, false})
}

// isProse reports whether a text is mostly of letters, unlike code and tables.
func isProse(s string) bool {
	other := 0
	for _, c := range []byte(s) {
		if c != ' ' && c < 0x80 && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			other++
		}
	}
	return 100*other <= mostOther*len(s)
}
