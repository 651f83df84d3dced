package catalog_test

import (
	"context"
	"fmt"
	"os"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "catalog")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()

	s, err := store.Open(dir, store.Options{})
	if err != nil {
		panic(err)
	}
	c, err := catalog.Open(ctx, catalog.Options{Store: s})
	if err != nil {
		panic(err)
	}
	content, err := sources.Parse("notes.json", []byte(`{"tools": [{"name": "add_note", "description": "Writes a note down.", "inputSchema": {"type": "object"}}]}`))
	if err != nil {
		panic(err)
	}
	for range 2 {
		reports, err := c.SyncAll(ctx, content.Sources)
		if err != nil {
			panic(err)
		}
		for _, r := range reports {
			fmt.Printf("%s: %d new, %d as before\n", r.Source, len(r.Added), r.Unchanged)
		}
	}
	for _, t := range c.Set().All() {
		fmt.Printf("%s: %s\n", t.ID(), t.Summary)
	}
	// Output:
	// notes: 1 new, 0 as before
	// notes: 0 new, 1 as before
	// notes/add_note: Writes a note down
}
