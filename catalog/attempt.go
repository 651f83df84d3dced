package catalog

import (
	"context"
	"errors"
	"time"

	"tooldex/store"
)

// maxAttempts bounds how often a change is decided again because another process was faster.
const maxAttempts = 20

// crowdedFor is how long after a refused change other processes are assumed to keep changing the store.
const crowdedFor = 5 * time.Second

// attempt calls change, and calls it again while it is refused because another process has changed the store meanwhile.
// From the second time on, change has its turn if the store has turns (store.Queuing). It must then read the state
// again with its ctx. The turn ends when attempt returns, so what needs no turn belongs after attempt. The caller holds
// mu.
func (c *Catalog) attempt(ctx context.Context, change func(ctx context.Context) error) error {
	for n := 1; ; n++ {
		err := change(ctx)
		if !errors.Is(err, store.ErrChanged) || n == maxAttempts {
			return err
		}
		c.crowded = time.Now().Add(crowdedFor)
		queued, leave := store.Queue(ctx, c.o.Store)
		defer leave() // only the first one ends the turn, the others do nothing
		ctx = queued
	}
}

// attemptChange is attempt, but it waits for a turn before the first call if a change was refused lately, since others
// would likely be faster again. The caller holds mu.
func (c *Catalog) attemptChange(ctx context.Context, change func(ctx context.Context) error) error {
	if time.Now().Before(c.crowded) {
		queued, leave := store.Queue(ctx, c.o.Store)
		defer leave()
		ctx = queued
	}
	return c.attempt(ctx, change)
}
