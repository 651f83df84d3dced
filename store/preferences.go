package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// bucketPreferences holds what each profile prefers, sealed. Like that of what was learned, it is made when it is first
// written to.
const bucketPreferences = "preferences"

// keyPreferences is where the number of the last change of that bucket lies. Such a change does not raise the
// generation.
const keyPreferences = "preferences"

// profileKey begins each key of the bucket, since the profile of all tools has no name and a key cannot be empty.
const profileKey = "profile/"

// Preference is what one profile prefers, as it was stored.
type Preference struct {
	Version uint64 // the number of the change that stored it; never zero
	Value   []byte // opaque; belongs to the caller
}

// Preferences returns what all profiles prefer, by their name, and the number of the last change, which is zero before
// the first. If that is the known one, the map is nil and nothing was read; while the file rests, such a call costs one
// stat. Entries that are damaged are left out. The errors are those of [Store.Load].
func (s *Store) Preferences(ctx context.Context, known uint64) (all map[string]Preference, version uint64, err error) {
	if _, version, err = s.readGeneration(ctx); err != nil || version == known {
		return nil, version, err
	}
	err = s.read(ctx, func(tx *bolt.Tx) error {
		version = counter(tx, keyPreferences)
		all = preferences(tx, newSnapshot())
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return all, version, nil
}

// SetPreferences stores what a profile prefers, if what is stored has the version base; zero stands for none stored. It
// returns the new version, and is on the disk then. The error wraps tool.ErrConflict and [ErrChanged], with code Unavailable, when another
// has changed it since; the others are those of [Store.Write].
func (s *Store) SetPreferences(ctx context.Context, profile string, base uint64, value []byte) (version uint64,
	err error,
) {
	key := profileKey + profile
	if len(key) > maxKey {
		return 0, &tool.Error{
			Code: tool.Invalid, Op: "write store",
			Msg: fmt.Sprintf("a profile named %.80q cannot be stored", profile),
		}
	}
	err = s.update(ctx, func(tx *bolt.Tx) error {
		if err := s.checkLayout(tx); err != nil {
			return err
		}
		if have := preferences(tx, newSnapshot())[profile].Version; have != base {
			return &tool.Error{
				Code: tool.Unavailable, Op: "write store", Msg: "the preferences were changed meanwhile",
				Hint: "read them again and repeat", Err: fmt.Errorf("%w: %w", tool.ErrConflict, ErrChanged),
			}
		}
		version = counter(tx, keyPreferences) + 1
		return s.putPreferences(tx, map[string]Preference{profile: {Version: version, Value: value}}, version)
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// preferences copies all entries that are whole, and notes in snap those that are not.
func preferences(tx *bolt.Tx, snap *Snapshot) map[string]Preference {
	out := map[string]Preference{}
	snap.readBucket(tx, bucketPreferences, bucketPreferences, func(k, payload []byte) error {
		name, ok := bytes.CutPrefix(k, []byte(profileKey))
		if !ok || len(payload) < 8 {
			return errTruncated
		}
		out[string(name)] = Preference{Version: binary.BigEndian.Uint64(payload), Value: bytes.Clone(payload[8:])}
		return nil
	})
	return out
}

func (s *Store) putPreferences(tx *bolt.Tx, all map[string]Preference, version uint64) error {
	w := newPutter(s, tx)
	w.bucket(bucketPreferences)
	for name, p := range all {
		w.put([]byte(profileKey+name), append(binary.BigEndian.AppendUint64(nil, p.Version), p.Value...))
	}
	if err := w.writeSums(); err != nil {
		return err
	}
	return setCounter(tx, keyPreferences, version)
}
