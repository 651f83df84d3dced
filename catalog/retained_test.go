package catalog

import (
	"context"
	"fmt"
	"testing"

	"tooldex/store"
	"tooldex/tool"
	"tooldex/trust"
)

// searched is a new store, and a catalogue that is searched with the built-in model.
func searched(t *testing.T) (*store.Store, Model, *Catalog) {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(context.Background(), Options{Store: s, Model: m, Trust: trust.Options{Servers: []string{"clock"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s, m, c
}

// TestUsed compacts a store from which tools are gone: what is left is made searchable without making anything again.
func TestUsed(t *testing.T) {
	ctx := context.Background()
	s, m, c := searched(t)
	for _, name := range []string{"kept", "gone"} {
		src := &fake{name: name, tools: []*tool.Tool{
			{Name: "read", Description: "Read a file of " + name},
			{Name: "write", Description: "Write a file of " + name},
		}}
		if _, err := c.Sync(ctx, src); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.Compact(ctx, c.Used()); err != nil || out.Vectors+out.Analyses != 0 {
		t.Fatalf("%+v, %v; all is used", out, err)
	}
	if _, err := c.Remove(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	out, err := s.Compact(ctx, c.Used())
	if err != nil || out.Vectors != 2 || out.Analyses != 2 || out.After >= out.Before {
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

// TestOutgrown has a server change what it says of its tools again and again: neither the memory nor the file keeps all
// of it, and a process that opens the file makes nothing again.
func TestOutgrown(t *testing.T) {
	ctx := context.Background()
	s, m, c := searched(t)
	const tools, rounds = 20, 25
	clock := &fake{name: "clock"}
	for round := range rounds {
		clock.tools = nil
		for n := range tools {
			clock.tools = append(clock.tools, &tool.Tool{
				Name:        fmt.Sprint("read_", n),
				Description: fmt.Sprintf("Read clock %d, which shows minute %d", n, round),
			})
		}
		if _, err := c.Sync(ctx, clock); err != nil {
			t.Fatal(err)
		}
		most := mostDerived(tools) + tools // what was made last is counted at the next change
		snap, err := s.Load(ctx, c.o.indexer.view())
		if err != nil {
			t.Fatal(err)
		}
		st := c.st.Load()
		for what, n := range map[string]int{
			"stored vectors": len(snap.Vectors), "stored analyses": len(snap.Analyses),
			"vectors": len(st.derived.vectors), "analyses": len(st.derived.lent),
		} {
			if n > most || n < tools {
				t.Fatalf("round %d: %d %s, at most %d", round, n, what, most)
			}
		}
	}
	gen, err := s.Generation(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Open(ctx, Options{Store: s, Model: m, Trust: trust.Options{Servers: []string{"clock"}}}); err != nil ||
		again.Set().Len() != tools {
		t.Fatalf("%v", err)
	}
	if now, err := s.Generation(ctx); err != nil || now != gen {
		t.Errorf("generation %d, %v; something was made again after %d", now, err, gen)
	}
}
