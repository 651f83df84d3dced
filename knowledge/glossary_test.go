package knowledge

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tooldex/embed"
	"tooldex/index"
)

const smallObjects = `
{"domain":"issues","object":"issue","words":["ticket","bug report"]}
{"domain":"issues","object":"issue link","words":["dependency"]}
{"domain":"mail","object":"issue","words":["edition","copy of the magazine"]}
`

const smallOperations = `
{"operation":"close","phrases":["wrap up","done with"]}
{"operation":"list","phrases":["which ones","done with"]}
{"operation":"list_links","phrases":["hangs together"]}
`

// glossaryLender returns a Lender over archetypes of two domains, one of trackers and one of mail.
func glossaryLender(t *testing.T, files map[string]string) *Lender {
	t.Helper()
	dir := fstest.MapFS{
		"thesaurus.jsonl": {Data: []byte(smallThesaurus)}, "lexicon.jsonl": {Data: []byte(smallLexicon)},
	}
	for name, text := range files {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	by := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(smallArchetypes)) {
		domain := "mail"
		if strings.Contains(line, `"server":"tracker"`) {
			domain = "issues"
		}
		by[domain] += line
	}
	for domain, text := range by {
		dir["archetypes/"+domain+"/a.jsonl"] = &fstest.MapFile{Data: []byte(text)}
	}
	src, err := ReadSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	enc := fakeEncoder(64)
	data, err := Compile(src, enc)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return b.Lender(enc)
}

func TestGlossary(t *testing.T) {
	lender := glossaryLender(t, map[string]string{"objects.jsonl": smallObjects, "operations.jsonl": smallOperations})
	loans, err := lender.Lend(t.Context(), []embed.Document{
		{Name: "close_issue", Description: "Closes an issue of the tracker."},
		{Name: "list_issue_links", Description: "Lists the links of an issue of the tracker."},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		loan      Loan
		want, not string
	}{
		{"the words of its object and its verb", loans[0], "bug wrap", "magazin depend hang"},
		{"the longest object and operation that it names", loans[1], "depend hang", "bug magazin"},
	} {
		has := func(stem string) bool {
			return slices.ContainsFunc(c.loan.Terms, func(x index.Term) bool { return x.Text == stem })
		}
		for _, s := range Terms(c.want) {
			if !has(s) {
				t.Errorf("%s: lacks %q: %v", c.name, s, c.loan.Terms)
			}
		}
		for _, s := range Terms(c.not) {
			if has(s) && s != "bug" { // a request of a similar archetype says "bug" as well
				t.Errorf("%s: has %q", c.name, s)
			}
		}
	}
}

// Phrases that several operations share count less than those of one.
func TestGlossaryShared(t *testing.T) {
	src := &Source{Operations: []Operation{
		{Operation: "close", Phrases: []string{"wrap", "settle"}},
		{Operation: "finish", Phrases: []string{"settle"}},
	}}
	records := analyseGlossary(src, nil)
	dict := records.words()
	slices.Sort(dict)
	dict = slices.Compact(dict)
	packed, err := records.compile(dict)
	if err != nil {
		t.Fatal(err)
	}
	var sums termSums
	sums.reset(len(dict))
	g := readGlossary(packed)
	g.addTerms(Terms("close"), nil, &sums)
	got := map[string]float32{}
	for _, term := range sums.heaviest(len(dict), 1, dict) {
		got[term.Text] = term.Weight
	}
	if own, shared := got[Terms("wrap")[0]], got[Terms("settle")[0]]; own != 1 || shared <= 0 || shared >= own {
		t.Errorf("own phrase %g, shared phrase %g", own, shared)
	}
}

func TestGlossaryDamaged(t *testing.T) {
	for _, packed := range [][]byte{nil, {1, 2, 3}} {
		if g := readGlossary(packed); len(g.objects)+len(g.operations) > 0 {
			t.Errorf("%v gives %+v", packed, g)
		}
	}
	packed, err := packStrings([]string{"no fields", "x" + fieldSep + "a" + fieldSep + "b" + listSep + "1"})
	if err != nil {
		t.Fatal(err)
	}
	if g := readGlossary(packed); len(g.objects)+len(g.operations) > 0 {
		t.Errorf("records without meaning give %+v", g)
	}
}
