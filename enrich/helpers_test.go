package enrich

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/index"
	"tooldex/store"
	"tooldex/tool"
)

// fixture is a catalogue with its enricher.
type fixture struct {
	*catalog.Catalog
	*Enricher
}

func openCatalog(t testing.TB, dir string, m catalog.Model, x *index.Index) *fixture {
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
	c, err := catalog.Open(t.Context(), catalog.Options{Store: s, Model: m, Index: x})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{c, New(c)}
}

// fake is a source of fixed tools.
type fake struct {
	name  string
	tools []*tool.Tool
}

func (f *fake) Name() string { return f.name }

func (f *fake) Tools(context.Context) ([]*tool.Tool, error) {
	out := make([]*tool.Tool, len(f.tools))
	for i, t := range f.tools {
		one := *t
		out[i] = &one
	}
	return out, nil
}

func mustSync(t testing.TB, c *fixture, all ...sources.Source) {
	t.Helper()
	if _, err := c.SyncAll(context.Background(), all); err != nil {
		t.Fatal(err)
	}
}

func aTool(server, name, description string) *tool.Tool {
	return &tool.Tool{Server: server, Name: name, Description: description, InputSchema: []byte(`{"type":"object"}`)}
}

func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }
