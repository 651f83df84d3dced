package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tooldex/store"
	"tooldex/tool"
)

// mostQueued bounds how long a change waits for its turn. It is longer than mostSilence, after which the server ends
// the turn of a process that has vanished.
const mostQueued = 15 * time.Second

// queueLock is the key of the advisory lock of the tenant's queue. The lock of the owner has another seed.
const queueLock = `hashtextextended('tooldex ' || current_setting('tooldex.tenant'), 1)`

var _ store.Queuing = (*Store)(nil)

// turnOf is the key of the turn at a Store in a context.
type turnOf struct{ s *Store }

// turn is the right to change the catalogue before all others. A session holds it as an advisory lock. The server gives
// the lock to waiting sessions in their order, and releases it when a session ends. Only one goroutine may use a turn.
type turn struct {
	s       *Store
	entered bool          // it occupies s.entrance
	conn    *pgxpool.Conn // holds the lock; nil for a turn without one, which competes with other changes
}

// Queue implements [store.Queuing].
func (s *Store) Queue(ctx context.Context) (queued context.Context, leave func()) {
	if t, ok := ctx.Value(turnOf{s}).(*turn); ok {
		if t.conn == nil || t.conn.Ping(ctx) != nil { // the server has ended the session
			t.release(ctx)
			t.take(ctx)
		}
		return ctx, func() {}
	}
	t := &turn{s: s}
	t.take(ctx)
	return context.WithValue(ctx, turnOf{s}, t), func() {
		t.release(ctx)
		if t.entered {
			<-s.entrance
		}
	}
}

// take waits for the lock. If it does not get it, conn stays nil.
func (t *turn) take(ctx context.Context) {
	if t.s.pool.Stat().MaxConns() < 2 { // the change needs a connection beside that of the lock
		return
	}
	// Longer than the server lets a session wait for the lock: if ctx ended first, pgx would close the connection.
	ctx, cancel := context.WithTimeout(ctx, mostQueued+lookTimeout)
	defer cancel()
	if !t.entered {
		select {
		case t.s.entrance <- struct{}{}:
			t.entered = true
		case <-ctx.Done():
			return
		}
	}
	conn, err := t.s.pool.Acquire(ctx)
	if err != nil {
		return
	}
	t.conn = conn
	if err := lockQueue(ctx, conn.Conn()); err != nil {
		t.release(ctx)
	}
}

// lockQueue takes the lock for the session. The server ends the session if it stays idle for mostSilence, because its
// process has vanished, or takes longer than others should wait.
func lockQueue(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('lock_timeout', $1, false),
		set_config('idle_session_timeout', least(nullif(setting::bigint, 0), $2::bigint)::text, false)
		FROM pg_settings WHERE name = 'idle_session_timeout'`,
		strconv.FormatInt(mostQueued.Milliseconds(), 10), mostSilence.Milliseconds())
	if err == nil {
		_, err = conn.Exec(ctx, `SELECT pg_advisory_lock(`+queueLock+`)`)
	}
	return err
}

// release gives the lock back, and the connection to the pool. If the server does not confirm that, release closes the
// connection, so that the server frees the lock when it notices.
func (t *turn) release(ctx context.Context) {
	if t.conn == nil {
		return
	}
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	_, err := t.conn.Exec(short, `SELECT pg_advisory_unlock_all(); RESET lock_timeout; RESET idle_session_timeout`,
		pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		_ = t.conn.Conn().Close(short)
	}
	t.conn.Release()
	t.conn = nil
}

// yield refuses a change in tx while another caller has its turn, unless ctx has a turn itself. A change without a turn
// shares the lock with others of its kind, so that no turn begins before tx ends.
func (s *Store) yield(ctx context.Context, tx pgx.Tx) error {
	if _, ok := ctx.Value(turnOf{s}).(*turn); ok {
		return nil
	}
	var free bool
	err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock_shared(`+queueLock+`)`).Scan(&free)
	if err == nil && !free {
		return &tool.Error{
			Code: tool.Unavailable, Op: "write store", Msg: "another change of " + s.location + " has its turn",
			Hint: "repeat", Err: store.ErrChanged,
		}
	}
	return err
}
