package main

import (
	"context"

	"tooldex/index"
)

// local is the index itself, which reads all tools for each request.
type local struct {
	snap   *index.Snapshot
	scores []float32
}

func (l *local) name() string { return "all tools read" }

func (l *local) upsert(context.Context, []item) error {
	l.scores = make([]float32, l.snap.Len())
	return nil
}

func (l *local) byVector(_ context.Context, a *ask, n int) ([]int32, error) {
	l.snap.Cosines(a.vector, l.scores)
	return highest(l.scores, n), nil
}

func (l *local) byWords(_ context.Context, a *ask, n int) ([]int32, error) {
	clear(l.scores)
	for _, w := range a.words {
		l.snap.AddWordScores(w.text, w.weight, l.scores, nil)
	}
	return highest(l.scores, n), nil
}
