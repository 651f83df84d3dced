package catalog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/store"
	"tooldex/tool"
)

// someSteps returns steps of two servers each, with two tools each.
func someSteps(n int) (steps [][]sources.Source, all []*digested) {
	for i := range n {
		var step []sources.Source
		for k := range 2 {
			server := fmt.Sprintf("server%d-%d", i, k)
			d := &digested{digest: [32]byte{byte(i), byte(k), 1}, fake: fake{name: server, tools: []*tool.Tool{
				aTool(server, "read", "Reads "+server), aTool(server, "write", "Writes "+server),
			}}}
			step, all = append(step, d), append(all, d)
		}
		steps = append(steps, step)
	}
	return steps, all
}

// TestImport compares an import in steps with one in a single step.
func TestImport(t *testing.T) {
	steps, _ := someSteps(5)
	x := newTextIndex()
	c := openCatalog(t, t.TempDir(), x)
	calls := 0
	err := c.Import(context.Background(), slices.Values(steps), func(r []Report, err error) {
		if err != nil || len(r) != 2 || len(r[0].Added) != 2 {
			t.Errorf("step %d: %v, %v", calls, r, err)
		}
		if c.Set().Len() > 0 {
			t.Error("a step is visible before the end")
		}
		calls++
	})
	if err != nil || calls != 5 {
		t.Fatalf("%d steps, error %v", calls, err)
	}
	other := openCatalog(t, t.TempDir(), newTextIndex())
	mustSync(t, other, slices.Concat(steps...)...)
	if d := diff(ids(other.Set()), ids(c.Set())); d != "" || c.Set().Version() != other.Set().Version() {
		t.Errorf("not what one step gives: %s", d)
	}
	if got := len(x.embedded()); got != 20 {
		t.Errorf("embedded %d texts, want each of 20 once", got)
	}
}

// TestChangedEntries has several sources offer tools of one server: a step finds all of that server, whether or not it
// is noted which source offers what, also after a tool has moved from one source to another.
func TestChangedEntries(t *testing.T) {
	c := openCatalog(t, t.TempDir(), newTextIndex())
	mustSync(t, c,
		&fake{name: "one", tools: []*tool.Tool{aTool("x", "a", "A."), aTool("y", "b", "B.")}},
		&fake{name: "two", tools: []*tool.Tool{aTool("x", "c", "C."), aTool("z", "d", "D.")}})
	plain := c.st.Load().clone()
	noted := c.st.Load().clone()
	noted.ownAll()
	moved := noted.records["x/a"]
	moved.Source = "three"
	for name, batch := range map[string]*store.Batch{
		"a new tool":        {Records: []store.Record{{Tool: aTool("x", "e", "E."), Source: "four"}}},
		"a removed tool":    {Remove: []tool.ID{"z/d"}},
		"a moved tool":      {Records: []store.Record{moved}},
		"a decision":        {Trust: map[tool.ID][]byte{"y/b": nil}},
		"an unknown server": {Remove: []tool.ID{"no/tool"}},
	} {
		plain.apply(batch)
		noted.apply(batch)
		want, got := plain.changedEntries(batch), noted.changedEntries(batch)
		if d := diff(entryIDs(want), entryIDs(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func entryIDs(entries []entry) (ids []tool.ID) {
	for _, e := range entries {
		ids = append(ids, e.tool.ID())
	}
	return ids
}

// TestImportContinues stops an import and makes it again: what was stored is not read again.
func TestImportContinues(t *testing.T) {
	dir := t.TempDir()
	steps, all := someSteps(5)
	ctx, stop := context.WithCancel(context.Background())
	done := 0
	c := openCatalog(t, dir, newTextIndex())
	err := c.Import(ctx, slices.Values(steps), func([]Report, error) {
		if done++; done == 3 {
			stop()
		}
	})
	if tool.CodeOf(err) != tool.Timeout || done != 3 {
		t.Fatalf("%d steps, error %v", done, err)
	}
	x := newTextIndex()
	c = openCatalog(t, dir, x)
	if c.Set().Len() != 12 {
		t.Errorf("%d tools are stored, want those of three steps", c.Set().Len())
	}
	if err := c.Import(context.Background(), slices.Values(steps), func([]Report, error) {}); err != nil {
		t.Fatal(err)
	}
	if got := len(x.embedded()); got != 8 || c.Set().Len() != 20 {
		t.Errorf("then %d texts were embedded and there are %d tools, want 8 and 20", got, c.Set().Len())
	}
	for i, d := range all[:6] {
		if d.asked != 1 {
			t.Errorf("source %d was read %d times", i, d.asked)
		}
	}
}

// TestImportWhileOthersWrite has another process store something between the steps.
func TestImportWhileOthersWrite(t *testing.T) {
	dir := t.TempDir()
	steps, _ := someSteps(3)
	c, other := openCatalog(t, dir, newTextIndex()), openCatalog(t, dir, newTextIndex())
	n := 0
	err := c.Import(context.Background(), slices.Values(steps), func([]Report, error) {
		n++
		name := fmt.Sprintf("other%d", n)
		mustSync(t, other, &fake{name: name, tools: []*tool.Tool{aTool(name, "list", "Lists.")}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c.Set().Len() != 15 {
		t.Errorf("%d tools, want 12 and 3: %v", c.Set().Len(), ids(c.Set()))
	}
}

// TestImportSameName refuses the second of two sources of one name, also in another step.
func TestImportSameName(t *testing.T) {
	steps := [][]sources.Source{
		{&fake{name: "a", tools: []*tool.Tool{aTool("a", "x", "X.")}}},
		{&fake{name: "a", tools: []*tool.Tool{aTool("a", "y", "Y.")}}},
	}
	c := openCatalog(t, t.TempDir(), newTextIndex())
	var errs []error
	err := c.Import(context.Background(), slices.Values(steps), func(_ []Report, err error) { errs = append(errs, err) })
	if err != nil || len(errs) != 2 || errs[0] != nil || tool.CodeOf(errs[1]) != tool.Invalid {
		t.Errorf("error %v, of the steps %v", err, errs)
	}
	if d := diff([]tool.ID{"a/x"}, ids(c.Set())); d != "" {
		t.Error(d)
	}
}

// TestSlim shows that a catalogue that only imports finds what is stored, and does not make it again.
func TestSlim(t *testing.T) {
	dir := t.TempDir()
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	steps, _ := someSteps(2)
	open := func(slim bool) *Catalog {
		c, err := Open(context.Background(), Options{Store: openStore(t, dir), Model: m, Slim: slim})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if err := open(true).Import(context.Background(), slices.Values(steps), func([]Report, error) {}); err != nil {
		t.Fatal(err)
	}
	before, err := openStore(t, dir).Generation(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, slim := range []bool{true, false} {
		if err := open(slim).Import(context.Background(), slices.Values(steps), func([]Report, error) {}); err != nil {
			t.Fatal(err)
		}
	}
	after, err := openStore(t, dir).Generation(context.Background())
	if err != nil || after != before {
		t.Errorf("generation %d became %d (%v): something was made again", before, after, err)
	}
	for h, v := range open(false).st.Load().derived.vectors {
		if len(v.Data) == 0 {
			t.Errorf("vector %x has no data", h)
		}
	}
}

// TestImportUnchanged has a program that only imports begin with an image: what has not changed is not loaded, and
// whatever has changed since is noticed.
func TestImportUnchanged(t *testing.T) {
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	open := func(t *testing.T, dir string) *Catalog {
		t.Helper()
		c, err := Open(ctx, Options{Store: openStore(t, dir), Model: m, Slim: true, Images: true})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, test := range map[string]struct {
		change func(t *testing.T, dir string, all []*digested) // between the imports
		loaded bool                                            // the second time
		asked  []int                                           // the sources that are read again
	}{
		"nothing": {change: func(*testing.T, string, []*digested) {}},
		"one source": {
			change: func(_ *testing.T, _ string, all []*digested) {
				all[2].digest = [32]byte{9}
				all[2].tools = all[2].tools[:1]
			},
			loaded: true, asked: []int{2},
		},
		"source without digest": {
			change: func(_ *testing.T, _ string, all []*digested) { all[1].digest = [32]byte{} },
			loaded: true, asked: []int{1},
		},
		"rules": {
			change: func(t *testing.T, dir string, all []*digested) {
				state := open(t, dir).loaded().sources[all[3].name]
				state.Rules++
				if _, err := openStore(t, dir).Write(ctx, &store.Batch{Sources: []store.SourceState{state}}); err != nil {
					t.Fatal(err)
				}
				if err := saveAnew(t, dir, m); err != nil {
					t.Fatal(err)
				}
			},
			loaded: true, asked: []int{3},
		},
		"stored by another": {
			change: func(t *testing.T, dir string, _ []*digested) {
				mustSync(t, open(t, dir), &fake{name: "other", tools: []*tool.Tool{aTool("other", "x", "X.")}})
			},
			loaded: true, // its image is missing
		},
		"damage": {
			change: func(t *testing.T, dir string, all []*digested) {
				path := filepath.Join(dir, store.FileName)
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				text := []byte("Reads " + all[0].name)
				for at := 0; ; at++ { // wherever the text lies
					next := bytes.Index(b[at:], text)
					if next < 0 {
						break
					}
					at += next
					b[at] = 'r'
				}
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			loaded: true, asked: []int{0, 1, 2, 3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			steps, all := someSteps(2)
			first := open(t, dir)
			if err := first.Import(ctx, slices.Values(steps), func([]Report, error) {}); err != nil {
				t.Fatal(err)
			}
			if err := first.SaveImage(ctx); err != nil {
				t.Fatal(err)
			}
			for _, d := range all {
				d.asked = 0
			}
			test.change(t, dir, all)
			c := open(t, dir)
			var got []Report
			if err := c.Import(ctx, slices.Values(steps), func(r []Report, err error) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, r...)
			}); err != nil {
				t.Fatal(err)
			}
			if loaded := !c.st.Load().partial; loaded != test.loaded {
				t.Errorf("loaded is %v, want %v", loaded, test.loaded)
			}
			var asked []int
			for i, d := range all {
				if d.asked > 0 {
					asked = append(asked, i)
				}
			}
			if d := diff(test.asked, asked); d != "" {
				t.Errorf("sources that were read (-want +got):\n%s", d)
			}
			// The reports and the tools are those of a program that loads everything.
			plain, err := Open(ctx, Options{Store: openStore(t, dir), Model: m, Slim: true})
			if err != nil {
				t.Fatal(err)
			}
			var want []Report
			if err := plain.Import(ctx, slices.Values(steps), func(r []Report, _ error) { want = append(want, r...) }); err != nil {
				t.Fatal(err)
			}
			if len(asked) == 0 {
				if d := diff(want, got); d != "" {
					t.Errorf("reports (-want +got):\n%s", d)
				}
			}
			if d := diff(ids(plain.Set()), ids(c.Set())); d != "" {
				t.Errorf("tools (-want +got):\n%s", d)
			}
		})
	}
}

// saveAnew writes the image of what a folder has stored.
func saveAnew(t *testing.T, dir string, m Model) error {
	t.Helper()
	c, err := Open(context.Background(), Options{Store: openStore(t, dir), Model: m, Slim: true, Images: true})
	if err != nil {
		return err
	}
	return c.SaveImage(context.Background())
}
