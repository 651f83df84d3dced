package eval

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// checkError requires what callers may rely on: a code, and a file in the message.
func checkError(t *testing.T, err error, file string) {
	t.Helper()
	if code := tool.CodeOf(err); code != tool.Invalid || !strings.Contains(err.Error(), file) {
		t.Fatalf("code %v, error %v", code, err)
	}
}

// Whatever tools a file holds, each has an ID of its own that leads back to a name of the file.
func FuzzLoadTools(f *testing.F) {
	f.Add(`{"name":"a__b","server":"a"}` + "\n" + `{"name":"b","server":"a"}` + "\n" +
		`{"name":"b#2","server":"a","parameters":{}}`)
	f.Add(`{"name":"天気","server":"/","parameters":{"type":"object"},"annotations":null}`)
	f.Add("\xef\xbb\xbf{}")
	f.Add(`{"name":"x","server":"__"}` + "\n" + `{"name":"__x","server":"_"}`)
	f.Fuzz(func(t *testing.T, tools string) {
		d, err := LoadFS(set(tools, `{"query":"q","relevant":[]}`))
		if err != nil {
			checkError(t, err, "tools.jsonl:")
			return
		}
		ids := map[tool.ID]bool{}
		for _, tl := range d.Tools {
			id := tl.ID()
			if _, err := tool.ParseID(string(id)); err != nil || ids[id] || id.Server() != tl.Server ||
				id.Name() != tl.Name {
				t.Fatalf("ID %q of %+v: %v, seen %v", id, tl, err, ids[id])
			}
			ids[id] = true
			name := d.Label(id)
			kept := strings.HasSuffix(name, tl.Name) || strings.HasSuffix(name,
				tl.Name[:max(strings.LastIndexByte(tl.Name, '#'), 0)])
			if !d.known[name] || !kept {
				t.Fatalf("label %q of %q", name, id)
			}
		}
	})
}

// Whatever requests a file holds, those that load are sound, and can be measured.
func FuzzLoadCases(f *testing.F) {
	f.Add(`{"id":"1","query":"q","relevant":["a","b"],"grades":{"a":2},"all_of":[["a"],["b"]]}`, false)
	f.Add(`{"query":"q","relevant":[],"kind":"no_match","near_miss":true}`, false)
	f.Add("- {id: 1, query: q, relevant: [a]}\n- {query: r, grades: {b: .5}}", true)
	f.Add("queries: &x\n- <<: {query: a}\n  relevant: [b]", true)
	f.Add("a: &a [*a]", true)
	f.Add(`{"query":"q","steps":[{"tools":["a"],"query":"r"},{"tools":["b","a"],"query":"s"}]}`, false)
	f.Add("- {query: q, steps: [{tools: [a]}, {tools: [b], query: r}]}", true)
	f.Fuzz(func(t *testing.T, cases string, isYAML bool) {
		file := "queries.jsonl"
		if isYAML {
			file = "queries.yaml"
		}
		d, err := LoadFS(fstest.MapFS{"tools.jsonl": {Data: []byte(twoTools)}, file: {Data: []byte(cases)}})
		if err != nil {
			checkError(t, err, file+":")
			return
		}
		r, err := Score(d, nil, Options{})
		if err != nil || r.Missing != len(d.Cases) {
			t.Fatalf("missing %d of %d, error %v", r.Missing, len(d.Cases), err)
		}
		for _, c := range r.Cases {
			for m, v := range c.Scores {
				if v != 0 {
					t.Fatalf("%s of nothing is %v", m, v)
				}
			}
		}
	})
}

// What can be read can be written, and reads the same again.
func FuzzReadRun(f *testing.F) {
	f.Add([]byte(`{"id":"1","ranked":[{"name":"a","score":0.25}],"confident":true}` + "\n" + `{"id":2}`))
	f.Add([]byte(`{"id":1e5,"ranked":null}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		answers, err := ReadRun(bytes.NewReader(in), "run.jsonl")
		if err != nil {
			checkError(t, err, "run.jsonl:")
			return
		}
		var out bytes.Buffer
		if err := WriteRun(&out, answers); err != nil {
			t.Fatal(err)
		}
		again, err := ReadRun(&out, "again")
		if err != nil {
			t.Fatal(err)
		}
		for i := range answers {
			answers[i].Ranked = append([]Ranked{}, answers[i].Ranked[:min(len(answers[i].Ranked), DefaultDepth)]...)
		}
		if diff := cmp.Diff(answers, again); len(answers) > 0 && diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	})
}

// A gate that can be read says what it is, and reads the same again.
func FuzzParseGate(f *testing.F) {
	for _, s := range []string{"recall@5=.9", "paraphrase:hit@5=.8", "mrr>=1e-3", ":=", "a:b:auroc=0x1p-2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := ParseGate(s)
		if err != nil {
			if tool.CodeOf(err) != tool.Invalid {
				t.Fatalf("error %v", err)
			}
			return
		}
		if again, err := ParseGate(g.String()); err != nil || again != g {
			t.Fatalf("%q is %+v, then %q is %+v, %v", s, g, g.String(), again, err)
		}
	})
}
