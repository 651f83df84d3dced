package knowledge

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestExpand(t *testing.T) {
	b := smallBase(t)
	all := func(string) bool { return true }
	for name, c := range map[string]struct {
		text string
		rare func(string) bool
		want []Expansion
	}{
		// ticket stands for issue by .9*1, for work item by .9*.8 shared by two stems; card is below the least weight.
		// From issue it would go on to problem, but that is a second hop.
		"one hop": {"open a ticket", all, []Expansion{
			{"issu", .9},
			{"item", .36},
			{"work", .36},
		}},
		"of two groups": {"an issue", all, []Expansion{
			{"ticket", .9},
			{"problem", .7},
			{"item", .4},
			{"work", .4},
		}},
		"inflected words are not found": {"two tickets", all, nil},
		"a phrase":                      {"this work item", all, []Expansion{{"issu", .8}, {"ticket", .72}}},
		"its own words are left out": {"issue or ticket", all, []Expansion{
			{"problem", .7},
			{"item", .4},
			{"work", .4},
		}},
		"own words in another form": {"ticket issues", all, []Expansion{{"item", .36}, {"work", .36}}},
		"a frequent word":           {"open a ticket", func(s string) bool { return s != "ticket" }, nil},
		"a phrase of frequent words": {
			"this work item", func(string) bool { return false },
			[]Expansion{{"issu", .8}, {"ticket", .72}},
		},
		"a loose term expands nothing": {"a card", all, nil},
		"an effect":                    {"put the document back to its former version", all, []Expansion{{"back", 0}, {"roll", .9}}[1:]},
		"most of an effect":            {"can I have the former version back", all, []Expansion{{"roll", .9}}},
		"a part of an effect":          {"which version", all, nil},
		"nothing known":                {"zyxglorp", all, nil},
		"stop words":                   {"what is it", all, nil},
		"no text":                      {"", all, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := b.Expand(c.text, 20, c.rare)
			if d := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, .011), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if two := b.Expand(c.text, 2, c.rare); !slices.Equal(two, got[:min(2, len(got))]) {
				t.Errorf("limited to two: %v, all: %v", two, got)
			}
		})
	}
}

// TestExpandBuiltin holds what Expand promises over the real thesaurus and many requests.
func TestExpandBuiltin(t *testing.T) {
	b := builtinBase(t)
	for _, c := range []struct{ text, want string }{
		{"open a ticket", "issu"},
		{"k8s status", "kubernet"},
		{"delete the repo", "repositori"},
		{"merge request", "pull"},
		{"put it back to the former version", "roll"},
	} {
		got := b.Expand(c.text, 50, func(string) bool { return true })
		if !slices.ContainsFunc(got, func(x Expansion) bool { return x.Stem == c.want }) {
			t.Errorf("%q gives %v, without %s", c.text, got, c.want)
		}
	}
	for _, c := range translations {
		checkExpansions(t, b, c.text)
	}
	for _, text := range []string{
		"create an issue about the login bug", "send a message to the team channel",
		"roll back the last deploy", "show me what changed",
	} {
		checkExpansions(t, b, text)
	}
}

func checkExpansions(t *testing.T, b *Base, text string) {
	t.Helper()
	own := map[string]bool{}
	var an Analyzer
	Words(text, func(w string) { own[an.stemWord(w)] = true })
	got := b.Expand(text, math.MaxInt, func(string) bool { return true })
	for i, x := range got {
		if own[x.Stem] || x.Weight <= 0 || x.Weight > 1 || i > 0 && x.Weight > got[i-1].Weight {
			t.Errorf("%q: %v is its own word, has no proper weight or stands after a lighter one", text, x)
		}
	}
}

func TestIsVerb(t *testing.T) {
	b := builtinBase(t)
	for stem, want := range map[string]bool{
		"creat": true, "list": true, "send": true, "delet": true, "get": true,
		"updat": true, "search": true, "restart": true, "umbrella": false, "kubernet": false, "": false,
	} {
		if got := b.IsVerb(stem); got != want {
			t.Errorf("IsVerb(%q) is %v", stem, got)
		}
	}
}

func TestNotUnderstood(t *testing.T) {
	b := builtinBase(t)
	known := func(stem string) bool { return stem == "issu" || stem == "creat" }
	for text, want := range map[string][]string{
		"create an issue":               nil,
		"create a zyxglorp, ZYXGLORP":   {"zyxglorp"},
		"issue 12 to ab":                nil,
		"Wibblefrotz and Snorkelblatt?": {"wibblefrotz", "snorkelblatt"},
	} {
		if d := cmp.Diff(want, b.NotUnderstood(text, known), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

func FuzzExpand(f *testing.F) {
	b := builtinBase(f)
	f.Add("put it back to the former version")
	f.Add("\x01issu \x02Ā")
	f.Fuzz(func(t *testing.T, text string) { checkExpansions(t, b, text) })
}
