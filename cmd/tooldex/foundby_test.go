package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

func TestWhatFinds(t *testing.T) {
	one := &tool.Tool{
		Utterances: []tool.Utterance{{Text: "note it"}, {Text: "write it up", From: tool.Learned}},
		Synonyms:   []string{"jot", "note it"},
	}
	got := whatFinds(one, true, fourLenders())
	want := &foundBy{
		Borrows: true,
		Sayings: []saying{
			{anUtterance, tool.Declared, "note it", ""},
			{anUtterance, tool.Learned, "write it up", ""},
			{aSynonym, tool.Declared, "jot", ""},
			{anUtterance, tool.Borrowed, "remember this", "a/one"},
			{aSynonym, tool.Borrowed, "scribble", "a/two"},
			{anUtterance, tool.Borrowed, "keep it for later", "b/three"},
			{anUtterance, tool.Borrowed, "to paper with it", "b/four"},
		},
		Lenders: []lender{
			{"a/one", "A/ONE", .9, 1},
			{"a/two", "A/TWO", .78, .5},
			{"b/three", "B/THREE", .65, .33},
			{"b/four", "B/FOUR", .53, .25},
		},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(foundBy{})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestFoundByText(t *testing.T) {
	own := tool.Tool{Synonyms: []string{"jot"}}
	off := own
	off.NoBorrow = true
	for name, c := range map[string]struct {
		found *foundBy
		want  []string
		not   []string
	}{
		"borrows": {
			whatFinds(&own, true, fourLenders()),
			[]string{
				"  declared  synonym             jot\n", "  borrowed  utterance  b/three  keep it for later\n",
				"and 1 more that are borrowed", "b/four   B/FOUR   like it by 0.53  weight 0.25",
			},
			[]string{"to paper", "nothing"},
		},
		"switched off for it": {
			whatFinds(&off, true, nil),
			[]string{"declared", "borrows nothing: it is switched off"},
			[]string{"borrowed", "borrows from"},
		},
		"switched off": {
			whatFinds(&own, false, nil),
			[]string{"borrows nothing: it is switched off"},
			[]string{"borrows from"},
		},
		"like nothing": {
			whatFinds(&own, true, nil),
			[]string{"no known kind of tool is like it"},
			[]string{"borrows from"},
		},
		"no word of its own": {whatFinds(&tool.Tool{}, true, nil), []string{"no known kind"}, []string{"found by"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := c.found.text(&b); err != nil {
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
