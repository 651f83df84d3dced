package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// bucketLearned holds what was learned from use, opaque and sealed. It is made when it is first written to, so a file without
// it has the same layout, and older versions pass over it.
const bucketLearned = "learned"

// keyLearned is where the number of the last change of that bucket lies. Such a change does not raise the generation: what
// was loaded of tools is still good.
const keyLearned = "learned"

// Learned returns all that was learned from use, by key, and the number of its last change, which is zero before the first. If
// the last change is the known one, the entries are nil and nothing is read. Entries that are damaged are left out. The errors are
// those of [Store.Load].
func (s *Store) Learned(ctx context.Context, known uint64) (entries map[string][]byte, version uint64, err error) {
	err = s.read(ctx, func(tx *bolt.Tx) error {
		if version = learnedVersion(tx); version == known {
			return nil
		}
		entries = learnedEntries(tx, newSnapshot())
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return entries, version, nil
}

// ChangeLearned calls change with those entries of keys that there are, and puts what it returns, in one transaction that nothing
// comes between: nil takes an entry away. When the error is nil, it is on the disk. It returns the numbers of the change before
// and of this one. The errors are those of [Store.Write]; change must not call the Store.
func (s *Store) ChangeLearned(ctx context.Context, keys []string, change func(now map[string][]byte) map[string][]byte) (before, after uint64, err error) {
	err = s.update(ctx, func(tx *bolt.Tx) error {
		if err := s.current(tx); err != nil {
			return err
		}
		before = learnedVersion(tx)
		now := learnedOf(tx, keys)
		after = before + 1
		return s.putLearned(tx, change(now), after)
	})
	if err != nil {
		return 0, 0, err
	}
	return before, after, nil
}

func learnedVersion(tx *bolt.Tx) uint64 { return counter(tx, keyLearned) }

// learnedOf returns copies of the entries of keys that there are and that are whole.
func learnedOf(tx *bolt.Tx, keys []string) map[string][]byte {
	now := map[string][]byte{}
	b := tx.Bucket([]byte(bucketLearned))
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

// learnedEntries copies all entries that are whole, and notes in snap those that are not.
func learnedEntries(tx *bolt.Tx, snap *Snapshot) map[string][]byte {
	out := map[string][]byte{}
	snap.each(tx.Bucket([]byte(bucketLearned)), bucketLearned, func(k, payload []byte) error {
		out[string(k)] = append([]byte{}, payload...)
		return nil
	})
	return out
}

func (s *Store) putLearned(tx *bolt.Tx, entries map[string][]byte, version uint64) error {
	b, err := tx.CreateBucketIfNotExists([]byte(bucketLearned))
	w := &putter{s: s, tx: tx, b: b, err: err}
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		switch {
		case k == "" || len(k) > maxKey:
			return &tool.Error{Code: tool.Invalid, Op: "write store", Msg: fmt.Sprintf("an entry named %.80q cannot be stored", k)}
		case entries[k] == nil:
			w.delete(k)
		default:
			w.put([]byte(k), entries[k])
		}
	}
	if w.err != nil {
		return w.err
	}
	return tx.Bucket([]byte(bucketMeta)).Put([]byte(keyLearned), binary.BigEndian.AppendUint64(nil, version))
}
