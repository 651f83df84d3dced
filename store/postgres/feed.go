package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// How often the feed looks by itself, since a notification may be lost, and how long it waits before it connects again.
const (
	pollInterval = 5 * time.Second
	firstRetry   = 100 * time.Millisecond
	mostRetry    = time.Second
)

// feed tells of changes that other processes make. It begins when somebody first asks for it.
type feed struct {
	changed chan struct{} // receives a value after changes; one that waits is enough
	background
}

// Changed implements [store.Backend]. The first call begins to listen. While the database is away, the feed connects
// again and again, and it reports a change once it is back.
func (s *Store) Changed() <-chan struct{} {
	s.feed.start(s.follow)
	return s.feed.changed
}

// signal reports a change.
func (f *feed) signal() {
	select {
	case f.changed <- struct{}{}:
	default: // one is waiting
	}
}

// follow listens until ctx ends, on a connection of its own.
func (s *Store) follow(ctx context.Context) {
	retry := firstRetry
	for {
		start := time.Now()
		err := s.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		_ = s.note(s.explain("follow changes", err))
		if time.Since(start) > mostRetry { // it worked for a while
			retry = firstRetry
		}
		wait(ctx, retry)
		retry = min(2*retry, mostRetry)
	}
}

// listen reports changes until an error ends it.
func (s *Store) listen(ctx context.Context) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	own := conn.Hijack() // a connection that listens serves nothing else
	defer func() { _ = own.Close(context.WithoutCancel(ctx)) }()
	if _, err := own.Exec(ctx, `LISTEN `+channel); err != nil {
		return err
	}
	for known := uint64(0); ; {
		h, err := s.lookOn(ctx, own)
		if err != nil {
			return err
		}
		if h.seq != known {
			known = h.seq
			s.feed.signal()
		}
		soon, cancel := context.WithTimeout(ctx, pollInterval)
		_, err = own.WaitForNotification(soon)
		late := soon.Err() != nil
		cancel()
		if err != nil && (!late || ctx.Err() != nil) {
			return err
		}
	}
}

// lookOn reads the row of the tenant on one connection, within a short time.
func (s *Store) lookOn(ctx context.Context, conn *pgx.Conn) (head, error) {
	short, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	h, err := readHead(short, conn, "")
	if err == nil {
		_ = s.note(nil)
	}
	return h, err
}
