package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// claimInterval is how often a process tries to become the owner, and makes sure that it still is. A process that
// stands still for frozenTimeout is the owner no longer: the server ends its session.
const (
	claimInterval = time.Second
	frozenTimeout = 10 * time.Second
)

// owner is the claim of this process to be the one that works for all. The claim is an advisory lock of a session,
// which the server releases when the session ends, however that happens.
type owner struct {
	mine atomic.Bool
	background
}

// Owner implements [store.Backend]. The first call begins to claim, and so returns false; Close gives the claim up. A
// process that loses its connection may believe for up to claimInterval and lookTimeout that it still is the owner, so
// the work of the owner must do no harm when two do it.
func (s *Store) Owner() bool {
	s.owner.start(s.claim)
	return s.owner.mine.Load()
}

// claim claims until ctx ends.
func (s *Store) claim(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.own(ctx)
		s.owner.mine.Store(false)
		if ctx.Err() == nil {
			_ = s.note(s.explain("claim to work for all", err))
		}
		wait(ctx, claimInterval)
	}
}

// own is the owner, or tries to become it, on a connection of its own until an error ends that.
func (s *Store) own(ctx context.Context) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // the lock belongs to the session
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	// A process that is stopped must not stay the owner. prepareSession ends the sessions of machines that vanish.
	_, err = conn.Exec(ctx, `SELECT set_config('idle_session_timeout', $1, false)`, frozenTimeout.String())
	for ; err == nil && ctx.Err() == nil; wait(ctx, claimInterval) {
		err = s.look(ctx, func(ctx context.Context) error { return s.tryOwn(ctx, conn) })
	}
	return err
}

// tryOwn takes the lock if it is free, and otherwise makes sure that the session still is there.
func (s *Store) tryOwn(ctx context.Context, conn *pgx.Conn) error {
	if s.owner.mine.Load() {
		return conn.Ping(ctx)
	}
	var got bool
	err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended('tooldex ' || current_setting('tooldex.tenant'), 0))`).
		Scan(&got)
	s.owner.mine.Store(err == nil && got)
	return err
}

// wait returns after d, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// background is a goroutine that begins at most once, and ends with close. The zero value is ready.
type background struct {
	mu   sync.Mutex
	stop func() // ends the goroutine and waits for it; nil before start; guarded by mu
	done bool   // close was called; guarded by mu
}

// start begins the goroutine, unless it has begun or close was called.
func (b *background) start(run func(context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop != nil || b.done {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	tasks.Go(func() { run(ctx) })
	b.stop = func() {
		cancel()
		tasks.Wait()
	}
}

// close ends the goroutine and waits for it.
func (b *background) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop != nil && !b.done {
		b.stop()
	}
	b.done = true
}
