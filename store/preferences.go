package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// bucketPreferences holds the preferences of each profile, sealed. It is made when it is first written to, as those of
// kvBucket are.
const bucketPreferences = "preferences"

// keyPreferences is the key of the number of that bucket's last change in the meta bucket. Such a change does not raise
// the generation.
const keyPreferences = "preferences"

// profileKey is the prefix of each key in the bucket: the profile of all tools has no name, and a key cannot be empty.
const profileKey = "profile/"

// Preference is the stored preferences of one profile.
type Preference struct {
	Version uint64 // the number of the change that stored it; never zero
	Value   []byte // opaque; belongs to the caller
}

// Preferences returns the preferences of all profiles by name, and the number of the last change, which is zero before
// the first. If that is known, the map is nil and nothing was read; while the file does not change, such a call costs
// one stat. Damaged entries are left out. The errors are those of [Store.Load].
func (s *Store) Preferences(ctx context.Context, known uint64) (all map[string]Preference, version uint64, err error) {
	if _, version, err = s.readGeneration(ctx); err != nil || version == known {
		return nil, version, err
	}
	err = s.readCurrent(ctx, func(tx *bolt.Tx) error {
		version = readCounter(tx, keyPreferences)
		all = readPreferences(tx, newSnapshot())
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return all, version, nil
}

// SetPreferences stores the preferences of a profile if the stored ones have the version base; zero stands for none. It
// returns the new version, which is on the disk. The error is Unavailable and wraps tool.ErrConflict and [ErrChanged]
// if they have another version by now; other errors are those of [Store.Write].
func (s *Store) SetPreferences(ctx context.Context, profile string, base uint64, value []byte) (version uint64,
	err error,
) {
	key := profileKey + profile
	if len(key) > MaxKey {
		return 0, &tool.Error{
			Code: tool.Invalid, Op: "write store",
			Msg: fmt.Sprintf("a profile named %.80q cannot be stored", profile),
		}
	}
	err = s.writeTx(ctx, func(tx *bolt.Tx) error {
		if err := s.checkLayout(tx); err != nil {
			return err
		}
		if have := readPreferences(tx, newSnapshot())[profile].Version; have != base {
			return &tool.Error{
				Code: tool.Unavailable, Op: "write store", Msg: "the preferences were changed meanwhile",
				Hint: "read them again and repeat", Err: fmt.Errorf("%w: %w", tool.ErrConflict, ErrChanged),
			}
		}
		version = readCounter(tx, keyPreferences) + 1
		return s.putPreferences(tx, map[string]Preference{profile: {Version: version, Value: value}}, version)
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// readPreferences returns copies of all entries, and notes damaged ones in snap.
func readPreferences(tx *bolt.Tx, snap *Snapshot) map[string]Preference {
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

// putPreferences stores each value behind its version, and sets the number of the last change to version.
func (s *Store) putPreferences(tx *bolt.Tx, all map[string]Preference, version uint64) error {
	w := newPutter(s, tx)
	w.useBucket(bucketPreferences)
	for name, p := range all {
		w.putSealed([]byte(profileKey+name), append(binary.BigEndian.AppendUint64(nil, p.Version), p.Value...))
	}
	if err := w.writeSums(); err != nil {
		return err
	}
	return setCounter(tx, keyPreferences, version)
}
