package catalog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/catalog/sources"
	"tooldex/embed"
	"tooldex/store"
	"tooldex/tool"
)

// fake is a source whose answer a test sets.
type fake struct {
	name  string
	tools []*tool.Tool
	err   error
	asked int
}

func (f *fake) Name() string { return f.name }

func (f *fake) Tools(context.Context) ([]*tool.Tool, error) {
	f.asked++
	out := make([]*tool.Tool, len(f.tools))
	for i, t := range f.tools {
		if t != nil {
			one := *t
			out[i] = &one
		}
	}
	return out, f.err
}

// digested is a fake that can say whether it has changed.
type digested struct {
	fake
	digest [32]byte
}

func (d *digested) Digest() [32]byte { return d.digest }

// texts is an indexer that makes one vector of each description and lends each tool its name, and counts what it makes.
type textIndex struct {
	mu    sync.Mutex
	model embed.Model
	made  []string // descriptions, in the order in which they were embedded
	fail  error
	set   *tool.Set
	have  *derived
	hook  func() // called by prepare, once
}

func newTextIndex() *textIndex { return &textIndex{model: embed.Model{Name: "test", Dims: 1}} }

func (x *textIndex) view() store.View { return store.View{Model: x.model, Knowledge: "k"} }

func (x *textIndex) prepare(_ context.Context, entries []entry, have *derived, progress func(int, int)) (*derived,
	error,
) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if h := x.hook; h != nil {
		x.hook = nil
		h()
	}
	out := newDerived()
	if x.fail != nil {
		return out, x.fail
	}
	for _, e := range entries {
		h := store.HashText(e.tool.Description)
		if _, ok := have.vectors[h]; !ok && !e.held {
			x.made = append(x.made, e.tool.Description)
			out.vectors[h] = store.Quantize([]float32{float32(len(e.tool.Description))})
		}
		if _, ok := have.lent[e.hash]; !ok {
			out.lent[e.hash] = []byte(e.tool.Name)
		}
		progress(len(x.made), len(entries))
	}
	return out, nil
}

func (x *textIndex) release() {}

func (x *textIndex) publish(_ context.Context, set *tool.Set, entries []entry, have *derived, _ map[string]bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if set.Len() != len(entries) {
		return errors.New("the set and the entries differ")
	}
	x.set, x.have = set, have
	return nil
}

// embedded returns what was embedded since it was last called.
func (x *textIndex) embedded() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := x.made
	x.made = nil
	return out
}

func openStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Check(context.Background()); err != nil {
			t.Errorf("the store is not consistent at the end of the test: %v", err)
		}
	})
	return s
}

func openCatalog(t testing.TB, dir string, x indexer) *Catalog {
	t.Helper()
	at := time.Date(2026, 11, 5, 0, 0, 0, 0, time.UTC)
	c, err := Open(context.Background(), Options{Store: openStore(t, dir), indexer: x, now: func() time.Time {
		at = at.Add(time.Hour)
		return at
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustSync(t testing.TB, c *Catalog, all ...sources.Source) []Report {
	t.Helper()
	r, err := c.SyncAll(context.Background(), all)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func aTool(server, name, description string) *tool.Tool {
	return &tool.Tool{Server: server, Name: name, Description: description, InputSchema: []byte(`{"type":"object"}`)}
}

func ids(set *tool.Set) []tool.ID {
	var out []tool.ID
	for _, t := range set.All() {
		out = append(out, t.ID())
	}
	return out
}

// diff returns how two values differ, "" if they do not; nil and empty are equal. It compares with reflect first: with
// cmp alone, a test that compares thousands of tools would spend most of its time there.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// file writes a file of this name and content, and returns its path.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
