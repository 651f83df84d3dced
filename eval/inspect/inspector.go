package inspect

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Source says where a request comes from, and so how far it can be trusted.
type Source string

// The sources, those that people answer for first.
const (
	Labelled Source = "labelled" // by a person who looked at the whole catalogue
	Declared Source = "declared" // with the tool, by its author or an overlay
	Example  Source = "example"  // what an example of the tool does
	Borrowed Source = "borrowed" // from tools of its kind; not checked for this one
	Summary  Source = "summary"  // the tool's own first sentence, which flatters search by words
)

// Request is a request that should find a tool.
type Request struct {
	ID   string `json:"id,omitempty"` // of a labelled one
	Text string `json:"text"`
	From Source `json:"from"`
}

// Options say what is inspected. All of them are needed.
type Options struct {
	Set      *tool.Set
	Searcher tool.Searcher // must know the tools of Set by their IDs
	// Words calls yield with each word of a text and the term under which the search knows it. It is not called by two
	// goroutines at once.
	Words func(text string, yield func(word, term string))
	// Requests returns those that should find a tool. It is not called by two goroutines at once.
	Requests func(t *tool.Tool) []Request
}

// Inspector inspects a catalogue. It is safe for concurrent use after New if Options.Words and Options.Requests are.
type Inspector struct {
	o       Options
	tools   []*tool.Tool // those that can be found, by ID
	own     []words      // what each says of itself
	at      map[tool.ID]int
	carried map[string]int // how many tools use a term
}

// words are the terms of a tool's own text.
type words map[string]word

// word is how a tool spells a term, and how much it says: most in the name, least among the parameters.
type word struct {
	text   string
	weight float64
}

// New reads the texts of all tools, which takes about a tenth of a second for a thousand.
func New(o Options) *Inspector {
	in := &Inspector{o: o, at: map[tool.ID]int{}, carried: map[string]int{}}
	for _, t := range o.Set.All() {
		if t.Disabled {
			continue
		}
		// Disabled tools are left out: no search finds them, so they cannot collide.
		in.at[t.ID()] = len(in.tools)
		in.tools = append(in.tools, t)
		own := in.wordsOf(t)
		in.own = append(in.own, own)
		for term := range own {
			in.carried[term]++
		}
	}
	return in
}

// The weights of where a word stands in a tool.
const (
	inName   = 2
	inText   = 1
	inParams = .4
)

// longest is how much of a text is read.
const longest = 4000

// wordsOf returns the words of a tool's own texts by stem, with the spelling and weight of the most important field
// that has them. Borrowed words are not among them: rewording cannot change those.
func (in *Inspector) wordsOf(t *tool.Tool) words {
	own := words{}
	add := func(text string, weight float64) {
		in.o.Words(sanitize.Cut(text, longest), func(w, term string) {
			if had, ok := own[term]; !ok || had.weight < weight {
				own[term] = word{w, weight}
			}
		})
	}
	add(t.Name+" "+t.Server, inName)
	add(t.Title, inText)
	add(t.Summary, inText)
	add(t.Description, inText)
	for _, list := range [][]string{t.Keywords, t.Synonyms} {
		add(strings.Join(list, "\n"), inText)
	}
	for _, u := range t.Utterances {
		add(u.Text, inText)
	}
	for _, e := range t.Examples {
		add(e.Description, inText)
	}
	for _, p := range t.Parameters() {
		add(p.Name+" "+p.Description, inParams)
	}
	return own
}

// rarityOf is how rare a term is among the tools' own texts. It grows with the logarithm of the share, as the inverse
// document frequency of a search does.
func (in *Inspector) rarityOf(term string) float64 {
	return math.Log(1 + float64(len(in.tools))/float64(1+in.carried[term]))
}

// distinguishingWords lists what tool a says of itself and tool b does not, at most n words, those that would
// distinguish them apart best first.
func (in *Inspector) distinguishingWords(a, b, n int) []string {
	type weighed struct {
		term, text string
		weight     float64
	}
	var out []weighed
	for term, w := range in.own[a] {
		if _, both := in.own[b][term]; !both && len(term) > 1 {
			out = append(out, weighed{term, w.text, w.weight * in.rarityOf(term)})
		}
	}
	slices.SortFunc(out, func(x, y weighed) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.term, y.term))
	})
	texts := make([]string, 0, n)
	for _, w := range out[:min(n, len(out))] {
		texts = append(texts, w.text)
	}
	return texts
}
