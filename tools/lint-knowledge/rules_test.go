package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample is an archetype that no rule objects to; n keeps several of them apart.
func sample(n int) *archetype {
	return &archetype{
		Server: "Bakery till", Name: "void_receipt_" + string(rune('x'+n)), Title: "Void a receipt",
		Description: "Cancels a receipt of today before the till is closed.",
		Params:      []string{"receipt: number"}, Category: "point of sale",
		Synonyms: []string{"cancel sale", "storno", "undo checkout"},
		Utterances: []string{
			fmt.Sprintf("void receipt %d", 100+n), fmt.Sprintf("void the receipt of customer %d", n),
			fmt.Sprintf("cancel sale number %d", n), fmt.Sprintf("the %d rolls were typed in wrongly", n),
			fmt.Sprintf("she left without paying %d euros", n), fmt.Sprintf("Anna rang up %d loaves instead of buns.",
				n),
			fmt.Sprintf("Take back what I keyed for table %d.", n), fmt.Sprintf("storno %d", n),
		},
		at: place{file: "archetypes/commerce/a-c.jsonl", line: n},
	}
}

func goodGroup() *group {
	return &group{
		Concept: "remove", Kind: "verb", Domain: "*", Terms: []term{{"remove", 1}, {"take off", .7}},
		at: place{file: "thesaurus.jsonl", line: 1},
	}
}

func goodEntry() *entry {
	e := &entry{
		English: "bread", Pos: "noun", Forms: make(map[string][]string), keys: []string{"en", "pos"},
		at: place{file: "lexicon.jsonl", line: 1},
	}
	for _, lang := range languages {
		e.keys = append(e.keys, lang)
		e.Forms[lang] = []string{"pan"}
	}
	for lang, form := range map[string]string{
		"ru": "хлеб", "uk": "хліб", "zh": "面包", "ja": "パン", "ko": "빵",
		"hi": "रोटी", "ar": "خبز", "el": "ψωμί",
		"bg": "хляб", "fa": "نان", "he": "לחם", "th": "ขนมปัง",
	} {
		e.Forms[lang] = []string{form}
	}
	return e
}

// dropLanguages takes the last n languages from an entry.
func dropLanguages(e *entry, n int) {
	for _, lang := range languages[len(languages)-n:] {
		delete(e.Forms, lang)
	}
	e.keys = e.keys[:len(e.keys)-n]
}

// goodCorpus has two siblings, a group and an entry.
func goodCorpus() *corpus {
	return &corpus{
		archetypes: []*archetype{sample(1), sample(2)},
		groups:     []*group{goodGroup()},
		glossary: []glossed{{
			domain: "commerce", name: "cart", said: []string{"bag", "basket", "trolley", "items", "picks", "shopping"},
			at: place{file: "objects.jsonl", line: 1},
		}},
		entries: []*entry{goodEntry()},
		sizes:   map[string]int{"archetypes/commerce/a-c.jsonl": 1000},
	}
}

func TestGoodCorpusHasNoFindings(t *testing.T) {
	for _, f := range check(goodCorpus()).findings {
		t.Error(f)
	}
}

func TestRules(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(c *corpus)
		want  []string // rule of each finding, in order
		msg   string   // part of the first message
	}{
		{
			"lines out of order", func(c *corpus) { c.archetypes[0].Name, c.archetypes[1].Name = "zz", "aa" },
			[]string{"order"},
			"stands after",
		},
		{
			"server in two domains", func(c *corpus) { c.archetypes[1].at.file = "archetypes/food/b.jsonl" },
			[]string{"place"},
			"domain commerce and in food",
		},
		{
			"upper case file", func(c *corpus) { c.sizes["archetypes/Food/b.jsonl"] = 1 },
			[]string{"place"},
			"lower case",
		},
		{
			"file too large", func(c *corpus) { c.sizes["archetypes/food/b.jsonl"] = maxFileSize + 1 },
			[]string{"place"},
			"bytes",
		},
		{"no title", func(c *corpus) { c.archetypes[0].Title = "" }, []string{"field", "text"}, "title"},
		{
			"blank in name", func(c *corpus) { c.archetypes[0].Name = "void receipt" },
			[]string{"field"},
			"letters, digits",
		},
		{
			"param without text", func(c *corpus) { c.archetypes[0].Params = []string{"receipt"} },
			[]string{"field"},
			`want "name: text"`,
		},
		{
			"param twice", func(c *corpus) { c.archetypes[0].Params = []string{"id: one", "id: other"} },
			[]string{"field"},
			"stands twice",
		},
		{
			"long utterance", func(c *corpus) { c.archetypes[0].Utterances[7] = strings.Repeat("roll", 60) },
			[]string{"field"},
			"240 characters",
		},
		{
			"control character", func(c *corpus) { c.archetypes[0].Utterances[7] = "storno\t9" },
			[]string{"text"},
			"control",
		},
		{
			"zero width space", func(c *corpus) { c.archetypes[0].Title = "Void\u200b it" },
			[]string{"text"},
			"invisible",
		},
		{
			"no-break space", func(c *corpus) { c.archetypes[0].Title = "Void\u00a0it" },
			[]string{"text"},
			"other than a space",
		},
		{"double blank", func(c *corpus) { c.archetypes[0].Title = "Void  it" }, []string{"text"}, "doubled"},
		{
			"blank at the end", func(c *corpus) { c.groups[0].Terms[1].Text = "take off " },
			[]string{"text"},
			"at the end",
		},
		{"decomposed", func(c *corpus) { c.entries[0].Forms["de"] = []string{"Bro\u0308t"} }, []string{"text"}, "NFC"},
		{
			"seven utterances", func(c *corpus) { c.archetypes[0].Utterances = c.archetypes[0].Utterances[:7] },
			[]string{"count"},
			"7 utterances",
		},
		{
			"two synonyms", func(c *corpus) { c.archetypes[0].Synonyms = []string{"undo", "storno"} },
			[]string{"count"},
			"2 synonyms",
		},
		{"too many params", func(c *corpus) {
			c.archetypes[0].Params = nil
			for i := range maxParams + 1 {
				c.archetypes[0].Params = append(c.archetypes[0].Params, fmt.Sprintf("p%d: text", i))
			}
		}, []string{"count"}, "17 params"},
		{
			"filler", func(c *corpus) { c.archetypes[0].Utterances[7] = "Please kindly storno it" },
			[]string{"filler"},
			"please kindly",
		},
		{"filler inside a word is none", func(c *corpus) {
			c.archetypes[0].Utterances[7] = "storno of the seamlessness bun"
		}, nil, ""},
		{"filler after a longer word", func(c *corpus) {
			c.archetypes[0].Utterances[7] = "unseamless, seamless storno"
		}, []string{"filler"}, "seamless"},
		{
			"tool twice", func(c *corpus) { c.archetypes[1].Name = c.archetypes[0].Name },
			[]string{"twice"},
			"a-c.jsonl:1 already",
		},
		{
			"utterance twice", func(c *corpus) { c.archetypes[0].Utterances[7] = "Cancel sale, number 1!" },
			[]string{"rephrased", "twice"},
			"",
		},
		{
			"synonym twice", func(c *corpus) { c.archetypes[0].Synonyms[1] = "Cancel Sale" },
			[]string{"twice"},
			"synonym",
		},
		{
			"utterance of a sibling", func(c *corpus) { c.archetypes[1].Utterances[7] = "Storno 1?" },
			[]string{"shared"},
			"void_receipt_y",
		},
		{"utterance of another server", func(c *corpus) {
			c.archetypes[1].Server = "Cafe till"
			c.archetypes[1].Utterances[7] = "Storno 1?"
		}, []string{"elsewhere"}, "Bakery till/void_receipt_y"},
		{"same operation on another server", func(c *corpus) {
			c.archetypes[1].Server, c.archetypes[1].Name = "Cafe till", c.archetypes[0].Name
			c.archetypes[1].Utterances[7] = "Storno 1?"
		}, nil, ""},
		{"three words of a sibling", func(c *corpus) {
			c.archetypes[1].Description = "Prints the flour order for the mill."
			c.archetypes[0].Utterances[7] = "print the flour orders"
		}, []string{"sibling"}, "void_receipt_z"},
		{"two words of a sibling", func(c *corpus) {
			c.archetypes[1].Description = "Prints the flour order for the mill."
			c.archetypes[0].Utterances[7] = "flour order"
		}, []string{"leaning"}, "void_receipt_z"},
		{"words of both", func(c *corpus) { c.archetypes[0].Utterances[7] = "void a receipt of today" }, nil, ""},
		{"same opening", func(c *corpus) {
			for i := range 4 {
				c.archetypes[0].Utterances[4+i] = fmt.Sprintf("Storno %s", []string{"rolls", "buns", "rye", "cake"}[i])
			}
		}, []string{"opening"}, `"storno"`},
		{"every utterance near", func(c *corpus) {
			for i := range c.archetypes[0].Utterances {
				c.archetypes[0].Utterances[i] = fmt.Sprintf("%c%c receipt void", 'k'+rune(i), 'q'+rune(i))
			}
		}, []string{"far"}, "0 utterances"},
		{"unknown kind of group", func(c *corpus) { c.groups[0].Kind = "adverb" }, []string{"thesaurus"}, "adverb"},
		{
			"lonely term", func(c *corpus) { c.groups[0].Terms = c.groups[0].Terms[:1] },
			[]string{"thesaurus"},
			"1 terms",
		},
		{"object of no domain", func(c *corpus) { c.glossary[0].domain = "moon" }, []string{"glossary"}, "moon"},
		{"few words", func(c *corpus) { c.glossary[0].said = c.glossary[0].said[:5] }, []string{"glossary"}, "5 entries"},
		{"word twice", func(c *corpus) { c.glossary[0].said[1] = "Bag" }, []string{"glossary"}, "stands twice"},
		{"the thing itself", func(c *corpus) { c.glossary[0].said[1] = "cart" }, []string{"glossary"}, "itself"},
		{
			"long word", func(c *corpus) { c.glossary[0].said[1] = "a thing to put what one buys in" },
			[]string{"glossary"},
			"8 words",
		},
		{
			"object twice", func(c *corpus) { c.glossary = append(c.glossary, c.glossary[0]) },
			[]string{"glossary"},
			"stands twice",
		},
		{"weight above one", func(c *corpus) { c.groups[0].Terms[1].Weight = 1.5 }, []string{"thesaurus"}, "1.5"},
		{"weight zero", func(c *corpus) { c.groups[0].Terms[1].Weight = 0 }, []string{"thesaurus"}, "not in (0, 1]"},
		{"term twice", func(c *corpus) { c.groups[0].Terms[1].Text = "Remove" }, []string{"thesaurus"}, "stands twice"},
		{
			"group twice", func(c *corpus) { c.groups = append(c.groups, goodGroup()) },
			[]string{"thesaurus"},
			"line 1 already",
		},
		{"one language absent", func(c *corpus) { dropLanguages(c.entries[0], 1) }, nil, ""},
		{
			"most languages absent", func(c *corpus) { dropLanguages(c.entries[0], 27) },
			[]string{"lexicon"},
			"4 languages of 31",
		},
		{
			"unknown language", func(c *corpus) { c.entries[0].keys[18] = "la" },
			[]string{"lexicon"},
			"want en, pos and languages",
		},
		{
			"languages out of order", func(c *corpus) { slices.Reverse(c.entries[0].keys[2:]) },
			[]string{"lexicon"},
			"in the order",
		},
		{
			"part of speech missing", func(c *corpus) { c.entries[0].keys = []string{"en", "de"} },
			[]string{"lexicon"},
			"want en, pos",
		},
		{"language empty", func(c *corpus) { c.entries[0].Forms["vi"] = nil }, []string{"lexicon"}, "vi has no form"},
		{
			"form twice", func(c *corpus) { c.entries[0].Forms["vi"] = []string{"pan", "Pan"} },
			[]string{"lexicon"},
			"stands twice",
		},
		{
			"concept twice", func(c *corpus) { c.entries = append(c.entries, goodEntry()) },
			[]string{"lexicon"},
			"stands twice",
		},
		{
			"Latin in Cyrillic", func(c *corpus) { c.entries[0].Forms["ru"] = []string{"hleb"} },
			[]string{"script"},
			"hleb",
		},
		{
			"Cyrillic in Latin", func(c *corpus) { c.entries[0].Forms["tr"] = []string{"хлеб"} },
			[]string{"script"},
			"хлеб",
		},
	}
	covered := make(map[string]bool)
	for _, tc := range tests {
		for _, r := range tc.want {
			covered[r] = true
		}
		t.Run(tc.name, func(t *testing.T) {
			c := goodCorpus()
			tc.spoil(c)
			found := check(c).findings
			var got []string
			for _, f := range found {
				got = append(got, f.rule)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Fatalf("rules (-want +got):\n%s%v", diff, found)
			}
			if len(found) > 0 && !strings.Contains(found[0].String(), tc.msg) {
				t.Errorf("message %q lacks %q", found[0], tc.msg)
			}
		})
	}
	for _, r := range rules() {
		if !covered[r.name] {
			t.Errorf("no case for rule %s", r.name)
		}
	}
}

func TestWarningsDoNotFail(t *testing.T) {
	c := goodCorpus()
	c.entries[0].Forms["ru"] = []string{"hleb"}
	r := check(c)
	if r.errors() != 0 || r.warnings["script"] != 1 {
		t.Errorf("errors %d, script %d; want 0 and 1", r.errors(), r.warnings["script"])
	}
	var loud, quiet strings.Builder
	r.write(&loud, false)
	r.write(&quiet, true)
	if !strings.Contains(loud.String(), "warning: lexicon.jsonl:1: script: bread") {
		t.Errorf("report lacks the warning:\n%s", loud.String())
	}
	if strings.Contains(quiet.String(), "warning:") || !strings.Contains(quiet.String(), "script 1") {
		t.Errorf("quiet report:\n%s", quiet.String())
	}
}
