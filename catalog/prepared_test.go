package catalog

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

func samplePrepared() prepared {
	p := prepared{text: hashText(textOfTool(aTool("s", "n", "d"))), lent: []float32{.5, -.25, 0, 1}}
	p.fields[index.Name] = []index.Term{{Text: "creat", Weight: 1}, {Text: "issu", Weight: 2}}
	p.fields[index.Text] = []index.Term{{Text: "文件", Weight: 3}, {Text: "größe", Weight: 1}}
	p.fields[index.Lent] = []index.Term{{Text: "bug", Weight: 3.37}, {Text: "faint", Weight: .01}}
	p.landmarks = []index.Landmark{
		{Point: 0, Like: 1, Lent: 1},
		{Point: 70_000, Like: .5, Lent: .1},
		{Point: math.MaxInt32, Like: 0, Lent: 0},
	}
	return p
}

func TestPreparedRoundTrip(t *testing.T) {
	full := samplePrepared()
	many := prepared{}
	for i := range 1000 {
		many.fields[index.Said] = append(many.fields[index.Said], index.Term{
			Text:   string(rune('a' + i%26)),
			Weight: float32(i),
		})
	}
	for name, p := range map[string]prepared{
		"nothing": {}, "everything": full, "a thousand words": many,
		"one empty word": {fields: [index.Server][]index.Term{{{Text: "", Weight: 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := p.encode()
			got, err := decodePrepared(b)
			if err != nil {
				t.Fatal(err)
			}
			// Weights are kept to 1/256, likeness to 1/255, vectors to 1/127 of their greatest component.
			opts := cmp.Options{cmp.AllowUnexported(prepared{}), cmpopts.EquateApprox(0, .005), cmpopts.EquateEmpty()}
			if d := cmp.Diff(p, got, opts); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if h, ok := textOf(b); !ok || h != p.text {
				t.Errorf("text %x, %v, want %x", h, ok, p.text)
			}
			if again := got.encode(); !slices.Equal(again, b) && name != "everything" {
				t.Error("encoded again it has other bytes")
			}
			clear(b) // what was decoded must not lie in the bytes
			if d := cmp.Diff(p, got, opts); d != "" {
				t.Errorf("it changed with the bytes:\n%s", d)
			}
		})
	}
}

func TestDecodePreparedRefuses(t *testing.T) {
	p := samplePrepared()
	good := p.encode()
	for n := range good {
		if _, err := decodePrepared(good[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for the whole", n, len(good))
		}
	}
	for name, b := range map[string][]byte{
		"nothing":        nil,
		"more after it":  append(slices.Clone(good), 0),
		"another layout": append([]byte{preparedLayout + 1}, good[1:]...),
		"layout zero":    append([]byte{0}, good[1:]...),
	} {
		if _, err := decodePrepared(b); err == nil {
			t.Errorf("%s is taken for a prepared tool", name)
		}
	}
	if _, ok := textOf(append([]byte{preparedLayout + 1}, good[1:]...)); ok {
		t.Error("textOf reads another layout")
	}
}

func FuzzDecodePrepared(f *testing.F) {
	p := samplePrepared()
	f.Add(p.encode())
	empty := prepared{}
	f.Add(empty.encode())
	f.Add(append(empty.encode()[:17], 255, 255, 255, 255, 255, 255, 255, 255, 255, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodePrepared(b)
		skimmed := index.Doc{Landmarks: []index.Landmark{{}, {}}} // as from another tool
		skimmed.Fields[index.Name] = []index.Term{{Weight: 7}}
		if ok := skimPrepared(b, &skimmed); ok != (err == nil) {
			t.Fatalf("skimPrepared says %v where decodePrepared says %v", ok, err)
		}
		if err != nil {
			return
		}
		if d := cmp.Diff(p.landmarks, skimmed.Landmarks, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("other landmarks are skimmed: %s", d)
		}
		for f, terms := range p.fields {
			if len(skimmed.Fields[f]) != len(terms) {
				t.Fatalf("field %d: %d terms are skimmed of %d", f, len(skimmed.Fields[f]), len(terms))
			}
			for i, one := range terms {
				if one.Weight != skimmed.Fields[f][i].Weight {
					t.Errorf("field %d: term %d has another weight", f, i)
				}
			}
		}
		if h, ok := textOf(b); !ok || h != p.text {
			t.Error("textOf and decodePrepared read two texts")
		}
		if _, err := decodePrepared(p.encode()); err != nil {
			t.Errorf("what was decoded cannot be encoded: %v", err)
		}
	})
}

func TestPrepare(t *testing.T) {
	one := &tool.Tool{
		Server: "forge", Name: "create_issue", Title: "New issue", Description: "Opens a ticket.",
		Category: "Development",
		Keywords: []string{"tracker"}, Synonyms: []string{"report bug"},
		Utterances:  []tool.Utterance{{Text: "something is broken"}},
		Examples:    []tool.Example{{Description: "crash at start", Output: "unseen"}},
		InputSchema: []byte(`{"type":"object","properties":{"title":{"type":"string","description":"one line"}}}`),
	}
	loan := knowledge.Loan{
		From:  []knowledge.Lent{{Archetype: 7, Like: .9, Weight: 1}, {Archetype: 9, Like: .4}},
		Terms: []index.Term{{Text: "defect", Weight: 2.5}}, Vector: []float32{1, 0},
	}
	p := prepare(new(knowledge.Analyzer), one, textOfTool(one), &loan)
	for field, want := range map[index.Field][]string{
		index.Name:   {"creat", "issu", "forg"},
		index.Text:   {"new", "issu", "open", "ticket"},
		index.Params: {"titl", "one", "line"},
		index.Labels: {"develop", "tracker", "report", "bug"},
		index.Said:   {"someth", "broken", "crash", "start"},
		index.Lent:   {"defect"},
	} {
		var got []string
		for _, term := range p.fields[field] {
			got = append(got, term.Text)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("field %d (-want +got):\n%s", field, d)
		}
	}
	want := []index.Landmark{{Point: 7, Like: .9, Lent: 1}, {Point: 9, Like: .4}}
	if d := cmp.Diff(want, p.landmarks); d != "" {
		t.Errorf("landmarks (-want +got):\n%s", d)
	}
	if p.text != hashText(textOfTool(one)) || len(p.lent) != 2 {
		t.Errorf("text %x, lent %v", p.text, p.lent)
	}
}
