package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// kvBucket names a bucket of opaque, sealed entries. It is made when it is first written to, so a file without it has
// the same layout, and older versions ignore it. The number of its last change has the same name in the meta bucket.
// Such a change does not raise the generation, since it leaves loaded tools valid.
type kvBucket string

// The buckets of notes.
const (
	learnedBucket kvBucket = "learned" // what was learned from use
	countBucket   kvBucket = "counts"  // what was counted of use, by periods of time
)

// readEntries returns copies of all entries and the number of the last change; nil entries if that number is known.
func (s *Store) readEntries(ctx context.Context, n kvBucket, known uint64) (entries map[string][]byte, version uint64,
	err error,
) {
	err = s.readCurrent(ctx, func(tx *bolt.Tx) error {
		if version = readCounter(tx, string(n)); version == known {
			return nil
		}
		entries = n.getAll(tx, newSnapshot())
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return entries, version, nil
}

// changeEntries calls change with the existing entries of keys, puts what it returns, and returns the number of the
// change before and of this one.
func (s *Store) changeEntries(ctx context.Context, n kvBucket, keys []string,
	change func(now map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	err = s.writeTx(ctx, func(tx *bolt.Tx) error {
		if err := s.checkLayout(tx); err != nil {
			return err
		}
		before = readCounter(tx, string(n))
		after = before + 1
		return s.putEntries(tx, n, change(n.getEntries(tx, keys)), after)
	})
	if err != nil {
		return 0, 0, err
	}
	return before, after, nil
}

// getEntries returns copies of the entries of keys. Missing and damaged ones are left out.
func (n kvBucket) getEntries(tx *bolt.Tx, keys []string) map[string][]byte {
	now := map[string][]byte{}
	b := tx.Bucket([]byte(n))
	if b == nil {
		return now
	}
	for _, k := range keys {
		if v := b.Get([]byte(k)); v != nil {
			if payload, err := unsealValue([]byte(k), v); err == nil {
				now[k] = bytes.Clone(payload)
			}
		}
	}
	return now
}

// getAll returns copies of all entries, and notes damaged ones in snap.
func (n kvBucket) getAll(tx *bolt.Tx, snap *Snapshot) map[string][]byte {
	out := map[string][]byte{}
	snap.readBucket(tx, string(n), string(n), func(k, payload []byte) error {
		out[string(k)] = append([]byte{}, payload...)
		return nil
	})
	return out
}

// putEntries puts entries and sets the number of the last change to version; a nil entry is removed.
func (s *Store) putEntries(tx *bolt.Tx, n kvBucket, entries map[string][]byte, version uint64) error {
	w := newPutter(s, tx)
	w.useBucket(string(n))
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		switch {
		case k == "" || len(k) > MaxKey:
			return &tool.Error{
				Code: tool.Invalid, Op: "write store",
				Msg: fmt.Sprintf("an entry named %.80q cannot be stored", k),
			}
		case entries[k] == nil:
			w.deleteKey(k)
		default:
			w.putSealed([]byte(k), entries[k])
		}
	}
	if err := w.writeSums(); err != nil {
		return err
	}
	return setCounter(tx, string(n), version)
}
