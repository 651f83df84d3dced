package scan

import (
	_ "embed"
	"slices"
	"sync"

	"tooldex/internal/textclass"
	"tooldex/tool"
)

// weights is made by tools/train from the sentences under examples, which hostile and honest tools might have, and from
// those of real tools.
//
//go:embed weights.bin
var weights []byte

// examples returns the model of embedded weights, which is read on first use.
var examples = sync.OnceValue(func() *textclass.Model {
	m, err := textclass.Open(weights)
	if err != nil {
		panic(err) // the program was built with a broken file
	}
	return m
})

// How a score counts. "make train-scanner" reports the rates: among sentences of real tools and archetypes that were
// not trained on, nor any of their server, one in 2,500 scores at least sure; of hostile ones, two in five do.
const (
	sure       = 2.5 // a score that makes a finding by itself, as the logarithm of the odds
	likelyFrom = .4  // the fraction of sure from which a score is a clue
	shortest   = 6   // the fewest words of a sentence that is scored
)

// scoreSentence scores a sentence, whose words have the classes of has, by the trained model. It skips texts in which a
// rule already found something, since a rule names the reason. A score is worth two fifths where the sentence speaks of
// what the tool states as its subject.
func (w *work) scoreSentence(x text, said string, words []token, has *classes) {
	if len(words) < shortest || slices.ContainsFunc(w.found, func(f Finding) bool { return f.Field == x.field }) {
		return
	}
	sentence := sentenceOf(said, words)
	worth := enough * examples().Score(sentence) / sure
	if own := has.intersection(&lexicon().subjects); own.intersects(&w.named) || own.intersects(&w.stated) {
		worth = worth * 2 / 5
	}
	if worth >= enough*likelyFrom {
		w.noteMatch("likely", x.field, sentence, int(worth))
	}
}

// Sentences returns the sentences of a tool's texts as the rules read them, without names of parameters. It is for
// training.
func Sentences(t *tool.Tool) []string {
	w := &work{s: New(nil), t: t}
	w.gatherTexts()
	var out []string
	for _, x := range w.texts {
		if x.place == key {
			continue
		}
		w.words = splitWords(x.text, w.words)
		for words := range eachSentence(w.words) {
			out = append(out, sentenceOf(x.text, words))
		}
	}
	return out
}
