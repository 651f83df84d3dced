package main

import (
	"context"

	"tooldex/learn"
	"tooldex/tool"
)

// learning is what a learner needs of a stack, which is made after it.
type learning struct{ s *stack }

// Read reads a request as the search does.
func (l learning) Read(ctx context.Context, text string, n int) (*tool.Reading, error) {
	return l.s.engine.Read(ctx, text, n)
}

// Set returns the tools of this moment, nil while they are being read.
func (l learning) Set() *tool.Set {
	if l.s.catalog == nil {
		return nil
	}
	return l.s.catalog.Set()
}

// newLearner returns what learns from the use of a stack. It has read nothing yet.
func (a *app) newLearner(s *stack) *learn.Learner {
	o := learn.Options{
		Disk: s.store, Reader: learning{s}, Catalog: learning{s},
		KeepText: a.learnText || isTrue(a.getenv("TOOLDEX_LEARN_TEXT")), Logger: a.log,
	}
	if s.model.Embedder != nil {
		o.Model = s.model.Embedder.Model().Fingerprint
	}
	return learn.New(o)
}

// isTrue reads a variable of the environment that switches something on.
func isTrue(s string) bool {
	switch s {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}
