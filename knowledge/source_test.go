package knowledge

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestReadSource(t *testing.T) {
	src := smallSource(t)
	var names []string
	for _, a := range src.Archetypes {
		names = append(names, a.Server+"/"+a.Name)
	}
	want := []string{
		"mail/list_messages", "mail/send_message", "tracker/close_issue", "tracker/create_issue",
		"tracker/list_issues", "weather/get_forecast",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("archetypes (-want +got):\n%s", d)
	}
	if a := src.Archetypes[3]; a.Title != "Create issue" || len(a.Params) != 2 || len(a.Utterances) != 3 ||
		a.Category != "issues" {
		t.Errorf("an archetype is not read whole: %+v", a)
	}
	if len(src.Thesaurus) != 4 || src.Thesaurus[0].Terms[1].Text != "ticket" || src.Thesaurus[0].Terms[1].Weight != .9 {
		t.Errorf("thesaurus %+v", src.Thesaurus)
	}
	if d := cmp.Diff([]string{"Datei", "Dateien"}, src.Lexicon[0]["de"]); d != "" || src.Lexicon[0]["en"][0] != "file" {
		t.Errorf("lexicon %v", src.Lexicon)
	}
}

// TestSourceHash shows that the hash stands for the content.
func TestSourceHash(t *testing.T) {
	want := smallSource(t).Hash
	if smallSource(t).Hash != want {
		t.Error("the same files have another hash")
	}
	for name := range smallFiles() {
		files := smallFiles()
		files[name] = &fstest.MapFile{Data: append(files[name].Data, ' ')}
		src, err := ReadSource(files)
		if err != nil {
			t.Fatal(err)
		}
		if src.Hash == want {
			t.Errorf("%s changed and the hash did not", name)
		}
	}
}

func TestReadSourceErrors(t *testing.T) {
	const good = `{"server":"s","name":"n"}`
	for name, c := range map[string]struct {
		file, content string
		want          []string // parts of the error
	}{
		"archetype is not JSON": {
			"archetypes/all/small.jsonl", good + "\n\n{",
			[]string{"archetypes/all/small.jsonl line 3"},
		},
		"archetype of another form": {
			"archetypes/x/y.jsonl", `{"server":1}`,
			[]string{"archetypes/x/y.jsonl line 1"},
		},
		"two values on a line":  {"archetypes/x/y.jsonl", good + good, []string{"archetypes/x/y.jsonl line 1"}},
		"thesaurus is not JSON": {"thesaurus.jsonl", "nonsense", []string{"thesaurus.jsonl line 1"}},
		"weight is text": {
			"thesaurus.jsonl", `{"terms":[{"t":"a","w":"1"}]}`,
			[]string{"thesaurus.jsonl line 1"},
		},
		"lexicon without English": {
			"lexicon.jsonl", "\n" + `{"de":["a"]}`,
			[]string{"lexicon.jsonl line 2", `"en"`},
		},
		"lexicon with one form": {
			"lexicon.jsonl", `{"en":"a","de":"b"}`,
			[]string{"lexicon.jsonl line 1", "language de"},
		},
		"English is a list": {"lexicon.jsonl", `{"en":["a"]}`, []string{"lexicon.jsonl line 1"}},
		"a line longer than any": {
			"lexicon.jsonl", good[:1] + strings.Repeat(" ", 2<<20) + "}",
			[]string{"lexicon.jsonl line 1"},
		},
		"a later line longer than any": {
			"thesaurus.jsonl", "{}\n{}\n" + strings.Repeat("x", 2<<20),
			[]string{"thesaurus.jsonl line 3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := smallFiles()
			files[c.file] = &fstest.MapFile{Data: []byte(c.content)}
			src, err := ReadSource(files)
			if err == nil {
				t.Fatalf("no error, and %d archetypes", len(src.Archetypes))
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %s", err, want)
				}
			}
		})
	}
	for _, name := range []string{"thesaurus.jsonl", "lexicon.jsonl"} {
		t.Run("without "+name, func(t *testing.T) {
			files := smallFiles()
			delete(files, name)
			if _, err := ReadSource(files); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v does not name %s", err, name)
			}
		})
	}
}

func FuzzReadSource(f *testing.F) {
	f.Add(smallArchetypes, smallThesaurus, smallLexicon)
	f.Add("{}", `{"terms":[{"t":"","w":1e9},{"t":"a b","w":2}],"kind":"effect"}`, `{"en":"","de":["",""]}`)
	enc := fakeEncoder(33)
	f.Fuzz(func(t *testing.T, archetypes, thesaurus, lexicon string) {
		src, err := ReadSource(fstest.MapFS{
			"archetypes/a/b.jsonl": {Data: []byte(archetypes)}, "thesaurus.jsonl": {Data: []byte(thesaurus)},
			"lexicon.jsonl": {Data: []byte(lexicon)},
		})
		if err != nil {
			return
		}
		data, err := Compile(src, enc)
		if err != nil {
			return
		}
		b, err := Open(data)
		if err != nil {
			t.Fatalf("what was compiled does not open: %v", err)
		}
		useAll(t, b, enc)
	})
}
