package main

import (
	"context"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/index"
	"tooldex/search"
	"tooldex/trust"
)

// use says what a verb needs of the catalogue. Less is opened sooner.
type use int

const (
	toList   use = iota // what is stored, as it is
	toChange            // the same, and what is new is made searchable for others
	toSearch            // all of it, and the index
)

// connect opens the catalogue over the store, and the search over what the catalogue puts into the index. A model that
// the user chose in place of the built-in one takes over once it has embedded all tools. Until then a server answers by
// the built-in one; another verb waits for it, or goes by words alone where it does not answer.
func (a *app) connect(ctx context.Context, s *stack, u use) error {
	o := catalog.Options{Store: s.store, Logger: a.log, Trust: trust.Options{Policy: trust.Off}}
	if s.lasting {
		var err error
		if o.Trust, err = a.trust(); err != nil {
			return err
		}
	}
	p := a.newProgress()
	defer p.end()
	var asks, fallback embed.Embedder // of requests
	if u != toList {
		var err error
		if o.Model, err = a.builtin(); err != nil {
			return err
		}
		if s.chosen, err = a.chosenEmbedder(); err != nil {
			return err
		}
		s.model, asks = o.Model, o.Model.Embedder
		if s.chosen != nil {
			s.model.Embedder, asks, fallback = s.chosen, s.chosen, o.Model.Embedder
			switch {
			case a.serving:
				s.chosen.look(ctx)
			case !a.answers(ctx, s.chosen):
				o.Model.Embedder, asks = nil, nil
			}
		}
		o.Progress = func(done, total int) { p.update("making tools searchable", done, total) }
	}
	if u == toSearch {
		o.Index = &index.Index{}
		s.index = o.Index
	}
	s.learner = a.newLearner(s)
	if u == toSearch {
		s.searching = search.Options{
			Lookup: o.Index, Embedder: asks, Fallback: fallback, Base: o.Model.Base, Map: o.Model.Encoder,
			Servers: &s.running, Usage: s.learner, Learned: s.learner,
		}
		s.engine = search.New(s.searching)
		s.searcher = newInTurn(s.engine, s.chosen != nil)
		if !a.serving { // a server reads it while it answers already
			if err := s.learner.Load(ctx); err != nil {
				return err
			}
		}
	}
	c, err := catalog.Open(ctx, o)
	s.catalog = c
	switch {
	case err != nil || s.chosen == nil || o.Model.Embedder == nil:
	case a.serving:
		s.embedding(ctx, a)
	case u == toSearch:
		a.embedNow(ctx, s)
	}
	return err
}
