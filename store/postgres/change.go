package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"tooldex/store"
	"tooldex/tool"
)

// channel is that of the notifications. They carry a number of a change and nothing else, since every role that may
// connect to the database can listen.
const channel = "tooldex"

// keptEvents is how many events of a tenant stay.
const keptEvents = 10_000

// kind says what a change is of. It is the column of head that holds the number of the last such change.
type kind string

// The kinds of changes.
const (
	ofCatalogue   kind = "generation"
	ofPreferences kind = "preferences"
	ofLearned     kind = "learned"
	ofCounts      kind = "counts"
)

// head is the row of the tenant.
type head struct {
	seq     uint64
	numbers map[kind]uint64
	stamp   store.Stamp
}

// readHead reads the row of the tenant. A suffix of the statement may lock it.
func readHead(ctx context.Context, q querier, suffix string) (head, error) {
	var h head
	var catalogue, preferences, learned, counts uint64
	var stamp []byte
	err := q.QueryRow(ctx, `SELECT seq, generation, preferences, learned, counts, stamp FROM head `+suffix).
		Scan(&h.seq, &catalogue, &preferences, &learned, &counts, &stamp)
	if errors.Is(err, pgx.ErrNoRows) {
		return h, &tool.Error{
			Code: tool.Unavailable, Op: "store", Msg: "the state in the database was removed", Hint: "start again", Err: err,
		}
	}
	h.numbers = map[kind]uint64{
		ofCatalogue: catalogue, ofPreferences: preferences, ofLearned: learned, ofCounts: counts,
	}
	copy(h.stamp[:], stamp)
	return h, err
}

// change makes one change of a kind: it locks the tenant, has fn write in the same transaction, raises the number, adds
// the event and notifies the others. Fn gets the head before the change and the number of this one. Change returns the
// number of the last change of this kind and of this one, which is durable. After an error of fn nothing has changed.
func (s *Store) change(ctx context.Context, k kind, fn func(ctx context.Context, tx pgx.Tx, now head, seq uint64) error,
) (before, after uint64, err error) {
	return s.changeAll(ctx, workTimeout, []kind{k}, fn)
}

// changeAll is change for several kinds at once, within a time. The numbers of the kinds begin with seq and are those
// of the first kind when it returns.
func (s *Store) changeAll(ctx context.Context, within time.Duration, kinds []kind,
	fn func(ctx context.Context, tx pgx.Tx, now head, seq uint64) error,
) (before, after uint64, err error) {
	work, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tx, err := s.pool.Begin(work)
	if err != nil {
		return 0, 0, s.note(s.explain("write store", err))
	}
	defer rollBack(ctx, tx) // does nothing after the commit
	now, err := readHead(work, tx, "FOR UPDATE")
	if err == nil {
		before, after = now.numbers[kinds[0]], now.seq+1
		err = fn(work, tx, now, after)
	}
	for i, k := range kinds {
		if err == nil {
			err = recordChange(work, tx, k, after+uint64(i))
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		// A caller that gives up now would not learn whether the change was made.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
		defer cancel()
		err = tx.Commit(last)
	}
	if err != nil {
		return 0, 0, s.note(s.explain("write store", err))
	}
	_ = s.note(nil)
	return before, after, nil
}

// rollBack ends a transaction, also one whose ctx has ended. If the server does not answer within lookTimeout, the
// connection is closed, and the server rolls the transaction back by itself.
func rollBack(ctx context.Context, tx pgx.Tx) {
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	_ = tx.Rollback(short)
}

// recordChange raises the number of a kind to seq, adds the event, and notifies the others when the transaction ends.
func recordChange(ctx context.Context, tx pgx.Tx, k kind, seq uint64) error {
	var b pgx.Batch
	b.Queue(`UPDATE head SET seq = $1, `+string(k)+` = $1`, seq) // a kind is a constant of this file
	if k == ofCatalogue {
		stamp := newStamp()
		b.Queue(`UPDATE head SET stamp = $1`, stamp[:])
	}
	b.Queue(`INSERT INTO event (seq, kind) VALUES ($1, $2)`, seq, string(k))
	b.Queue(`DELETE FROM event WHERE seq <= $1::bigint - $2::bigint`, seq, keptEvents)
	b.Queue(`SELECT pg_notify($1, $2)`, channel, strconv.FormatUint(seq, 10))
	return tx.SendBatch(ctx, &b).Close()
}

// read has fn read in one transaction, which sees one moment.
func (s *Store) read(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return s.readWithin(ctx, workTimeout, fn)
}

// readWithin is read within a time.
func (s *Store) readWithin(ctx context.Context, within time.Duration, fn func(ctx context.Context, tx pgx.Tx) error) error {
	work, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tx, err := s.pool.BeginTx(work, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err == nil {
		defer rollBack(ctx, tx) // nothing was written
		err = fn(work, tx)
	}
	return s.note(s.explain("read store", err))
}

// Generation returns the number of the last change of the catalogue. It asks the database each time.
func (s *Store) Generation(ctx context.Context) (uint64, error) {
	h, err := s.lookAtHead(ctx)
	return h.numbers[ofCatalogue], err
}

// lookAtHead reads the row of the tenant.
func (s *Store) lookAtHead(ctx context.Context) (h head, err error) {
	err = s.look(ctx, func(ctx context.Context) error {
		h, err = readHead(ctx, s.pool, "")
		return err
	})
	return h, err
}

// ReadHead implements [store.Backend].
func (s *Store) ReadHead(ctx context.Context) (out store.Head, err error) {
	err = s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		h, err := readHead(ctx, tx, "")
		if err != nil {
			return err
		}
		snap := newSnapshot()
		if err := readServers(ctx, tx, snap); err != nil {
			return err
		}
		out = store.Head{
			Generation: h.numbers[ofCatalogue], Stamp: h.stamp, Servers: snap.Servers, Damaged: len(snap.Damaged) > 0,
		}
		return nil
	})
	if kept, ok := s.recall(err); ok {
		return kept.Head, nil
	}
	return out, err
}
