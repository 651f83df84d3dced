package main

import "context"

// item is a tool as an engine takes it.
type item struct {
	doc    int32 // the number of the tool in the index
	vector []float32
	words  []word
}

// word is a term of a tool or of a request.
type word struct {
	id     int32 // of the term in the dictionary of the index
	text   string
	weight float32 // in a tool, the BM25F impact without the rarity; in a request, how much the term counts
	rarity float32
}

// ask is what candidates are asked for: the tools nearest to a vector, and those that the words fit best.
type ask struct {
	vector []float32
	words  []word
}

// engine gives candidates. It is used by one goroutine.
type engine interface {
	name() string
	// upsert puts tools, and returns when all of them can be found.
	upsert(ctx context.Context, items []item) error
	// byVector and byWords return the n best tools of one branch, best first, or fewer. A branch that an engine does
	// not have returns none.
	byVector(ctx context.Context, a *ask, n int) ([]int32, error)
	byWords(ctx context.Context, a *ask, n int) ([]int32, error)
}
