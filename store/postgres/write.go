package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"tooldex/store"
	"tooldex/tool"
)

// putAtOnce bounds how many rows one statement puts, and so what it takes of memory here and on the server.
const putAtOnce = 1000

// The statements that put rows. $1 are the keys, $2 the values.
const (
	putTools = `INSERT INTO tool (id, body) SELECT * FROM unnest($1::text[], $2::bytea[])
		ON CONFLICT (tenant, id) DO UPDATE SET body = excluded.body`
	putVectors = `INSERT INTO vector (model, fingerprint, dims, text, data)
		SELECT $3, $4, $5, * FROM unnest($1::bytea[], $2::bytea[])
		ON CONFLICT (tenant, model, fingerprint, dims, text) DO UPDATE SET data = excluded.data`
	putAnalyses = `INSERT INTO analysis (knowledge, tool, data) SELECT $3, * FROM unnest($1::bytea[], $2::bytea[])
		ON CONFLICT (tenant, knowledge, tool) DO UPDATE SET data = excluded.data`
	putEntries = `INSERT INTO entry (kind, key, value) SELECT $3, * FROM unnest($1::bytea[], $2::bytea[])
		ON CONFLICT (tenant, kind, key) DO UPDATE SET value = excluded.value`
	putPreferences = `INSERT INTO preference (version, profile, value) SELECT $3, * FROM unnest($1::text[], $2::bytea[])
		ON CONFLICT (tenant, profile) DO UPDATE SET version = excluded.version, value = excluded.value`
)

// putNamed returns the statement that puts rows into a table of names.
func putNamed(table string) string {
	return `INSERT INTO ` + table + ` (name, body) SELECT * FROM unnest($1::text[], $2::bytea[])
		ON CONFLICT (tenant, name) DO UPDATE SET body = excluded.body`
}

// Write implements [store.Backend].
func (s *Store) Write(ctx context.Context, b *store.Batch) (uint64, error) {
	if err := b.Check(); err != nil {
		return 0, err
	}
	if b.Empty() {
		return s.Generation(ctx)
	}
	_, gen, err := s.change(ctx, ofCatalogue, func(ctx context.Context, tx pgx.Tx, now head, _ uint64) error {
		if have := now.numbers[ofCatalogue]; b.Base != 0 && have != b.Base {
			return store.ChangedError(s.location, b.Base, have)
		}
		if b.Base != 0 {
			if err := s.yield(ctx, tx); err != nil {
				return err
			}
		}
		return applyBatch(ctx, tx, b)
	})
	return gen, err
}

// applyBatch makes the changes of b. Removals come before puts, so that a batch that has both for a key leaves it put.
func applyBatch(ctx context.Context, tx pgx.Tx, b *store.Batch) error {
	w := &writer{ctx: ctx, tx: tx}
	tools := newRows[string](len(b.Records))
	for i := range b.Records {
		tools.put(string(b.Records[i].Tool.ID()), store.EncodeRecord(&b.Records[i]))
	}
	remove(w, `DELETE FROM tool WHERE id = ANY($1)`, textsOf(b.Remove))
	put(w, putTools, tools)

	servers, sources, overlays := newRows[string](0), newRows[string](0), newRows[string](0)
	for _, v := range b.Servers {
		servers.put(v.Name, w.encode(v))
	}
	for _, v := range b.Sources {
		sources.put(v.Name, w.encode(v))
	}
	for name, v := range b.Overlays {
		overlays.put(name, v)
	}
	decisions, taken := newRows[string](0), []string{}
	for id, v := range b.Trust {
		if v == nil {
			taken = append(taken, string(id))
		} else {
			decisions.put(string(id), v)
		}
	}
	for _, one := range []struct {
		table  string
		remove []string
		put    *rows[string]
	}{
		{"server", b.RemoveServers, servers},
		{"source", b.RemoveSources, sources},
		{"overlay", b.RemoveOverlays, overlays},
		{"trust", taken, decisions},
	} {
		remove(w, `DELETE FROM `+one.table+` WHERE name = ANY($1)`, one.remove)
		put(w, putNamed(one.table), one.put)
	}
	applyDerived(w, b)
	return w.err
}

// applyDerived makes the changes of vectors and analyses.
func applyDerived(w *writer, b *store.Batch) {
	m := b.Model
	vectors, analyses := newRows[[]byte](len(b.Vectors)), newRows[[]byte](len(b.Analyses))
	for h, v := range b.Vectors {
		vectors.put(h[:], store.EncodeVector(v))
	}
	for h, v := range b.Analyses {
		analyses.put(h[:], v)
	}
	remove(w, `DELETE FROM vector WHERE text = ANY($1) AND model = $2 AND fingerprint = $3 AND dims = $4`,
		bytesOf(b.DropVectors), m.Name, m.Fingerprint, m.Dims)
	put(w, putVectors, vectors, m.Name, m.Fingerprint, m.Dims)
	remove(w, `DELETE FROM analysis WHERE tool = ANY($1) AND knowledge = $2`, bytesOf(b.DropAnalyses), b.Knowledge)
	put(w, putAnalyses, analyses, b.Knowledge)
}

// writer writes in a transaction. After the first error it does nothing; err is that error.
type writer struct {
	ctx context.Context
	tx  pgx.Tx
	err error
}

// encode returns v as JSON.
func (w *writer) encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	return b
}

// exec executes a statement.
func (w *writer) exec(sql string, args ...any) {
	if w.err == nil {
		_, w.err = w.tx.Exec(w.ctx, sql, args...)
	}
}

// rows are keys with their values. Of two values of one key the later one is kept, since one statement cannot put both.
type rows[K string | []byte] struct {
	keys   []K
	values [][]byte
	at     map[string]int // where a key is
}

// newRows returns no rows, with room for n.
func newRows[K string | []byte](n int) *rows[K] { return &rows[K]{at: make(map[string]int, n)} }

// put adds a row. A nil value becomes an empty one, which is not the same in a database.
func (r *rows[K]) put(key K, value []byte) {
	if value == nil {
		value = []byte{}
	}
	if i, ok := r.at[string(key)]; ok {
		r.values[i] = value
		return
	}
	r.at[string(key)] = len(r.keys)
	r.keys, r.values = append(r.keys, key), append(r.values, value)
}

// put executes a statement that takes keys, values and args, for all rows in parts.
func put[K string | []byte](w *writer, sql string, r *rows[K], args ...any) {
	for from := 0; from < len(r.keys); from += putAtOnce {
		to := min(from+putAtOnce, len(r.keys))
		w.exec(sql, append([]any{r.keys[from:to], r.values[from:to]}, args...)...)
	}
}

// remove executes a statement that takes keys and args, if there are keys.
func remove[K string | []byte](w *writer, sql string, keys []K, args ...any) {
	if len(keys) > 0 {
		w.exec(sql, append([]any{keys}, args...)...)
	}
}

// textsOf returns IDs as strings, which the driver knows.
func textsOf(ids []tool.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}

// bytesOf returns hashes as byte slices, which the driver knows.
func bytesOf[H store.TextHash | tool.Hash](hashes []H) [][]byte {
	out := make([][]byte, len(hashes))
	for i := range hashes {
		switch h := any(hashes[i]).(type) {
		case store.TextHash:
			out[i] = h[:]
		case tool.Hash:
			out[i] = h[:]
		}
	}
	return out
}
