package catalog

import (
	"context"
	"testing"

	"tooldex/store"
	"tooldex/tool"
)

// TestUsed compacts a store from which tools are gone: what is left is made searchable without making anything again.
func TestUsed(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(ctx, Options{Store: s, Model: m})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kept", "gone"} {
		src := &fileSource{name: name, parse: func() ([]*tool.Tool, []tool.Finding, error) {
			return []*tool.Tool{{Name: "read", Description: "Read a file of " + name}, {Name: "write", Description: "Write a file of " + name}}, nil, nil
		}}
		if _, err := c.Sync(ctx, src); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.Compact(ctx, c.Used()); err != nil || out.Vectors+out.Lent != 0 {
		t.Fatalf("%+v, %v; all is used", out, err)
	}
	if _, err := c.Remove(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	out, err := s.Compact(ctx, c.Used())
	if err != nil || out.Vectors != 2 || out.Lent != 2 || out.After >= out.Before {
		t.Fatalf("%+v, %v; want two of four of each dropped", out, err)
	}
	gen, err := s.Generation(ctx)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(ctx, Options{Store: s, Model: m})
	if err != nil || again.Set().Len() != 2 {
		t.Fatalf("%v", err)
	}
	if now, err := s.Generation(ctx); err != nil || now != gen {
		t.Errorf("generation %d, %v; something was made again after %d", now, err, gen)
	}
}
