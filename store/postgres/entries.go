package postgres

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"tooldex/embed"
	"tooldex/store"
)

// copyTimeout bounds a copy of everything, which may be large and come over a slow network.
const copyTimeout = 6 * time.Hour

// entryTable says where the entries of a kind lie.
type entryTable struct {
	name, key, value string // the table and its columns
	group            string // columns that every row has besides, as text; "" for none
	where            string // which rows of the table; "" for all
	put              string // the statement that puts rows
}

// tableOf returns where the entries of a kind lie; false for a kind that does not exist.
func tableOf(k store.Kind) (entryTable, bool) {
	named := func(name string) (entryTable, bool) {
		return entryTable{name: name, key: "name", value: "body", put: putNamed(name)}, true
	}
	notes := func(of kind) (entryTable, bool) {
		return entryTable{name: "entry", key: "key", value: "value", where: "WHERE kind = '" + string(of) + "'", put: putEntries}, true
	}
	switch k {
	case store.KindTool:
		return entryTable{name: "tool", key: "id", value: "body", put: putTools}, true
	case store.KindServer, store.KindSource, store.KindOverlay, store.KindTrust:
		return named(string(k))
	case store.KindPreference:
		return entryTable{name: "preference", key: "profile", value: "value", put: putPreferences}, true
	case store.KindLearned:
		return notes(ofLearned)
	case store.KindCount:
		return notes(ofCounts)
	case store.KindVector:
		return entryTable{name: "vector", key: "text", value: "data", group: ", model, fingerprint, dims::text", put: putVectors}, true
	case store.KindAnalysis:
		return entryTable{name: "analysis", key: "tool", value: "data", group: ", knowledge", put: putAnalyses}, true
	}
	return entryTable{}, false
}

// Entries implements [store.Backend].
func (s *Store) Entries(ctx context.Context, fn func(store.Entry) error) error {
	return s.readWithin(ctx, copyTimeout, func(ctx context.Context, tx pgx.Tx) error {
		for _, k := range store.Kinds() {
			if err := eachEntry(ctx, tx, k, fn); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachEntry calls fn with the entries of a kind.
func eachEntry(ctx context.Context, tx pgx.Tx, k store.Kind, fn func(store.Entry) error) error {
	t, _ := tableOf(k)
	rows, err := tx.Query(ctx, `SELECT `+t.key+`, `+t.value+t.group+` FROM `+t.name+` `+t.where)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		raw := rows.RawValues() // of text and bytea, these are the bytes
		e := store.Entry{Kind: k, Key: raw[0], Value: raw[1]}
		switch k {
		case store.KindVector:
			dims, err := strconv.Atoi(string(raw[4]))
			if err != nil {
				return err
			}
			e.Model = embed.Model{Name: string(raw[2]), Fingerprint: string(raw[3]), Dims: dims}
		case store.KindAnalysis:
			e.Knowledge = string(raw[2])
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Fill implements [store.Backend]. What it replaces is gone for good.
func (s *Store) Fill(ctx context.Context, replace bool, from func(put func(store.Entry) error) error) error {
	all := []kind{ofCatalogue, ofPreferences, ofLearned, ofCounts}
	_, _, err := s.changeAll(ctx, copyTimeout, all, func(ctx context.Context, tx pgx.Tx, _ head, seq uint64) error {
		var occupied bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM tool) OR EXISTS (SELECT FROM server) OR EXISTS (SELECT FROM source)
			OR EXISTS (SELECT FROM overlay) OR EXISTS (SELECT FROM trust) OR EXISTS (SELECT FROM preference)
			OR EXISTS (SELECT FROM entry)`).Scan(&occupied)
		if err != nil {
			return err
		}
		if occupied && !replace {
			return store.OccupiedError(s.location)
		}
		f := filler{w: writer{ctx: ctx, tx: tx}, version: seq}
		for _, k := range store.Kinds() {
			t, _ := tableOf(k)
			f.w.exec(`DELETE FROM ` + t.name + ` ` + t.where)
		}
		// An error passes through the place that from reads, which must not take it for one of its own.
		err = from(func(e store.Entry) error { return s.explain("fill store", f.add(e)) })
		if err != nil {
			return err
		}
		f.flush()
		return f.w.err
	})
	return err
}

// maxFillBytes bounds what a filler holds in memory.
const maxFillBytes = 8 << 20

// filler puts entries, those of one kind and group in one statement.
type filler struct {
	w       writer
	version uint64      // of preferences
	like    store.Entry // kind, model and knowledge of the entries that wait
	keys    [][]byte
	values  [][]byte
	size    int // bytes of the keys and values that wait
}

// add keeps a copy of an entry, and puts those that wait when there are enough of them.
func (f *filler) add(e store.Entry) error {
	like := store.Entry{Kind: e.Kind, Model: e.Model, Knowledge: e.Knowledge}
	other := like.Kind != f.like.Kind || like.Model != f.like.Model || like.Knowledge != f.like.Knowledge
	if other || len(f.keys) == putAtOnce || f.size > maxFillBytes {
		f.flush()
		f.like = like
	}
	f.keys, f.values = append(f.keys, bytes.Clone(e.Key)), append(f.values, copyOf(e.Value))
	f.size += len(e.Key) + len(e.Value)
	return f.w.err
}

// flush puts the entries that wait. An error is in w.
func (f *filler) flush() {
	if len(f.keys) == 0 || f.w.err != nil {
		return
	}
	t, ok := tableOf(f.like.Kind)
	if !ok {
		f.w.err = fmt.Errorf("there are no entries of kind %q", f.like.Kind)
		return
	}
	switch f.like.Kind {
	case store.KindVector:
		m := f.like.Model
		putEach(f, t.put, asBytes, m.Name, m.Fingerprint, m.Dims)
	case store.KindAnalysis:
		putEach(f, t.put, asBytes, f.like.Knowledge)
	case store.KindLearned:
		putEach(f, t.put, asBytes, string(ofLearned))
	case store.KindCount:
		putEach(f, t.put, asBytes, string(ofCounts))
	case store.KindPreference:
		putEach(f, t.put, asText, f.version)
	default:
		putEach(f, t.put, asText)
	}
	f.keys, f.values, f.size = nil, nil, 0
}

func asBytes(key []byte) []byte { return key }
func asText(key []byte) string  { return string(key) }

// putEach puts the entries that wait, with keys as the column has them.
func putEach[K string | []byte](f *filler, sql string, as func([]byte) K, args ...any) {
	r := newRows[K](len(f.keys))
	for i, key := range f.keys {
		r.put(as(key), f.values[i])
	}
	put(&f.w, sql, r, args...)
}
