package postgres

import (
	"context"
	"sync"
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
	begin   sync.Once
	stop    func() // ends the goroutine and waits for it; nil before begin
	mu      sync.Mutex
	closed  bool // guarded by mu, as stop
}

// Changed implements [store.Backend]. The first call begins to listen. While the database is away, the feed connects
// again and again, and it reports a change once it is back.
func (s *Store) Changed() <-chan struct{} {
	s.feed.begin.Do(func() {
		s.feed.mu.Lock()
		defer s.feed.mu.Unlock()
		if s.feed.closed {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() { s.follow(ctx) })
		s.feed.stop = func() {
			cancel()
			done.Wait()
		}
	})
	return s.feed.changed
}

// close ends the feed.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.stop != nil {
		f.stop()
	}
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
		select {
		case <-ctx.Done():
			return
		case <-time.After(retry):
			retry = min(2*retry, mostRetry)
		}
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
		wait, cancel := context.WithTimeout(ctx, pollInterval)
		_, err = own.WaitForNotification(wait)
		late := wait.Err() != nil
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
