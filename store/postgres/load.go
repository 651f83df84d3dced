package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tooldex/store"
	"tooldex/tool"
	"tooldex/upstream"
)

// movedAtOnce is how many records LoadMoving gives away at a time.
const movedAtOnce = 1024

// Load implements [store.Backend].
func (s *Store) Load(ctx context.Context, v store.View) (*store.Snapshot, error) {
	return s.LoadMoving(ctx, v, nil)
}

// LoadMoving implements [store.Backend].
func (s *Store) LoadMoving(ctx context.Context, v store.View, move func(part []store.Record)) (*store.Snapshot, error) {
	snap := newSnapshot()
	err := s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		h, err := readHead(ctx, tx, "")
		if err != nil {
			return err
		}
		snap.Generation = h.numbers[ofCatalogue]
		return errors.Join(readTools(ctx, tx, snap, move), readServers(ctx, tx, snap), readRest(ctx, tx, snap),
			readDerived(ctx, tx, snap, v))
	})
	if err != nil {
		return nil, err
	}
	return snap, nil
}

// newSnapshot returns a Snapshot without tools, whose maps can be written to.
func newSnapshot() *store.Snapshot {
	return &store.Snapshot{
		Vectors: map[store.TextHash]store.Vector{}, Analyses: map[tool.Hash][]byte{},
		Sources: map[string]store.SourceState{}, Overlays: map[string][]byte{}, Trust: map[tool.ID][]byte{},
	}
}

// eachRow calls fn with the key and the value of each row that a query returns. They are valid until fn returns. What
// fn cannot read is noted in snap as damaged.
func eachRow(ctx context.Context, tx pgx.Tx, snap *store.Snapshot, what string, fn func(key, value []byte) error,
	sql string, args ...any,
) error {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		raw := rows.RawValues() // of text and bytea, these are the bytes
		if err := fn(raw[0], raw[1]); err != nil {
			snap.Damaged = append(snap.Damaged, store.Damage{Kind: what, Key: printable(raw[0]), Err: err})
		}
	}
	return rows.Err()
}

// printable returns names as they are, and hashes in hexadecimal.
func printable(key []byte) string {
	for _, c := range key {
		if c < ' ' || c > '~' {
			return fmt.Sprintf("%x", key)
		}
	}
	return string(key)
}

// readTools reads the records by ID.
func readTools(ctx context.Context, tx pgx.Tx, snap *store.Snapshot, move func([]store.Record)) error {
	moved := 0
	err := eachRow(ctx, tx, snap, "tool", func(k, v []byte) error {
		if err := readRecord(snap, k, v); err != nil {
			return err
		}
		if move != nil && len(snap.Records) == moved+movedAtOnce {
			move(snap.Records[moved:])
			moved = len(snap.Records)
		}
		return nil
	}, `SELECT id, body FROM tool ORDER BY id`)
	if err == nil && move != nil {
		move(snap.Records[moved:])
	}
	return err
}

// readRecord adds a record to snap.
func readRecord(snap *store.Snapshot, k, v []byte) error {
	r, err := store.DecodeRecord(v)
	if err == nil && string(r.Tool.ID()) != string(k) {
		err = fmt.Errorf("holds the record of %q", r.Tool.ID())
	}
	if err == nil {
		snap.Records = append(snap.Records, r)
	}
	return err
}

// LoadServers implements [store.Backend].
func (s *Store) LoadServers(ctx context.Context, servers []string) (*store.Snapshot, error) {
	snap := newSnapshot()
	err := s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		h, err := readHead(ctx, tx, "")
		if err != nil {
			return err
		}
		snap.Generation = h.numbers[ofCatalogue]
		// An ID is SERVER/NAME, the key of a decision that or /KIND/SERVER/NAME.
		return errors.Join(
			eachRow(ctx, tx, snap, "tool", func(k, v []byte) error { return readRecord(snap, k, v) },
				`SELECT id, body FROM tool JOIN (SELECT DISTINCT unnest($1::text[])) AS s(server) ON id >= s.server || '/' AND id < s.server || '0'
					ORDER BY id`, servers), // "0" comes after "/"
			readServers(ctx, tx, snap),
			readSources(ctx, tx, snap, ` WHERE name = ANY($1)`, servers), readOverlays(ctx, tx, snap),
			readDecisions(ctx, tx, snap, ` WHERE split_part(name, '/', CASE WHEN name LIKE '/%' THEN 3 ELSE 1 END) = ANY($1)`,
				servers),
		)
	})
	if err != nil {
		return nil, err
	}
	return snap, nil
}

// readServers reads the configuration of servers by name.
func readServers(ctx context.Context, tx pgx.Tx, snap *store.Snapshot) error {
	return eachRow(ctx, tx, snap, "server", func(_, v []byte) error {
		var one upstream.Server
		err := json.Unmarshal(v, &one)
		if err == nil {
			snap.Servers = append(snap.Servers, one)
		}
		return err
	}, `SELECT name, body FROM server ORDER BY name`)
}

// readRest reads sources, overlays and decisions.
func readRest(ctx context.Context, tx pgx.Tx, snap *store.Snapshot) error {
	return errors.Join(readSources(ctx, tx, snap, ""), readOverlays(ctx, tx, snap), readDecisions(ctx, tx, snap, ""))
}

// readSources reads the sources that a condition selects.
func readSources(ctx context.Context, tx pgx.Tx, snap *store.Snapshot, where string, args ...any) error {
	return eachRow(ctx, tx, snap, "source", func(_, v []byte) error {
		var one store.SourceState
		err := json.Unmarshal(v, &one)
		if err == nil {
			snap.Sources[one.Name] = one
		}
		return err
	}, `SELECT name, body FROM source`+where, args...)
}

func readOverlays(ctx context.Context, tx pgx.Tx, snap *store.Snapshot) error {
	return eachRow(ctx, tx, snap, "overlay", func(k, v []byte) error {
		snap.Overlays[string(k)] = copyOf(v)
		return nil
	}, `SELECT name, body FROM overlay`)
}

// readDecisions reads the decisions that a condition selects.
func readDecisions(ctx context.Context, tx pgx.Tx, snap *store.Snapshot, where string, args ...any) error {
	return eachRow(ctx, tx, snap, "trust", func(k, v []byte) error {
		snap.Trust[tool.ID(k)] = copyOf(v)
		return nil
	}, `SELECT name, body FROM trust`+where, args...)
}

// copyOf returns a copy that is not nil, also of nothing.
func copyOf(v []byte) []byte { return append([]byte{}, v...) }

var errLength = errors.New("value has the wrong length")

// readDerived reads the vectors and analyses of a view.
func readDerived(ctx context.Context, tx pgx.Tx, snap *store.Snapshot, v store.View) error {
	m := v.Model
	vectors, analyses := "data", "data"
	if v.Slim {
		vectors, analyses = `''::bytea`, fmt.Sprintf("substr(data, 1, %d)", store.AnalysisHead)
	}
	err := eachRow(ctx, tx, snap, "vector", func(k, value []byte) error {
		one := store.Vector{}
		var err error
		if !v.Slim {
			one, err = store.DecodeVector(value, m.Dims)
		}
		if err == nil && len(k) != len(store.TextHash{}) {
			err = errLength
		}
		if err == nil {
			snap.Vectors[store.TextHash(k)] = one
		}
		return err
	}, `SELECT text, `+vectors+` FROM vector WHERE model = $1 AND fingerprint = $2 AND dims = $3`,
		m.Name, m.Fingerprint, m.Dims)
	return errors.Join(err, eachRow(ctx, tx, snap, "analysis", func(k, value []byte) error {
		if len(k) != len(tool.Hash{}) {
			return errLength
		}
		snap.Analyses[tool.Hash(k)] = copyOf(value)
		return nil
	}, `SELECT tool, `+analyses+` FROM analysis WHERE knowledge = $1`, v.Knowledge))
}

// ReadDerived implements [store.Backend].
func (s *Store) ReadDerived(ctx context.Context, v store.View, gen uint64, hashes []tool.Hash,
	textOf func(analysis []byte) (store.TextHash, bool),
) (*store.Snapshot, error) {
	snap := newSnapshot()
	err := s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		h, err := readHead(ctx, tx, "")
		if err != nil {
			return err
		}
		if snap.Generation = h.numbers[ofCatalogue]; snap.Generation != gen {
			return store.ChangedError(s.location, gen, snap.Generation)
		}
		var texts []store.TextHash
		err = eachRow(ctx, tx, snap, "analysis", func(k, value []byte) error {
			if len(k) != len(tool.Hash{}) {
				return errLength
			}
			snap.Analyses[tool.Hash(k)] = bytes.Clone(value)
			if text, ok := textOf(value); ok {
				texts = append(texts, text)
			}
			return nil
		}, `SELECT tool, data FROM analysis WHERE knowledge = $1 AND tool = ANY($2)`, v.Knowledge, bytesOf(hashes))
		if err != nil || len(texts) == 0 {
			return err
		}
		m := v.Model
		return eachRow(ctx, tx, snap, "vector", func(k, value []byte) error {
			one, err := store.DecodeVector(value, m.Dims)
			if err == nil {
				snap.Vectors[store.TextHash(k)] = one
			}
			return err
		}, `SELECT text, data FROM vector WHERE model = $1 AND fingerprint = $2 AND dims = $3 AND text = ANY($4)`,
			m.Name, m.Fingerprint, m.Dims, bytesOf(texts))
	})
	if err != nil {
		return nil, err
	}
	return snap, nil
}

// Models implements [store.Backend].
func (s *Store) Models(ctx context.Context, texts map[store.TextHash]bool) (out []store.ModelCount, err error) {
	listed := make([]store.TextHash, 0, len(texts))
	for h, ok := range texts {
		if ok {
			listed = append(listed, h)
		}
	}
	err = s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT model, fingerprint, dims, count(*), count(u.h) FROM vector
			LEFT JOIN unnest($1::bytea[]) AS u(h) ON u.h = vector.text GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`, bytesOf(listed))
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c store.ModelCount, err error) {
			err = row.Scan(&c.Name, &c.Fingerprint, &c.Dims, &c.Vectors, &c.Used)
			return c, err
		})
		return err
	})
	return out, err
}

// Check reads and decodes all that is stored for the tenant. The error names what cannot be decoded. Whether the
// database's own files are whole is for its checksums and amcheck to say.
func (s *Store) Check(ctx context.Context) error {
	var damaged []store.Damage
	err := s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		snap := newSnapshot()
		err := errors.Join(readTools(ctx, tx, snap, func(part []store.Record) { clear(part) }), readServers(ctx, tx, snap),
			readRest(ctx, tx, snap))
		if err != nil {
			return err
		}
		damaged = snap.Damaged
		return nil
	})
	if err != nil || len(damaged) == 0 {
		return err
	}
	return &tool.Error{
		Code: tool.Internal, Op: "check store",
		Msg:  fmt.Sprintf("%d values at %s cannot be read, the first is %s", len(damaged), s.location, damaged[0]),
		Hint: "restore a backup of the database, or import the tools again", Err: damaged[0].Err,
	}
}
