package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// View says which vectors and which lent bytes a Load brings. The zero View brings neither.
type View struct {
	Model     Model
	Knowledge string
}

// Snapshot is all that was in the file at one moment. It belongs to the caller.
type Snapshot struct {
	Generation uint64
	Records    []Record // by ID
	Vectors    map[TextHash]Vector
	Lent       map[tool.Hash][]byte
	Servers    []tool.Server // by name
	Sources    map[string]SourceState
	Overlays   map[string][]byte
	Trust      map[tool.ID][]byte // decisions about tools, opaque
	// Damaged names the values that could not be read. They are left out above and stay in the file until they are
	// replaced or removed.
	Damaged []Damage
}

// Damage names one value that cannot be read, a bucket that has lost some, a number, or a page.
type Damage struct {
	// "tool", "server", "source", "overlay", "trust", "preferences", "learned", "counts", "vector", "lent", "bucket",
	// "number" or "page"
	Kind string
	Key  string
	Err  error
}

// String says what is damaged and how.
func (d Damage) String() string { return fmt.Sprintf("%s %q: %v", d.Kind, d.Key, d.Err) }

// Load reads the file under the shared lock. Values that are damaged are left out and named in Damaged; the error is
// for a file that cannot be read at all, with the codes described at [Open].
func (s *Store) Load(ctx context.Context, v View) (*Snapshot, error) {
	snap := newSnapshot()
	err := s.read(ctx, func(tx *bolt.Tx) error {
		snap.Generation = generation(tx)
		if err := snap.readPages(tx.DB()); err != nil {
			return err
		}
		snap.readCounters(tx)
		snap.readTools(tx)
		snap.readRest(tx)
		for _, name := range []string{bucketPreferences, string(learnedNotes), string(countNotes)} { // which are read when they are needed
			snap.each(tx, name, name, func([]byte, []byte) error { return nil })
		}
		snap.readVectors(tx, v.Model)
		snap.eachOf(tx.Bucket([]byte(bucketLent)).Bucket(knowledgeKey(v.Knowledge)), "lent",
			func(k, payload []byte) error {
				if len(k) != len(tool.Hash{}) {
					return errTruncated
				}
				snap.Lent[tool.Hash(k)] = bytes.Clone(payload)
				return nil
			})
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.trouble.loaded(snap.Damaged)
	return snap, nil
}

func newSnapshot() *Snapshot {
	return &Snapshot{
		Vectors: map[TextHash]Vector{}, Lent: map[tool.Hash][]byte{},
		Sources: map[string]SourceState{}, Overlays: map[string][]byte{}, Trust: map[tool.ID][]byte{},
	}
}

// read is view for a file of the current layout.
func (s *Store) read(ctx context.Context, fn func(*bolt.Tx) error) error {
	return s.view(ctx, func(tx *bolt.Tx) error {
		if err := s.current(tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

// current checks that the file still has this version's layout: another process may have replaced it.
func (s *Store) current(tx *bolt.Tx) error {
	n, err := s.layoutOf(tx)
	if err == nil && n < layout && !tx.Writable() {
		err = &tool.Error{
			Code: tool.Unavailable, Op: "store", Msg: s.path + " was replaced by one of an older layout",
			Hint: "start again",
		}
	}
	if err == nil && n < layout {
		err = s.migrate(tx)
	}
	for _, name := range buckets() {
		if err == nil && tx.Bucket([]byte(name)) == nil {
			err = s.damaged(fmt.Errorf("bucket %s is missing", name))
		}
	}
	return err
}

func (snap *Snapshot) readTools(tx *bolt.Tx) {
	snap.each(tx, bucketTools, "tool", func(k, payload []byte) error {
		r, err := decodeRecord(payload)
		if err == nil && string(r.Tool.ID()) != string(k) {
			err = fmt.Errorf("holds the record of %q", r.Tool.ID())
		}
		if err == nil {
			snap.Records = append(snap.Records, r)
		}
		return err
	})
}

func (snap *Snapshot) readRest(tx *bolt.Tx) {
	snap.each(tx, bucketServers, "server", func(_, payload []byte) error {
		var v tool.Server
		err := json.Unmarshal(payload, &v)
		if err == nil {
			snap.Servers = append(snap.Servers, v)
		}
		return err
	})
	snap.each(tx, bucketSources, "source", func(_, payload []byte) error {
		var v SourceState
		err := json.Unmarshal(payload, &v)
		if err == nil {
			snap.Sources[v.Name] = v
		}
		return err
	})
	snap.each(tx, bucketOverlays, "overlay", func(k, payload []byte) error {
		snap.Overlays[string(k)] = bytes.Clone(payload)
		return nil
	})
	snap.readTrust(tx)
}

func (snap *Snapshot) readVectors(tx *bolt.Tx, m Model) {
	snap.eachOf(tx.Bucket([]byte(bucketVectors)).Bucket(m.key()), "vector", func(k, payload []byte) error {
		if len(k) != len(TextHash{}) {
			return errTruncated
		}
		v, err := decodeVector(payload, m.Dims)
		if err == nil {
			snap.Vectors[TextHash(k)] = v
		}
		return err
	})
}

// each is eachOf for a bucket that has a sum, which must agree.
func (snap *Snapshot) each(tx *bolt.Tx, bucket, kind string, fn func(key, payload []byte) error) {
	snap.eachOf(tx.Bucket([]byte(bucket)), kind, fn).agrees(tx, bucket, snap)
}

// eachOf calls fn with every value of a bucket whose checksum holds, and notes those where it does not or fn fails. It
// returns the sum of all.
func (snap *Snapshot) eachOf(b *bolt.Bucket, kind string, fn func(key, payload []byte) error) (all sum) {
	if b == nil { // nothing of this kind, model or version yet
		return all
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		all = all.with(v)
		payload, err := unseal(k, v)
		if err == nil {
			err = fn(k, payload)
		}
		if err != nil {
			snap.Damaged = append(snap.Damaged, Damage{Kind: kind, Key: printable(k), Err: err})
		}
	}
	return all
}

// printable shows names as they are and hashes in hexadecimal.
func printable(key []byte) string {
	for _, c := range key {
		if c < ' ' || c > '~' {
			return fmt.Sprintf("%x", key)
		}
	}
	return string(key)
}
