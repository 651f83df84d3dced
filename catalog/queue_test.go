package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/internal/pgtest"
	"tooldex/store"
	"tooldex/store/postgres"
	"tooldex/tool"
)

// refusals is a database that counts the writes that it refuses, and how many of these were in their turn.
type refusals struct {
	*postgres.Store
	refused, inTurn *atomic.Int32
}

// hasTurn is the key of what Queue adds to a context.
type hasTurn struct{}

// Queue waits for a turn at the database, and marks the context of a caller that has waited.
func (c refusals) Queue(ctx context.Context) (context.Context, func()) {
	queued, leave := c.Store.Queue(ctx)
	return context.WithValue(queued, hasTurn{}, true), leave
}

// Write writes to the database, and counts refusals.
func (c refusals) Write(ctx context.Context, b *store.Batch) (uint64, error) {
	gen, err := c.Store.Write(ctx, b)
	if errors.Is(err, store.ErrChanged) {
		c.refused.Add(1)
		if ctx.Value(hasTurn{}) != nil {
			c.inTurn.Add(1)
		}
	}
	return gen, err
}

// TestChangesOfManyProcesses has three processes with four writers each change one catalogue: half of the writers edit
// overlays, the others import. All changes are made, and those that were refused are not refused again in their turn.
func TestChangesOfManyProcesses(t *testing.T) {
	const processes, writers, each = 3, 4, 20
	server := pgtest.Start(t)
	var refused, inTurn atomic.Int32
	openOne := func() *Catalog {
		s, err := postgres.Open(t.Context(), server.URL("t"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		o := Options{Store: refusals{s, &refused, &inTurn}, Dir: t.TempDir(), indexer: newTextIndex()}
		c, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	summary := "It reads."
	patch := &sources.Patch{Summary: &summary}
	var all sync.WaitGroup
	for p := range processes {
		c := openOne()
		for w := range writers {
			all.Go(func() {
				name := fmt.Sprintf("w%d-%d", p, w)
				offered := &fake{name: name}
				for i := range each {
					var err error
					one := fmt.Sprint("t", i)
					if w%2 == 0 {
						_, err = c.EditOverlay(t.Context(), "all", tool.MakeID(name, one), patch)
					} else {
						more := &tool.Tool{Server: name, Name: one, Description: "Reads " + one}
						offered.tools = append(offered.tools, more)
						_, err = c.Sync(t.Context(), offered)
					}
					if err != nil {
						t.Errorf("%s: change %d: %v", name, i, err)
					}
				}
			})
		}
	}
	all.Wait()
	t.Logf("%d writes were refused, %d of them in their turn", refused.Load(), inTurn.Load())
	if inTurn.Load() > 0 {
		t.Errorf("%d writes were refused in their turn", inTurn.Load())
	}
	st := openOne().loaded()
	if edited, tools := len(st.overlayNamed("all").Tools), len(st.records); edited != 120 || tools != 120 {
		t.Errorf("%d edits and %d tools are stored, want 120 each", edited, tools)
	}
}
