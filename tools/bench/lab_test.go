package main

import (
	"os"
	"path/filepath"
	"testing"
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
