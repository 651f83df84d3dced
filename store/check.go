package store

import (
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"
)

// Check reads the whole file, verifies every checksum and decodes every value, of all models and versions, and has
// bbolt verify its pages. It holds the shared lock meanwhile. The error joins all that was found, and wraps
// [ErrDamaged]; nil means that the file is consistent.
func (s *Store) Check(ctx context.Context) error {
	return s.readCurrent(ctx, s.checkTx)
}

// checkTx is Check in a transaction.
func (s *Store) checkTx(tx *bolt.Tx) error {
	snap := newSnapshot()
	if err := snap.readPages(tx.DB()); err != nil {
		return err
	}
	snap.readCounters(tx)
	snap.readTools(tx, nil)
	snap.readRest(tx)
	learnedBucket.getAll(tx, snap)
	countBucket.getAll(tx, snap)
	readPreferences(tx, snap)
	for _, name := range []string{bucketVectors, bucketAnalyses} {
		outer := tx.Bucket([]byte(name))
		if err := outer.ForEachBucket(func(k []byte) error {
			snap.readValues(outer.Bucket(k), name, func([]byte, []byte) error { return nil })
			return nil
		}); err != nil {
			return err
		}
	}
	var found []error
	for _, d := range snap.Damaged {
		found = append(found, errors.New(d.String()))
	}
	// It runs on its own goroutine, where a fault could not be caught, so it comes after the walk above.
	for err := range tx.Check() {
		found = append(found, err)
	}
	if len(found) > 0 {
		return s.damagedError(errors.Join(found...))
	}
	return nil
}
