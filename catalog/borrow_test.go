package catalog

import (
	"fmt"
	"slices"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/embed"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/tool"
)

// TestBorrowOfStoredTools switches borrowing off and on, of a tool and of a server that came from no file, in a store
// that is opened again each time: only what is switched is prepared anew, and back again it is as it was.
func TestBorrowOfStoredTools(t *testing.T) {
	m, counts := countingModel(t)
	dir := t.TempDir()
	c, x := openSearchable(t, dir, m)
	mustSync(t, c, &fake{name: "s", tools: threeTools()})
	before := describeIndex(x.Current())
	counts.asked()
	for _, step := range []struct {
		name, overlay string
		changed       int
		borrow        []bool // of create_issue, get_forecast, send_email
	}{
		{"a tool", "s/create_issue: {borrow: false}", 1, []bool{false, true, true}},
		{"the server", "s/*: {borrow: false}", 2, []bool{false, false, false}},
		{"all but one", "{s/create_issue: {borrow: true}, s/*: {borrow: false}}", 1, []bool{true, false, false}},
		{"none", "s/*: {category: things}", 3, []bool{true, true, true}},
	} {
		t.Run(step.name, func(t *testing.T) {
			content, err := sources.Parse("mine.yaml", []byte("overlay:\n  "+step.overlay))
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.ApplyOverlay(t.Context(), content.Overlay)
			if err != nil || len(r.Changed) != step.changed || len(r.Findings) != 0 {
				t.Errorf("report %+v, %v", r, err)
			}
			for at, snap := range map[string]*index.Snapshot{
				"at once":      x.Current(),
				"opened again": reopened(t, dir, m),
			} {
				for i, want := range step.borrow {
					if got := borrows(snap, i); got != want {
						t.Errorf("%s: %s borrows: %v, want %v", at, snap.Set().All()[i].Name, got, want)
					}
					if len(snap.Landmarks(i)) == 0 {
						t.Errorf("%s: %s resembles nothing", at, snap.Set().All()[i].Name)
					}
				}
				if got := found(snap, "bug"); (got == "create_issue") != step.borrow[0] {
					t.Errorf("%s: a word that is only lent finds %q", at, got)
				}
				if got := found(snap, "issu"); got != "create_issue" {
					t.Errorf("%s: its own word finds %q", at, got)
				}
			}
		})
	}
	if _, err := c.Remove(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	if d := diff(before, describeIndex(reopened(t, dir, m))); d != "" {
		t.Errorf("without the overlay the index is another (-want +got)\n%s", d)
	}
	if got := counts.asked(); len(got) != 0 {
		t.Errorf("embedded anew: %v", got)
	}
}

// TestBorrowNothingAtAll opens one store with and without borrowing, in turn.
func TestBorrowNothingAtAll(t *testing.T) {
	m, counts := countingModel(t)
	own := m
	own.NoBorrow = true
	dir := t.TempDir()
	c, x := openSearchable(t, dir, m)
	mustSync(t, c, &fake{name: "s", tools: threeTools()})
	lent := describeIndex(x.Current())
	counts.asked()
	var alone string
	for _, m := range []Model{own, m, own, m} {
		snap := reopened(t, dir, m)
		want := &lent
		if m.NoBorrow {
			if alone == "" {
				alone = describeIndex(snap)
			}
			want = &alone
		}
		if got := describeIndex(snap); got != *want {
			t.Errorf("not borrowing %v: the index is another than the first time", m.NoBorrow)
		}
		for i := range snap.Len() {
			if borrows(snap, i) == m.NoBorrow || len(snap.Landmarks(i)) == 0 {
				t.Errorf("not borrowing %v: landmarks of %d are %v", m.NoBorrow, i, snap.Landmarks(i))
			}
		}
		if got := found(snap, "bug"); (got == "create_issue") == m.NoBorrow {
			t.Errorf("not borrowing %v: a word that is only lent finds %q", m.NoBorrow, got)
		}
	}
	if got := counts.asked(); len(got) != 0 {
		t.Errorf("switching embeds %v, but no text has changed", got)
	}
	if alone == lent {
		t.Error("the index is the same with and without borrowing")
	}
}

// TestBorrowVector leaves a tool its own vector.
func TestBorrowVector(t *testing.T) {
	m, _ := countingModel(t)
	one := threeTools()[0]
	one.NoBorrow = true
	x := &searchable{m: m}
	e := []entry{{tool: one, hash: one.Hash()}}
	made, err := x.prepare(t.Context(), e, newDerived(), func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	d := x.indexDocument(e[0], made)
	vs, err := m.Embedder.Documents(t.Context(), []embed.Document{*textOfTool(one)})
	if err != nil {
		t.Fatal(err)
	}
	if cos := cosine(d.Vector, vs[0]); cos < .9999 || len(d.Fields[index.Lent]) != 0 {
		t.Errorf("cosine with its own vector %v, lent %v", cos, d.Fields[index.Lent])
	}
}

func TestBorrowChangesTheHash(t *testing.T) {
	one := threeTools()[0]
	with := one.Hash()
	one.NoBorrow = true
	if one.Hash() == with {
		t.Error("a tool that borrows nothing has the hash of one that does")
	}
}

func TestOverlayOfServerFindings(t *testing.T) {
	c := openCatalog(t, t.TempDir(), newTextIndex())
	mustSync(t, c, &fake{name: "s", tools: threeTools()})
	content, err := sources.Parse("o.yaml", []byte("overlay:\n  s/*: {category: x}\n  later/*: {borrow: false}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.ApplyOverlay(t.Context(), content.Overlay)
	if err != nil || len(r.Changed) != 3 || len(r.Findings) != 1 || r.Findings[0].Tool != "later/*" {
		t.Errorf("%+v, %v", r, err)
	}
	mustSync(t, c, &fake{name: "later", tools: []*tool.Tool{aTool("", "one", "First.")}})
	if got, _ := c.Set().Get("later/one"); !got.NoBorrow {
		t.Error("a server that came later is not spoken of")
	}
}

func TestResemblance(t *testing.T) {
	got := withoutLoans(knowledge.Loan{
		From:  []knowledge.Lent{{Archetype: 3, Like: .5, Weight: 1}},
		Terms: []index.Term{{Text: "x", Weight: 1}}, Vector: []float32{1},
	})
	if d := diff(knowledge.Loan{From: []knowledge.Lent{{Archetype: 3, Like: .5}}}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func reopened(t *testing.T, dir string, m Model) *index.Snapshot {
	t.Helper()
	_, x := openSearchable(t, dir, m)
	return x.Current()
}

func borrows(s *index.Snapshot, i int) bool {
	return slices.ContainsFunc(s.Landmarks(i), func(l index.Landmark) bool { return l.Lent > 0 })
}

// describeIndex writes out what a few words and the landmarks say of each tool.
func describeIndex(s *index.Snapshot) string {
	var out string
	for _, term := range []string{"bug", "issu", "email", "rain", "forecast", "ticket", "inbox"} {
		for i := range s.Len() {
			out += fmt.Sprintln(term, i, s.TermImpact(term, i))
		}
	}
	for i := range s.Len() {
		out += fmt.Sprintln(i, s.Landmarks(i))
	}
	return out
}
