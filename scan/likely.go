package scan

import (
	_ "embed"
	"slices"
	"sync"

	"tooldex/internal/textclass"
	"tooldex/tool"
)

// weights are what tools/train makes of the sentences under examples, which hostile and honest tools might have,
// and of those of real tools.
//
//go:embed weights.bin
var weights []byte

var examples = sync.OnceValue(func() *textclass.Model {
	m, err := textclass.Open(weights)
	if err != nil {
		panic(err) // the program was built with a broken file
	}
	return m
})

// How a score counts. By what "make train-scanner" prints, one in 2,500 sentences of real tools and archetypes scores
// sure where neither they nor any of their server were trained on, and so do two in five of hostile ones.
const (
	sure       = 2.5
	likelyFrom = .4 // of sure is a clue
	shortest   = 6  // words of a sentence that is looked at
)

// likely holds a sentence, whose words have these classes, against the examples, where no rule has said better what is
// wrong with its text. It counts less where it speaks of what the tool names as its subject.
func (w *work) likely(x text, said string, words []token, has *classes) {
	if len(words) < shortest || slices.ContainsFunc(w.found, func(f Finding) bool { return f.Field == x.field }) {
		return
	}
	sentence := sentenceOf(said, words)
	worth := enough * examples().Score(sentence) / sure
	if own := has.of(&lexicon().subjects); own.meets(&w.named) || own.meets(&w.stated) {
		worth = worth * 2 / 5
	}
	if worth >= enough*likelyFrom {
		w.note("likely", x.field, sentence, int(worth))
	}
}

// Sentences returns the sentences that a tool's texts hold, as the rules read them, for training.
func Sentences(t *tool.Tool) []string {
	w := &work{s: New(nil), t: t}
	w.gather()
	var out []string
	for _, x := range w.texts {
		if x.place == key {
			continue
		}
		w.words = split(x.text, w.words)
		for words := range sentences(w.words) {
			out = append(out, sentenceOf(x.text, words))
		}
	}
	return out
}
