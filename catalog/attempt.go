package catalog

import (
	"context"
	"errors"
	"time"

	"tooldex/store"
)

// maxAttempts bounds how often a change is decided again because another process was faster.
const maxAttempts = 20

// crowdedFor is how long after a change was refused others are taken to change the store all the time.
const crowdedFor = 5 * time.Second

// attempt calls change until it is not refused because another process has changed the store since it was decided. From
// the second time on, change has its turn where the store has turns, and must read the state again with its ctx. What
// needs no turn belongs after attempt. The caller holds mu.
func (c *Catalog) attempt(ctx context.Context, change func(ctx context.Context) error) error {
	for n := 1; ; n++ {
		err := change(ctx)
		if !errors.Is(err, store.ErrChanged) || n == maxAttempts {
			return err
		}
		c.crowded = time.Now().Add(crowdedFor)
		queued, leave := store.Queue(ctx, c.o.Store)
		defer leave()
		ctx = queued
	}
}

// attemptChange is attempt that waits for a turn at once if a change was refused lately: the first decision would likely
// be in vain.
func (c *Catalog) attemptChange(ctx context.Context, change func(ctx context.Context) error) error {
	if time.Now().Before(c.crowded) {
		queued, leave := store.Queue(ctx, c.o.Store)
		defer leave()
		ctx = queued
	}
	return c.attempt(ctx, change)
}
