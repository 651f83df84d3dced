package limit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1, 1, time.Second)
		leave, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan error, 1)
		enter := func(ctx context.Context) {
			leave, err := g.Enter(ctx)
			if err == nil {
				leave()
			}
			waited <- err
		}
		go enter(t.Context())
		synctest.Wait()
		if g.Waits() != 1 {
			t.Errorf("%d wait, want 1", g.Waits())
		}
		if _, err := g.Enter(t.Context()); !errors.Is(err, ErrFull) {
			t.Errorf("beyond those who may wait: %v", err)
		}
		leave()
		if err := <-waited; err != nil {
			t.Errorf("whoever waits comes in: %v", err)
		}
		if leave, err = g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		go enter(t.Context())
		if err := <-waited; !errors.Is(err, ErrLate) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go enter(ctx)
		synctest.Wait()
		cancel()
		if err := <-waited; !errors.Is(err, context.Canceled) || g.Waits() != 0 {
			t.Errorf("whoever gives up: %v, and %d wait", err, g.Waits())
		}
		leave()
	})
}
