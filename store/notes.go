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

// notes names a bucket of opaque, sealed entries. It is made when it is first written to, so a file without it has the
// same layout, and older versions pass over it. The number of its last change lies under the same name in the meta
// bucket; such a change does not raise the generation, since what was loaded of tools is still good.
type notes string

// The buckets of notes.
const (
	learnedNotes notes = "learned" // what was learned from use
	countNotes   notes = "counts"  // what was done, by pieces of time
)

// readNotes returns all entries and the number of the last change, or no entries if that is the known one.
func (s *Store) readNotes(ctx context.Context, n notes, known uint64) (entries map[string][]byte, version uint64,
	err error,
) {
	err = s.read(ctx, func(tx *bolt.Tx) error {
		if version = counter(tx, string(n)); version == known {
			return nil
		}
		entries = n.all(tx, newSnapshot())
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return entries, version, nil
}

// changeNotes puts what change makes of the entries of keys that there are, and returns the numbers of the changes.
func (s *Store) changeNotes(ctx context.Context, n notes, keys []string,
	change func(now map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	err = s.update(ctx, func(tx *bolt.Tx) error {
		if err := s.current(tx); err != nil {
			return err
		}
		before = counter(tx, string(n))
		after = before + 1
		return s.putNotes(tx, n, change(n.of(tx, keys)), after)
	})
	if err != nil {
		return 0, 0, err
	}
	return before, after, nil
}

// of returns copies of the entries of keys that there are and that are whole.
func (n notes) of(tx *bolt.Tx, keys []string) map[string][]byte {
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

// all copies all entries that are whole, and notes in snap those that are not.
func (n notes) all(tx *bolt.Tx, snap *Snapshot) map[string][]byte {
	out := map[string][]byte{}
	snap.each(tx, string(n), string(n), func(k, payload []byte) error {
		out[string(k)] = append([]byte{}, payload...)
		return nil
	})
	return out
}

func (s *Store) putNotes(tx *bolt.Tx, n notes, entries map[string][]byte, version uint64) error {
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
	if err := w.end(); err != nil {
		return err
	}
	return setCounter(tx, string(n), version)
}
