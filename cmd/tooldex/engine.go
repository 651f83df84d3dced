package main

import (
	"context"

	"tooldex/catalog"
	"tooldex/index"
	"tooldex/search"
)

// use says what a verb needs of the catalogue. Less is opened sooner.
type use int

const (
	toList   use = iota // what is stored, as it is
	toChange            // the same, and what is new is made searchable for others
	toSearch            // all of it, and the index
)

// connect opens the catalogue over the store, and the search over what the catalogue puts into the index.
func (a *app) connect(ctx context.Context, s *stack, u use) error {
	o := catalog.Options{Store: s.store, Logger: a.log}
	if u != toList {
		model, err := a.model(ctx)
		if err != nil {
			return err
		}
		p := a.newProgress()
		defer p.end()
		o.Model = model
		o.Progress = func(done, total int) { p.update("making tools searchable", done, total) }
	}
	if u == toSearch {
		o.Index = &index.Index{}
		s.index, s.model = o.Index, o.Model
	}
	s.learner = a.newLearner(s)
	if u == toSearch {
		s.engine = search.New(search.Options{
			Lookup: o.Index, Embedder: o.Model.Embedder, Base: o.Model.Base, Map: o.Model.Encoder, Servers: &s.running, Usage: s.learner, Learned: s.learner,
		})
		if !a.serving { // a server reads it while it answers already
			if err := s.learner.Load(ctx); err != nil {
				return err
			}
		}
	}
	c, err := catalog.Open(ctx, o)
	s.catalog = c
	return err
}
