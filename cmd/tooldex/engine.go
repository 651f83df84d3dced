package main

import (
	"context"

	"tooldex/catalog"
	"tooldex/index"
	"tooldex/search"
)

// connect opens the catalogue over the store, and the search over what the catalogue puts into the index.
func (a *app) connect(ctx context.Context, s *stack) error {
	model, err := catalog.BuiltinModel()
	if err != nil {
		return err
	}
	p := a.newProgress()
	defer p.end()
	current := &index.Index{}
	s.catalog, err = catalog.Open(ctx, catalog.Options{
		Store: s.store, Logger: a.log, Model: model, Index: current,
		Progress: func(done, total int) { p.update("making tools searchable", done, total) },
	})
	if err != nil {
		return err
	}
	s.engine = search.New(search.Options{Lookup: current, Embedder: model.Embedder, Base: model.Base, Map: model.Encoder})
	return nil
}
