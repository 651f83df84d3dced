package main

import (
	"context"
	"fmt"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/search"
)

// connect opens the catalogue over the store and the search over the catalogue.
func (a *app) connect(ctx context.Context, s *stack) error {
	model, err := embed.Builtin()
	if err != nil {
		return fmt.Errorf("open the built-in model: %w", err)
	}
	_ = model
	p := a.newProgress()
	defer p.end()
	c, err := catalog.Open(ctx, catalog.Options{
		Store: s.store, Logger: a.log,
		Progress: func(done, total int) { p.update("making tools searchable", done, total) },
	})
	if err != nil {
		return err
	}
	s.catalog = c
	s.engine = search.New(search.Options{})
	return nil
}
