package main

import (
	"strings"
	"testing"

	"tooldex/service"
	"tooldex/tool"
)

func TestPhrasesText(t *testing.T) {
	own := []service.Phrase{{Kind: "synonym", From: tool.Declared, Text: "jot"}}
	lent := func(text, lender string) service.Phrase {
		return service.Phrase{Kind: "utterance", From: tool.Borrowed, Text: text, Lender: lender}
	}
	borrows := &service.SearchPhrases{
		Borrows: true,
		Phrases: append(own, lent("keep it for later", "b/three"), lent("to paper with it", "b/four")),
		Lenders: []service.Lender{
			{Archetype: "a/one", Title: "A/ONE", Like: .9, Weight: 1},
			{Archetype: "a/two", Title: "A/TWO", Like: .78, Weight: .5},
			{Archetype: "b/three", Title: "B/THREE", Like: .65, Weight: .33},
			{Archetype: "b/four", Title: "B/FOUR", Like: .53, Weight: .25},
		},
	}
	for name, c := range map[string]struct {
		found *service.SearchPhrases
		want  []string
		not   []string
	}{
		"borrows": {
			borrows,
			[]string{
				"  declared  synonym             jot\n", "  borrowed  utterance  b/three  keep it for later\n",
				"and 1 more from similar tools", "b/four   B/FOUR   like it by 0.53  weight 0.25",
			},
			[]string{"to paper", "nothing"},
		},
		"switched off for it": {
			&service.SearchPhrases{Phrases: own},
			[]string{"declared", "borrows nothing: it is switched off"},
			[]string{"borrowed", "borrows from"},
		},
		"switched off": {
			&service.SearchPhrases{Phrases: own},
			[]string{"borrows nothing: it is switched off"},
			[]string{"borrows from"},
		},
		"like nothing": {
			&service.SearchPhrases{Borrows: true, Phrases: own},
			[]string{"no known kind of tool is like it"},
			[]string{"borrows from"},
		},
		"no word of its own": {&service.SearchPhrases{Borrows: true}, []string{"no known kind"}, []string{"found by"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := phrasesText(&b, c.found); err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !strings.Contains(b.String(), w) {
					t.Errorf("it lacks %q:\n%s", w, b.String())
				}
			}
			for _, w := range c.not {
				if strings.Contains(b.String(), w) {
					t.Errorf("it has %q:\n%s", w, b.String())
				}
			}
		})
	}
}
