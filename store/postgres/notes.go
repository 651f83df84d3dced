package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tooldex/store"
	"tooldex/tool"
)

// Preferences implements [store.Backend].
func (s *Store) Preferences(ctx context.Context, known uint64) (all map[string]store.Preference, version uint64, err error) {
	h, err := s.lookAtHead(ctx)
	if kept, ok := s.recall(err); ok {
		if kept.Version == known {
			return nil, known, nil
		}
		return kept.Preferences, kept.Version, nil
	}
	if version = h.numbers[ofPreferences]; err != nil || version == known {
		if err == nil {
			s.rememberPreferences(nil, version)
		}
		return nil, version, err
	}
	err = s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		h, err := readHead(ctx, tx, "")
		if err != nil {
			return err
		}
		version, all = h.numbers[ofPreferences], map[string]store.Preference{}
		rows, err := tx.Query(ctx, `SELECT profile, version, value FROM preference`)
		if err != nil {
			return err
		}
		var name string
		var p store.Preference
		_, err = pgx.ForEachRow(rows, []any{&name, &p.Version, &p.Value}, func() error {
			all[name] = store.Preference{Version: p.Version, Value: copyOf(p.Value)}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	s.rememberPreferences(all, version)
	return all, version, nil
}

// SetPreferences implements [store.Backend].
func (s *Store) SetPreferences(ctx context.Context, profile string, base uint64, value []byte) (uint64, error) {
	if err := checkName("a profile", profile, store.MaxKey-len("profile/")); err != nil {
		return 0, err
	}
	_, version, err := s.change(ctx, ofPreferences, func(ctx context.Context, tx pgx.Tx, _ head, seq uint64) error {
		var have uint64
		err := tx.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM preference WHERE profile = $1`, profile).Scan(&have)
		if err != nil {
			return err
		}
		if have != base {
			return &tool.Error{
				Code: tool.Unavailable, Op: "write store", Msg: "the preferences were changed meanwhile",
				Hint: "read them again and repeat", Err: fmt.Errorf("%w: %w", tool.ErrConflict, store.ErrChanged),
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO preference (profile, version, value) VALUES ($1, $2, $3)
			ON CONFLICT (tenant, profile) DO UPDATE SET version = excluded.version, value = excluded.value`,
			profile, seq, copyOf(value))
		return err
	})
	return version, err
}

// checkName refuses a name that is longer than most bytes.
func checkName(what, name string, most int) error {
	if len(name) <= most {
		return nil
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "write store", Msg: fmt.Sprintf("%s named %.80q cannot be stored", what, name),
	}
}

// Learned implements [store.Backend].
func (s *Store) Learned(ctx context.Context, known uint64) (map[string][]byte, uint64, error) {
	return s.readEntries(ctx, ofLearned, known)
}

// ChangeLearned implements [store.Backend].
func (s *Store) ChangeLearned(ctx context.Context, keys []string, change func(now map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	return s.changeEntries(ctx, ofLearned, keys, change)
}

// Counts implements [store.Backend].
func (s *Store) Counts(ctx context.Context, known uint64) (map[string][]byte, uint64, error) {
	return s.readEntries(ctx, ofCounts, known)
}

// ChangeCounts implements [store.Backend].
func (s *Store) ChangeCounts(ctx context.Context, keys []string, change func(now map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	return s.changeEntries(ctx, ofCounts, keys, change)
}

// readEntries returns all entries of a kind and the number of its last change; nil entries if that number is known.
func (s *Store) readEntries(ctx context.Context, k kind, known uint64) (entries map[string][]byte, version uint64, err error) {
	h, err := s.lookAtHead(ctx)
	if version = h.numbers[k]; err != nil || version == known {
		return nil, version, err
	}
	err = s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		h, err := readHead(ctx, tx, "")
		if err != nil {
			return err
		}
		version = h.numbers[k]
		entries, err = selectEntries(ctx, tx, `SELECT key, value FROM entry WHERE kind = $1`, string(k))
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return entries, version, nil
}

// selectEntries returns copies of the entries of a query.
func selectEntries(ctx context.Context, tx pgx.Tx, sql string, args ...any) (map[string][]byte, error) {
	out := map[string][]byte{}
	return out, eachRow(ctx, tx, newSnapshot(), "entry", func(k, v []byte) error {
		out[string(k)] = copyOf(v)
		return nil
	}, sql, args...)
}

// changeEntries puts what change makes of the entries of keys; a nil entry is removed. The lock of the tenant keeps
// other processes from coming between.
func (s *Store) changeEntries(ctx context.Context, k kind, keys []string,
	change func(now map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	return s.change(ctx, k, func(ctx context.Context, tx pgx.Tx, _ head, _ uint64) error {
		asked := make([][]byte, len(keys))
		for i, key := range keys {
			asked[i] = []byte(key)
		}
		now := map[string][]byte{}
		if len(asked) > 0 {
			var err error
			now, err = selectEntries(ctx, tx, `SELECT key, value FROM entry WHERE kind = $1 AND key = ANY($2)`, string(k), asked)
			if err != nil {
				return err
			}
		}
		entries, gone := newRows[[]byte](0), [][]byte{}
		for key, value := range change(now) {
			if key == "" {
				return &tool.Error{Code: tool.Invalid, Op: "write store", Msg: "an entry without a name cannot be stored"}
			}
			if err := checkName("an entry", key, store.MaxKey); err != nil {
				return err
			}
			if value == nil {
				gone = append(gone, []byte(key))
			} else {
				entries.put([]byte(key), value)
			}
		}
		w := &writer{ctx: ctx, tx: tx}
		remove(w, `DELETE FROM entry WHERE key = ANY($1) AND kind = $2`, gone, string(k))
		put(w, putEntries, entries, string(k))
		return w.err
	})
}
