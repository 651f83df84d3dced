package service

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/search"
	"tooldex/tool"
)

// fourLenders lend one utterance and one synonym each; the second says what the first says.
func fourLenders() []search.Lender {
	out := []search.Lender{
		{Utterances: []string{"remember this"}, Synonyms: []string{"jot"}},
		{Utterances: []string{"remember this"}, Synonyms: []string{"scribble"}},
		{Utterances: []string{"keep it for later"}},
		{Utterances: []string{"to paper with it"}},
	}
	for i, name := range []string{"a/one", "a/two", "b/three", "b/four"} {
		out[i].Archetype, out[i].Title, out[i].Like, out[i].Weight = name, strings.ToUpper(name), .9-float64(i)/8,
			1/float64(i+1)
	}
	return out
}

func TestSearchPhrases(t *testing.T) {
	one := &tool.Tool{
		Utterances: []tool.Utterance{{Text: "note it"}, {Text: "write it up", From: tool.Learned}},
		Synonyms:   []string{"jot", "note it"},
	}
	got := newSearchPhrases(one, true, fourLenders())
	want := &SearchPhrases{
		Borrows: true,
		Phrases: []Phrase{
			{"utterance", tool.Declared, "note it", ""},
			{"utterance", tool.Learned, "write it up", ""},
			{"synonym", tool.Declared, "jot", ""},
			{"utterance", tool.Borrowed, "remember this", "a/one"},
			{"synonym", tool.Borrowed, "scribble", "a/two"},
			{"utterance", tool.Borrowed, "keep it for later", "b/three"},
			{"utterance", tool.Borrowed, "to paper with it", "b/four"},
		},
		Lenders: []Lender{
			{"a/one", "A/ONE", .9, 1},
			{"a/two", "A/TWO", .78, .5},
			{"b/three", "B/THREE", .65, .33},
			{"b/four", "B/FOUR", .53, .25},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
