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

// kvBucket names a bucket of opaque, sealed entries. It is made when it is first written to, so a file without it has the
// same layout, and older versions pass over it. The number of its last change lies under the same name in the meta
// bucket; such a change does not raise the generation, since what was loaded of tools is still good.
type kvBucket string

// The buckets of notes.
const (
	learnedBucket kvBucket = "learned" // what was learned from use
	countBucket   kvBucket = "counts"  // what was done, by pieces of time
)

// readEntries returns all entries and the number of the last change, or no entries if that is the known one.
func (s *Store) readEntries(ctx context.Context, n kvBucket, known uint64) (entries map[string][]byte, version uint64,
	err error,
) {
	err = s.read(ctx, func(tx *bolt.Tx) error {
		if version = counter(tx, string(n)); version == known {
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

// changeEntries puts what change makes of the entries of keys that there are, and returns the numbers of the changes.
func (s *Store) changeEntries(ctx context.Context, n kvBucket, keys []string,
	change func(now map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	err = s.update(ctx, func(tx *bolt.Tx) error {
		if err := s.checkLayout(tx); err != nil {
			return err
		}
		before = counter(tx, string(n))
		after = before + 1
		return s.putEntries(tx, n, change(n.get(tx, keys)), after)
	})
	if err != nil {
		return 0, 0, err
	}
	return before, after, nil
}

// get returns copies of the entries of keys that there are and that are whole.
func (n kvBucket) get(tx *bolt.Tx, keys []string) map[string][]byte {
	now := map[string][]byte{}
	b := tx.Bucket([]byte(n))
	if b == nil {
		return now
	}
	for _, k := range keys {
		if v := b.Get([]byte(k)); v != nil {
			if payload, err := unseal([]byte(k), v); err == nil {
				now[k] = bytes.Clone(payload)
			}
		}
	}
	return now
}

// getAll copies all entries that are whole, and notes in snap those that are not.
func (n kvBucket) getAll(tx *bolt.Tx, snap *Snapshot) map[string][]byte {
	out := map[string][]byte{}
	snap.readBucket(tx, string(n), string(n), func(k, payload []byte) error {
		out[string(k)] = append([]byte{}, payload...)
		return nil
	})
	return out
}

func (s *Store) putEntries(tx *bolt.Tx, n kvBucket, entries map[string][]byte, version uint64) error {
	w := newPutter(s, tx)
	w.bucket(string(n))
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		switch {
		case k == "" || len(k) > maxKey:
			return &tool.Error{
				Code: tool.Invalid, Op: "write store",
				Msg: fmt.Sprintf("an entry named %.80q cannot be stored", k),
			}
		case entries[k] == nil:
			w.delete(k)
		default:
			w.put([]byte(k), entries[k])
		}
	}
	if err := w.writeSums(); err != nil {
		return err
	}
	return setCounter(tx, string(n), version)
}
