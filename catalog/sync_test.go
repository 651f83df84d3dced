package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/upstream"
)

func TestSync(t *testing.T) {
	dir := t.TempDir()
	x := newTextIndex()
	c := openCatalog(t, dir, x)
	src := &fake{name: "files", tools: []*tool.Tool{
		aTool("", "read", "Reads."), aTool("", "write", "Writes."),
		aTool("", "list", "Lists."),
	}}
	steps := []struct {
		name     string
		do       func()
		want     Report
		embedded []string
		tools    []tool.ID
	}{
		{
			"first", func() {},
			Report{Added: []tool.ID{"files/list", "files/read", "files/write"}},
			[]string{"Lists.", "Reads.", "Writes."},
			[]tool.ID{"files/list", "files/read", "files/write"},
		},
		{"again", func() {}, Report{Unchanged: 3}, nil, []tool.ID{"files/list", "files/read", "files/write"}},
		{
			"one changed", func() { src.tools[1] = aTool("", "write", "Overwrites.") },
			Report{Changed: []tool.ID{"files/write"}, Unchanged: 2},
			[]string{"Overwrites."},
			[]tool.ID{"files/list", "files/read", "files/write"},
		},
		{
			"changed back", func() { src.tools[1] = aTool("", "write", "Writes.") },
			Report{Changed: []tool.ID{"files/write"}, Unchanged: 2},
			nil,
			[]tool.ID{"files/list", "files/read", "files/write"}, // the vector of a text is kept
		},
		{
			"one gone, one new", func() { src.tools = append(src.tools[:2:2], aTool("", "stat", "Tells.")) },
			Report{Added: []tool.ID{"files/stat"}, Removed: []tool.ID{"files/list"}, Unchanged: 2},
			[]string{"Tells."},
			[]tool.ID{"files/read", "files/stat", "files/write"},
		},
	}
	for _, s := range steps {
		s.do()
		s.want.Source = "files"
		got := mustSync(t, c, src)
		if d := diff([]Report{s.want}, got); d != "" {
			t.Errorf("%s: report (-want +got)\n%s", s.name, d)
		}
		if d := diff(s.embedded, x.embedded()); d != "" {
			t.Errorf("%s: embedded (-want +got)\n%s", s.name, d)
		}
		if d := diff(s.tools, ids(c.Set())); d != "" {
			t.Errorf("%s: served (-want +got)\n%s", s.name, d)
		}
		other := newTextIndex()
		stored := openCatalog(t, dir, other)
		if stored.Set().Version() != c.Set().Version() || len(other.embedded()) != 0 {
			t.Errorf("%s: what is stored is not what is served", s.name)
		}
	}
}

func TestSyncUnchangedWritesNothing(t *testing.T) {
	ctx := context.Background()
	c := openCatalog(t, t.TempDir(), newTextIndex())
	src := &digested{fake{name: "a", tools: []*tool.Tool{aTool("", "x", "X."), {Name: "y z"}}}, [32]byte{1}}
	first := mustSync(t, c, src)
	gen, err := c.o.Store.Generation(ctx)
	if err != nil {
		t.Fatal(err)
	}
	again := mustSync(t, c, src)
	if now, err := c.o.Store.Generation(ctx); err != nil || now != gen {
		t.Errorf("generation went from %d to %d, %v", gen, now, err)
	}
	if src.asked != 1 {
		t.Errorf("asked %d times; the digest says that nothing has changed", src.asked)
	}
	if again[0].Unchanged != 2 || len(first[0].Findings) == 0 {
		t.Errorf("reports %+v, then %+v", first, again)
	}
	if d := diff(first[0].Findings, again[0].Findings); d != "" {
		t.Errorf("findings are not repeated (-first +again)\n%s", d)
	}
	src.digest = [32]byte{2}
	if mustSync(t, c, src); src.asked != 2 {
		t.Error("not asked although the digest has changed")
	}
}

func TestSourceThatFailsOrIsEmptyRemovesNothing(t *testing.T) {
	fails := &tool.Error{Code: tool.Timeout, Msg: "too slow"}
	for name, c := range map[string]struct {
		tools []*tool.Tool
		err   error
		code  tool.Code
	}{
		"error with a code":    {err: fails, code: tool.Timeout},
		"error without a code": {err: errors.New("broken pipe"), code: tool.Unavailable},
		"error and tools": {
			tools: []*tool.Tool{aTool("", "other", "")}, err: errors.New("died"),
			code: tool.Unavailable,
		},
		"no tools":        {},
		"no usable tools": {tools: []*tool.Tool{nil, {Name: ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			dir := t.TempDir()
			cat := openCatalog(t, dir, newTextIndex())
			src := &fake{name: "files", tools: []*tool.Tool{aTool("", "read", "Reads.")}}
			good := &fake{name: "good", tools: []*tool.Tool{aTool("", "one", "One.")}}
			mustSync(t, cat, src)
			src.tools, src.err = c.tools, c.err

			reports, err := cat.SyncAll(ctx, []sources.Source{src, good})
			if c.err != nil && (tool.CodeOf(err) != c.code || !errors.Is(err, c.err) ||
				!strings.Contains(err.Error(), "files")) || c.err == nil && err != nil {
				t.Errorf("error %v, want code %v and the source named", err, c.code)
			}
			if len(reports) != 2 || !reports[0].Stale || len(reports[0].Removed) != 0 || len(reports[1].Added) != 1 {
				t.Errorf("reports %+v, want the first stale and the other source's tool added", reports)
			}
			if d := diff([]tool.ID{"files/read", "good/one"}, ids(cat.Set())); d != "" {
				t.Errorf("served (-want +got)\n%s", d)
			}
			if st := openCatalog(t, dir, newTextIndex()).st.Load().sources["files"]; !st.Stale {
				t.Error("the source is not stored as stale")
			}
			src.tools, src.err = []*tool.Tool{aTool("", "read", "Reads.")}, nil
			if r := mustSync(t, cat, src); r[0].Stale || r[0].Unchanged != 1 {
				t.Errorf("report %+v after the source came back", r[0])
			}
			if st := openCatalog(t, dir, newTextIndex()).st.Load().sources["files"]; st.Stale {
				t.Error("the source is still stored as stale")
			}
		})
	}
}

func TestRefusedToolStaysAsItWas(t *testing.T) {
	c := openCatalog(t, t.TempDir(), newTextIndex())
	src := &fake{name: "s", tools: []*tool.Tool{aTool("", "a", "A."), aTool("", "b", "B.")}}
	mustSync(t, c, src)
	bad := aTool("", "a", "New.")
	bad.Summary = strings.Repeat("x", sanitize.MaxSummary+1)
	src.tools[0] = bad
	r := mustSync(t, c, src)[0]
	if r.Unchanged != 2 || len(r.Removed)+len(r.Changed) != 0 || len(r.Findings) != 1 || !r.Findings[0].Refused ||
		!strings.Contains(r.Findings[0].Problem, "81 characters") {
		t.Errorf("report %+v, want the tool refused by its summary and kept as it was", r)
	}
	if got, _ := c.Set().Get("s/a"); got == nil || got.Description != "A." {
		t.Errorf("served %+v", got)
	}
}

func TestSyncConflicts(t *testing.T) {
	c := openCatalog(t, t.TempDir(), newTextIndex())
	one := &fake{name: "one", tools: []*tool.Tool{
		aTool("shared", "x", "First."), aTool("", "x", "Own."),
		aTool("", "x", "Twice."),
	}}
	two := &fake{name: "two", tools: []*tool.Tool{aTool("shared", "x", "Second."), aTool("", "y", "Y.")}}
	reports := mustSync(t, c, one, two)
	if d := diff([]tool.ID{"one/x", "shared/x", "two/y"}, ids(c.Set())); d != "" {
		t.Errorf("served (-want +got)\n%s", d)
	}
	for id, want := range map[tool.ID]string{"shared/x": "First.", "one/x": "Own."} {
		if got, ok := c.Set().Get(id); !ok || got.Description != want {
			t.Errorf("%s is %+v, want %q", id, got, want)
		}
	}
	if f := reports[0].Findings; len(f) != 1 || f[0].Tool != "one/x" || !strings.Contains(f[0].Problem, "twice") {
		t.Errorf("findings %v, want the name that is offered twice", f)
	}
	if f := reports[1].Findings; len(f) != 1 || f[0].Tool != "shared/x" || !f[0].Refused {
		t.Errorf("findings %v, want the tool of another source refused", f)
	}
	_, err := c.SyncAll(context.Background(), []sources.Source{two, &fake{name: "two"}, &fake{name: "a/b"}})
	if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), `two sources are named "two"`) ||
		!strings.Contains(err.Error(), "a/b") {
		t.Errorf("error %v, want both names refused", err)
	}
	if c.Set().Len() != 3 {
		t.Error("a name that was refused removed tools")
	}
}

func TestRemove(t *testing.T) {
	c := openCatalog(t, t.TempDir(), newTextIndex())
	mustSync(t, c, &fake{name: "a", tools: []*tool.Tool{aTool("", "x", "X.")}},
		&fake{name: "b", tools: []*tool.Tool{aTool("", "x", "X.")}})
	r, err := c.Remove(context.Background(), "a")
	if d := diff(Report{Source: "a", Removed: []tool.ID{"a/x"}}, r); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if d := diff([]tool.ID{"b/x"}, ids(c.Set())); d != "" {
		t.Errorf("served (-want +got)\n%s", d)
	}
	if _, err := c.Remove(context.Background(), "a"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("error %v, want NotFound", err)
	}
}

func TestTwoCatalogsOnOneStore(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	xa, xb := newTextIndex(), newTextIndex()
	a, b := openCatalog(t, dir, xa), openCatalog(t, dir, xb)
	mustSync(t, a, &fake{name: "a", tools: []*tool.Tool{aTool("", "x", "X.")}})
	if ok, err := b.Refresh(ctx); !ok || err != nil {
		t.Errorf("refresh %v, %v; want true", ok, err)
	}
	if ok, err := b.Refresh(ctx); ok || err != nil {
		t.Errorf("refresh again %v, %v; want false", ok, err)
	}
	if b.Set().Version() != a.Set().Version() || len(xb.embedded()) != 0 {
		t.Error("the other catalogue does not serve what was stored, or embedded it anew")
	}
	// While a prepares a tool of source c, b changes the store: a must decide anew, and neither loses anything.
	xa.embedded()
	xa.hook = func() { mustSync(t, b, &fake{name: "b", tools: []*tool.Tool{aTool("", "y", "Y.")}}) }
	mustSync(t, a, &fake{name: "c", tools: []*tool.Tool{aTool("", "z", "Z.")}})
	if d := diff([]tool.ID{"a/x", "b/y", "c/z"}, ids(a.Set())); d != "" {
		t.Errorf("served (-want +got)\n%s", d)
	}
	if d := diff([]string{"Z."}, xa.embedded()); d != "" {
		t.Errorf("embedded (-want +got)\n%s", d)
	}
	x := newTextIndex()
	if got := openCatalog(t, dir, x); got.Set().Version() != a.Set().Version() || len(x.embedded()) != 0 {
		t.Errorf("stored %v, and %v were embedded again", ids(got.Set()), x.embedded())
	}
}

func TestSyncFromManyGoroutines(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for p := range 2 {
		c := openCatalog(t, dir, newTextIndex())
		for n := range 6 {
			wg.Go(func() {
				name := fmt.Sprintf("s%d-%d", p, n)
				if _, err := c.Sync(context.Background(), &fake{
					name:  name,
					tools: []*tool.Tool{aTool("", "x", name)},
				}); err != nil {
					t.Error(err)
				}
				if _, ok := c.Set().Get(tool.MakeID(name, "x")); !ok {
					t.Errorf("%s is synced and not served", name)
				}
			})
		}
	}
	wg.Wait()
	if n := openCatalog(t, dir, newTextIndex()).Set().Len(); n != 12 {
		t.Errorf("%d tools are stored, want 12", n)
	}
}

func TestEmbedderDown(t *testing.T) {
	dir := t.TempDir()
	x := newTextIndex()
	x.fail = errors.New("connection refused")
	c := openCatalog(t, dir, x)
	src := &fake{name: "a", tools: []*tool.Tool{aTool("", "x", "X.")}}
	mustSync(t, c, src)
	if c.Set().Len() != 1 || len(x.have.vectors) != 0 {
		t.Error("a model that is down keeps tools out")
	}
	x.fail = nil
	mustSync(t, c, &fake{name: "b", tools: []*tool.Tool{aTool("", "y", "Y.")}})
	if d := diff([]string{"X.", "Y."}, x.embedded()); d != "" {
		t.Errorf("once it is back, what was missed is embedded too (-want +got)\n%s", d)
	}
	// Another model, another version: everything is made for it, and the first one's is still there.
	y := newTextIndex()
	y.model.Fingerprint = "other"
	openCatalog(t, dir, y)
	if d := diff([]string{"X.", "Y."}, y.embedded()); d != "" {
		t.Errorf("embedded for the other model (-want +got)\n%s", d)
	}
	z := newTextIndex()
	openCatalog(t, dir, z)
	if n := len(z.embedded()); n != 0 {
		t.Errorf("%d texts were embedded again for the first model", n)
	}
}

func TestCancelledSyncChangesNothing(t *testing.T) {
	x := newTextIndex()
	c := openCatalog(t, t.TempDir(), x)
	ctx, cancel := context.WithCancel(context.Background())
	x.hook = cancel // while tools are embedded
	_, err := c.Sync(ctx, &fake{name: "a", tools: []*tool.Tool{aTool("", "x", "X.")}})
	if tool.CodeOf(err) != tool.Timeout || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want Timeout", err)
	}
	if _, err := c.Sync(ctx, &fake{name: "a"}); tool.CodeOf(err) != tool.Timeout {
		t.Errorf("error %v, want Timeout", err)
	}
	if c.Set().Len() != 0 {
		t.Error("a sync that was cancelled is served")
	}
	x.embedded()
	if mustSync(t, c, &fake{name: "a", tools: []*tool.Tool{aTool("", "x", "X.")}}); len(x.embedded()) != 0 {
		t.Error("what was embedded before the sync was cancelled is embedded again")
	}
}

func TestDamagedToolComesBack(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	src := &digested{fake{name: "a", tools: []*tool.Tool{aTool("", "x", "X."), aTool("", "y", "Y.")}}, [32]byte{1}}
	mustSync(t, openCatalog(t, dir, newTextIndex()), src)
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// As if the record had been lost to damage: it is not there, while the digest says that nothing has changed.
	snap, err := s.Load(ctx, store.View{})
	if err != nil {
		t.Fatal(err)
	}
	snap.Records, snap.Damaged = snap.Records[:1], []store.Damage{{Kind: "tool", Key: "a/y"}}
	c := openCatalog(t, dir, newTextIndex())
	c.st.Store(newState(snap, "", c.o.Trust, c.o.Logger))
	if r := mustSync(t, c, src)[0]; len(r.Added) != 1 || r.Added[0] != "a/y" {
		t.Errorf("report %+v, want the tool back", r)
	}
}

func TestServers(t *testing.T) {
	dir := t.TempDir()
	c := openCatalog(t, dir, newTextIndex())
	want := []upstream.Server{{Name: "a", Command: "npx"}}
	if _, err := openStore(t, dir).Write(context.Background(), &store.Batch{Servers: want}); err != nil {
		t.Fatal(err)
	}
	if ok, err := c.Refresh(context.Background()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if d := diff(want, c.Servers()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// partial is a source that does not offer all of its tools now.
type partial struct {
	fake
	hidden []string
}

func (p *partial) ListTools(context.Context) ([]*tool.Tool, []string, error) {
	return p.tools, p.hidden, p.err
}

// TestHiddenToolsStay holds that tools which a server shows to other sessions stay stored, and go when it shows them to
// none.
func TestHiddenToolsStay(t *testing.T) {
	c := openCatalog(t, t.TempDir(), newTextIndex())
	src := &partial{fake: fake{name: "files", tools: []*tool.Tool{aTool("", "ask", "Asks."), aTool("", "read", "Reads.")}}}
	mustSync(t, c, src)
	src.tools, src.hidden = src.tools[1:], []string{"ask"}
	if r := mustSync(t, c, src)[0]; len(r.Removed) > 0 || r.Unchanged != 2 {
		t.Errorf("a listing that hides a tool: %+v", r)
	}
	src.hidden = nil
	if r := mustSync(t, c, src)[0]; len(r.Removed) != 1 || r.Removed[0] != "files/ask" {
		t.Errorf("a listing without the tool: %+v", r)
	}
}
