package main

import (
	"os"
	"path/filepath"
	"testing"

	"tooldex/tool"
)

// A small body of knowledge: enough archetypes for verbs to count as such, and a word in another language.
const (
	someArchetypes = `{"server":"mail","name":"send_message","title":"Send a message","description":"Send an e-mail to somebody","params":["to: who gets it"],"category":"email","synonyms":["write mail"],"utterances":["drop Ana a line that I am late","let the team know by mail"]}
{"server":"mail","name":"search_messages","title":"Search messages","description":"Find e-mails by words","params":["query: words"],"category":"email","synonyms":["look through the inbox"],"utterances":["where is that mail from the bank"]}
{"server":"files","name":"list_directory","title":"List a directory","description":"List the files of a directory","params":["path: of the directory"],"category":"files","synonyms":["ls"],"utterances":["what is lying around in the downloads"]}
`
	someThesaurus = `{"concept":"send","kind":"verb","terms":[{"t":"send","w":1},{"t":"dispatch","w":0.9}],"domain":"general"}
{"concept":"list","kind":"verb","terms":[{"t":"list","w":1},{"t":"enumerate","w":0.9}],"domain":"general"}
{"concept":"email","kind":"noun","terms":[{"t":"email","w":1},{"t":"message","w":0.9}],"domain":"general"}
`
	someLexicon = `{"en":"file","ru":["файл","файлы"]}
`
)

func testLab(t *testing.T) *lab {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"archetypes/office/some.jsonl": someArchetypes,
		"thesaurus.jsonl":              someThesaurus, "lexicon.jsonl": someLexicon,
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := newLab(config{knowledge: dir, data: dir})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLabKnowsOtherKnowledge(t *testing.T) {
	l := testLab(t)
	if l.shipped {
		t.Error("three archetypes pass for what the command carries")
	}
	if got := l.base.Len(); got != 3 {
		t.Errorf("%d archetypes, want 3", got)
	}
	if _, err := l.set(t.Context(), "no such set"); err == nil {
		t.Error("a set that is not there is no error")
	}
}

func TestDemoSet(t *testing.T) {
	l := testLab(t)
	set, err := l.set(t.Context(), demoSet)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Cases) < 100 || set.catalogue.Len() < 100 || set.Name != demoSet {
		t.Errorf("%d requests and %d tools in %q", len(set.Cases), set.catalogue.Len(), set.Name)
	}
	if again, err := l.set(t.Context(), demoSet); err != nil || again != set {
		t.Error("the set is read twice", err)
	}
}

// TestStages wants each stage to have its part and no other, as far as one request can show it.
func TestStages(t *testing.T) {
	l := testLab(t)
	set, err := l.set(t.Context(), demoSet)
	if err != nil {
		t.Fatal(err)
	}
	stages, err := l.stages()
	if err != nil {
		t.Fatal(err)
	}
	lends := map[string]bool{"+ words lent by archetypes": true, "+ their vectors": true}
	indexed := map[string]bool{}
	for i, s := range stages {
		engine, snap, err := l.open(t.Context(), s, set)
		if err != nil {
			t.Fatal(err)
		}
		indexed[s.indexed] = true
		res, err := engine.Search(t.Context(), tool.Query{Text: "list the files of the folder, then send an email to Ana", Mode: s.mode})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(res.Groups) > 0, i == len(stages)-1; got != want {
			t.Errorf("%s: the request has parts: %v, want %v", s.name, got, want)
		}
		if got, want := snap.Dims() > 0, i > 0; got != want {
			t.Errorf("%s: tools have vectors: %v, want %v", s.name, got, want)
		}
		lent := false
		for doc := range snap.Len() {
			lent = lent || len(snap.Landmarks(doc)) > 0
		}
		if got, want := lent, i > 1; got != want {
			t.Errorf("%s: something was lent: %v, want %v", s.name, got, want)
		}
		delete(lends, s.name)
	}
	if len(lends) > 0 || len(indexed) != 4 {
		t.Errorf("stages %v are missing, tools are indexed in %d ways, want 4", lends, len(indexed))
	}
	words, vectors := stages[2], stages[3]
	_, a, _ := l.open(t.Context(), words, set)
	_, b, _ := l.open(t.Context(), vectors, set)
	query := make([]float32, l.encoder.Dims)
	l.encoder.Query("drop Ana a line", query)
	mixed, own := make([]float32, b.Len()), make([]float32, a.Len())
	a.Cosines(query, own)
	b.Cosines(query, mixed)
	same := true
	for i := range own {
		same = same && own[i] == mixed[i]
	}
	if same {
		t.Error("lent vectors change nothing")
	}
}

func TestWithout(t *testing.T) {
	l := testLab(t)
	before := l.source.Archetypes[0].Name
	if !l.base.IsVerb("send") {
		t.Fatal("the whole knowledge knows no verb")
	}
	all := func(string) bool { return true }
	for _, c := range []struct {
		name                string
		thesaurus, lexicon  bool
		expands, translates bool
	}{
		{"neither", false, false, false, false},
		{"thesaurus", true, false, true, false},
		{"both", true, true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, err := l.compile(without(l.source, c.thesaurus, c.lexicon))
			if err != nil {
				t.Fatal(err)
			}
			if base.IsVerb("send") || base.IsVerb("list") {
				t.Error("a verb is left")
			}
			if got := len(base.Expand("dispatch it", 5, all)) > 0; got != c.expands {
				t.Errorf("a word is expanded: %v, want %v", got, c.expands)
			}
			if got := base.Translate("файлы") != ""; got != c.translates {
				t.Errorf("a word is translated: %v, want %v", got, c.translates)
			}
		})
	}
	if l.source.Archetypes[0].Name != before || l.source.Thesaurus[0].Kind != "verb" {
		t.Error("the knowledge itself was changed")
	}
}
