package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	goodLine = `{"server":"Bakery till","name":"void_receipt","title":"Void","description":"Cancels a receipt.","params":[],"category":"sale","synonyms":["a","b","c"],"utterances":["x"]}`
	laxLine  = `{"name": "alter_price", "server":"Bakery till","title":"Alter","description":"Sets <another> price.","params":[],"category":"sale","synonyms":["a","b","c"],"utterances":["y"]}`
)

// folder writes files into a fresh data folder that also has an empty thesaurus and lexicon.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"thesaurus.jsonl": "", "lexicon.jsonl": "", "archetypes/sale/a.jsonl": ""}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadFindsBrokenLines(t *testing.T) {
	tests := []struct {
		name, file, line, want string
	}{
		{"not JSON", "archetypes/sale/a.jsonl", "{", "archetypes/sale/a.jsonl:2: schema: unexpected EOF"},
		{
			"unknown key", "archetypes/sale/a.jsonl", `{"server":"x","colour":"red"}`,
			`archetypes/sale/a.jsonl:2: schema: json: unknown field "colour"`,
		},
		{
			"wrong type", "archetypes/sale/a.jsonl", `{"server":7}`,
			"archetypes/sale/a.jsonl:2: schema: json: cannot unmarshal",
		},
		{
			"two values", "archetypes/sale/a.jsonl", goodLine + goodLine,
			"archetypes/sale/a.jsonl:2: schema: more than one value",
		},
		{
			"spaces and order", "archetypes/sale/a.jsonl", laxLine,
			"archetypes/sale/a.jsonl:2: canonical: keys in another order",
		},
		{"missing key", "archetypes/sale/a.jsonl", `{"server":"x"}`, "archetypes/sale/a.jsonl:2: canonical:"},
		{"unknown key in group", "thesaurus.jsonl", `{"concept":"x","weight":1}`, "thesaurus.jsonl:2: schema:"},
		{"list in lexicon", "lexicon.jsonl", `["en"]`, "lexicon.jsonl:2: schema: a lexicon line is an object"},
		{
			"form that is no list", "lexicon.jsonl", `{"en":"a","de":"b"}`,
			"lexicon.jsonl:2: schema: key de: json: cannot unmarshal",
		},
		{"open object in lexicon", "lexicon.jsonl", `{"en":"a"`, "lexicon.jsonl:2: schema:"},
	}
	first := map[string]string{
		"archetypes/sale/a.jsonl": goodLine,
		"thesaurus.jsonl":         `{"concept":"x","kind":"verb","terms":[],"domain":"*"}`,
		"lexicon.jsonl":           `{"en":"a","pos":"verb"}`,
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c, err := load(folder(t, map[string]string{tc.file: first[tc.file] + "\n" + tc.line + "\n"}))
			if err != nil {
				t.Fatal(err)
			}
			if len(c.broken) != 1 || !strings.HasPrefix(c.broken[0].String(), tc.want) {
				t.Errorf("broken = %v, want one that begins with %q", c.broken, tc.want)
			}
		})
	}
}

func TestLoadRefusesWhatItCannotRead(t *testing.T) {
	long := `"` + strings.Repeat("x", maxLine) + `"`
	for name, dir := range map[string]string{
		"no folder":     filepath.Join(t.TempDir(), "none"),
		"endless line":  folder(t, map[string]string{"thesaurus.jsonl": long}),
		"endless entry": folder(t, map[string]string{"lexicon.jsonl": long}),
		"endless tool":  folder(t, map[string]string{"archetypes/sale/a.jsonl": long}),
	} {
		if _, err := load(dir); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestFormatSortsAndCompacts(t *testing.T) {
	dir := folder(t, map[string]string{"archetypes/sale/a.jsonl": goodLine + "\n" + laxLine + "\n"})
	if err := formatArchetypes(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "archetypes/sale/a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"server":"Bakery till","name":"alter_price","title":"Alter","description":"Sets <another> price.","params":[],"category":"sale","synonyms":["a","b","c"],"utterances":["y"]}` +
		"\n" + goodLine + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestFormatLeavesBrokenFilesAlone(t *testing.T) {
	text := laxLine + "\n{broken\n"
	dir := folder(t, map[string]string{"archetypes/sale/a.jsonl": text})
	err := formatArchetypes(dir)
	if err == nil || !strings.Contains(err.Error(), "a.jsonl:2") {
		t.Errorf("err = %v, want the place of the broken line", err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "archetypes/sale/a.jsonl"))
	if err != nil || string(got) != text {
		t.Errorf("file changed to %q (%v)", got, err)
	}
}

func TestRunExitCodes(t *testing.T) {
	good, err := canonical(sample(1))
	if err != nil {
		t.Fatal(err)
	}
	fine := folder(t, map[string]string{"archetypes/sale/a.jsonl": string(good) + "\n"})
	poor := folder(t, map[string]string{"archetypes/sale/a.jsonl": laxLine + "\n"})
	tests := []struct {
		name string
		args []string
		want int
	}{
		{"clean", []string{fine}, 0},
		{"errors", []string{poor}, 1},
		{"quiet errors", []string{"-q", poor}, 1},
		{"no folder", []string{}, 2},
		{"unknown flag", []string{"-x", fine}, 2},
		{"missing folder", []string{filepath.Join(fine, "none")}, 2},
		{"format of a missing folder", []string{"-fmt", filepath.Join(fine, "none")}, 2},
		{"format", []string{"-fmt", fine}, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var out, errs strings.Builder
			if got := run(tc.args, &out, &errs); got != tc.want {
				t.Errorf("exit %d, want %d\n%s%s", got, tc.want, out.String(), errs.String())
			}
			if (tc.want == 2) != (errs.Len() > 0) {
				t.Errorf("standard error is %q", errs.String())
			}
		})
	}
}

// Whatever stands on a line, decoding ends, and what it accepts is written back as it was read.
func FuzzDecode(f *testing.F) {
	f.Add(goodLine)
	f.Add(laxLine)
	f.Add(`{"en":"a","pos":"verb","de":["b"]}`)
	f.Add(`{"en":"a","en":1}`)
	f.Add(`{"server":null}`)
	f.Fuzz(func(t *testing.T, line string) {
		c := &corpus{sizes: make(map[string]int)}
		a := &archetype{}
		if c.decode(place{}, []byte(line), a) && len(c.broken) == 0 {
			got, err := canonical(a)
			if err != nil || string(got) != line {
				t.Errorf("%q is written as %q (%v)", line, got, err)
			}
		}
		if e, err := decodeEntry(place{}, []byte(line)); err == nil && len(e.keys) < len(e.Forms) {
			t.Errorf("%q: %d forms of %d keys", line, len(e.Forms), len(e.keys))
		}
	})
}
