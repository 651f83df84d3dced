package catalog

import (
	"context"
	"fmt"
	"time"

	"tooldex/embed"
	"tooldex/knowledge"
	"tooldex/store"
	"tooldex/tool"
)

// Use makes the tools searchable by another model, while the one in use continues to answer, and then puts the other in
// its place. It blocks, as long as embedding takes, and keeps neither readers nor changes waiting for more than the
// last step. Progress may be nil; it is called on the caller's goroutine.
//
// From then on, what comes new or changes is found by words until Use is called again: a model that may be slow or gone
// keeps no change waiting. So call it now and then; when nothing is missing, or there are no tools, it does nothing.
//
// What is embedded is stored as it comes, so that a call that was stopped or that failed continues where it ended when
// it is made again, also by another process. The error is Timeout when ctx ends first, that of the model, or one of the
// store; then the model in use stays.
func (c *Catalog) Use(ctx context.Context, m Model, progress func(done, total int)) error {
	if m.Embedder == nil {
		return &tool.Error{Code: tool.Invalid, Op: "use model", Msg: "there is no embedding model to use"}
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	if m.Embedder.Model().Dims == 0 { // a remote one that was not asked yet
		if _, err := m.Embedder.Queries(ctx, []string{"probe"}); err != nil {
			return contextError(ctx, fmt.Errorf("ask the embedding model: %w", err))
		}
	}
	next := &searchable{m: m, to: c.o.Index, embedLater: true}
	if len(c.loaded().entries) == 0 || c.isUsing(next) {
		return nil
	}
	for lacked := 1; lacked > 0; { // again for what came meanwhile
		var err error
		if lacked, err = c.embedAhead(ctx, m.Embedder, next.view(), progress); err != nil {
			return contextError(ctx, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.o.indexer
	c.o.indexer, c.saved = next, 0
	if err := c.loadState(ctx, anew); err != nil {
		c.o.indexer = before
		return contextError(ctx, err)
	}
	return nil
}

// contextError returns a Timeout if the context has ended, and err otherwise.
func contextError(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return &tool.Error{
		Code: tool.Timeout, Op: "use model", Msg: "stopped before all tools were embedded",
		Hint: "what is embedded is kept; the next attempt continues from there", Err: err,
	}
}

// isUsing reports whether the model of next is in use, and every tool has its vector.
func (c *Catalog) isUsing(next *searchable) bool {
	c.mu.Lock()
	now, ok := c.o.indexer.(*searchable)
	c.mu.Unlock()
	st := c.loaded()
	model := next.view().Model.Fingerprint
	if !ok || now.m.Embedder != next.m.Embedder || st.derived.model != model {
		return false
	}
	for _, e := range st.entries {
		h, _ := textOf(st.derived.lent[e.hash])
		if _, ok := st.derived.vectors[h]; !ok {
			return false
		}
	}
	return true
}

// embedStep is how many tools are embedded in one call of the model, and saveEvery how often the vectors are stored
// meanwhile.
const (
	embedStep = 64
	saveEvery = 2 * time.Second
)

// embedAhead stores a vector of the model of view for each tool that has none, and returns how many had none. It does
// not hold the lock of the catalogue.
func (c *Catalog) embedAhead(ctx context.Context, by embed.Embedder, view store.View,
	progress func(done, total int),
) (int, error) {
	snap, err := c.o.Store.Load(ctx, store.View{Model: view.Model})
	if err != nil {
		return 0, err
	}
	docs, hashes := textsWithoutVectors(c.loaded().entries, snap.Vectors)
	made, saved := map[store.TextHash]store.Vector{}, c.o.now()
	save := func() error {
		if len(made) == 0 {
			return nil
		}
		// What took long to make is kept, also when the time is up.
		_, err := c.o.Store.Write(context.WithoutCancel(ctx), &store.Batch{Model: view.Model, Vectors: made})
		made, saved = map[store.TextHash]store.Vector{}, c.o.now()
		return err
	}
	for start := 0; start < len(docs); start += embedStep {
		end := min(start+embedStep, len(docs))
		model := embed.Model{Name: view.Model.Name, Dims: view.Model.Dims, Fingerprint: view.Model.Fingerprint}
		err := embedInto(ctx, by, model, docs[start:end], hashes[start:end], made)
		if err == nil && c.o.now().Sub(saved) < saveEvery && end < len(docs) {
			progress(end, len(docs))
			continue
		}
		if saveErr := save(); saveErr != nil {
			return 0, saveErr
		}
		if err != nil {
			return 0, err
		}
		progress(end, len(docs))
	}
	return len(docs), nil
}

// textsWithoutVectors returns the texts that have no vector, each once, and their hashes in the same order.
func textsWithoutVectors(
	entries []entry, have map[store.TextHash]store.Vector,
) (docs []embed.Document, hashes []store.TextHash) {
	texts := make([]embed.Document, len(entries))
	inParallel(len(entries), func() func(i int) {
		return func(i int) { texts[i] = knowledge.ToolText(entries[i].tool) }
	})
	seen := map[store.TextHash]bool{}
	for i := range texts {
		h := hashText(&texts[i])
		if _, ok := have[h]; ok || seen[h] {
			continue
		}
		seen[h] = true
		docs, hashes = append(docs, texts[i]), append(hashes, h)
	}
	return docs, hashes
}
