package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"tooldex/embed"
	"tooldex/tool"
	"tooldex/upstream"
)

// View selects the vectors and the analyses that a Load reads: those of one model, and of one version of the knowledge.
// The zero View selects neither.
type View struct {
	Model     embed.Model
	Knowledge string
	// Slim reads of each vector only that it is there, and of each analysis the first AnalysisHead bytes.
	Slim bool
}

// movedAtOnce is how many records LoadMoving gives away at a time.
const movedAtOnce = 1024

// AnalysisHead is how many bytes of an analysis a slim View reads.
const AnalysisHead = 32

// Snapshot is all that was in the file at one moment, in copies. It belongs to the caller.
type Snapshot struct {
	Generation uint64
	Records    []Record // by ID
	Vectors    map[TextHash]Vector
	Analyses   map[tool.Hash][]byte
	Servers    []upstream.Server // by name
	Sources    map[string]SourceState
	Overlays   map[string][]byte
	Trust      map[tool.ID][]byte // decisions about tools, opaque
	// Damaged names the values that could not be read. They are missing from the fields above and stay in the file
	// until they are replaced or removed.
	Damaged []Damage
}

// Damage names one value that cannot be read, a bucket that has lost values, a number, or a page.
type Damage struct {
	// Kind is "tool", "server", "source", "overlay", "trust", "preferences", "learned", "counts", "vector", "analysis",
	// "bucket", "number" or "page".
	Kind string
	Key  string // as it is, or in hexadecimal if it is not printable; the number of a page
	Err  error  // what is wrong with it; never nil
}

// String says what is damaged and how.
func (d Damage) String() string { return fmt.Sprintf("%s %q: %v", d.Kind, d.Key, d.Err) }

// Load reads the file under the shared lock. Damaged values are left out and listed in Damaged; an error means that the
// file cannot be read at all, with the codes described at [Open].
func (s *Store) Load(ctx context.Context, v View) (*Snapshot, error) {
	return s.LoadMoving(ctx, v, nil)
}

// LoadMoving is Load that gives the records to move in parts, as they are read. Move may replace their tools, so that
// they need not be in memory together. Nil moves nothing.
func (s *Store) LoadMoving(ctx context.Context, v View, move func(part []Record)) (*Snapshot, error) {
	snap := newSnapshot()
	err := s.readCurrent(ctx, func(tx *bolt.Tx) error {
		snap.Generation = readGeneration(tx)
		if err := snap.readPages(tx.DB()); err != nil {
			return err
		}
		snap.readCounters(tx)
		snap.readTools(tx, move)
		snap.readRest(tx)
		snap.checkNotes(tx)
		snap.readVectors(tx, v)
		snap.readValues(tx.Bucket([]byte(bucketAnalyses)).Bucket(knowledgeKey(v.Knowledge)), "analysis",
			func(k, payload []byte) error {
				if len(k) != len(tool.Hash{}) {
					return errTruncated
				}
				if v.Slim {
					payload = payload[:min(len(payload), AnalysisHead)]
				}
				snap.Analyses[tool.Hash(k)] = bytes.Clone(payload)
				return nil
			})
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.health.recordDamage(snap.Damaged)
	return snap, nil
}

// ReadDerived reads what was made of some tools, by their content hashes: the analyses, and the vectors of the texts
// that textOf reads from them. What is missing or damaged is left out. The error wraps ErrChanged if the file has
// another generation; otherwise it is that of Load.
func (s *Store) ReadDerived(ctx context.Context, v View, gen uint64, hashes []tool.Hash,
	textOf func(analysis []byte) (TextHash, bool),
) (*Snapshot, error) {
	snap := newSnapshot()
	err := s.readCurrent(ctx, func(tx *bolt.Tx) error {
		if snap.Generation = readGeneration(tx); snap.Generation != gen {
			return ChangedError(s.path, gen, snap.Generation)
		}
		analyses := tx.Bucket([]byte(bucketAnalyses)).Bucket(knowledgeKey(v.Knowledge))
		vectors := tx.Bucket([]byte(bucketVectors)).Bucket(modelKey(v.Model))
		if analyses == nil {
			return nil
		}
		for _, h := range hashes {
			payload, err := unsealValue(h[:], analyses.Get(h[:]))
			if err != nil {
				continue
			}
			snap.Analyses[h] = bytes.Clone(payload)
			text, ok := textOf(payload)
			if !ok || vectors == nil {
				continue
			}
			if payload, err = unsealValue(text[:], vectors.Get(text[:])); err != nil {
				continue
			}
			if one, err := DecodeVector(payload, v.Model.Dims); err == nil {
				snap.Vectors[text] = one
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return snap, nil
}

// newSnapshot returns a Snapshot without tools, whose maps can be written to.
func newSnapshot() *Snapshot {
	return &Snapshot{
		Vectors: map[TextHash]Vector{}, Analyses: map[tool.Hash][]byte{},
		Sources: map[string]SourceState{}, Overlays: map[string][]byte{}, Trust: map[tool.ID][]byte{},
	}
}

// readCurrent is view for a file of the current layout. It fails if the file has another.
func (s *Store) readCurrent(ctx context.Context, fn func(*bolt.Tx) error) error {
	return s.readTx(ctx, func(tx *bolt.Tx) error {
		if err := s.checkLayout(tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

// checkLayout checks that the file has this version's layout and buckets, since another process may have replaced it.
// In a write transaction it initializes a new file.
func (s *Store) checkLayout(tx *bolt.Tx) error {
	ready, err := s.hasLayout(tx)
	switch {
	case err != nil || ready:
	case tx.Writable():
		err = s.initializeFile(tx)
	default:
		err = &tool.Error{
			Code: tool.Unavailable, Op: "store", Msg: s.path + " was replaced by an empty file", Hint: "start again",
		}
	}
	for _, name := range requiredBuckets() {
		if err == nil && tx.Bucket([]byte(name)) == nil {
			err = s.damagedError(fmt.Errorf("bucket %s is missing", name))
		}
	}
	return err
}

// readTools reads the records, which bbolt keeps in the order of their IDs.
func (snap *Snapshot) readTools(tx *bolt.Tx, move func([]Record)) {
	moved := 0
	snap.readBucket(tx, bucketTools, "tool", func(k, payload []byte) error {
		r, err := decodeRecordOf(k, payload)
		if err == nil {
			snap.Records = append(snap.Records, r)
		}
		if move != nil && len(snap.Records) == moved+movedAtOnce {
			move(snap.Records[moved:])
			moved = len(snap.Records)
		}
		return err
	})
	if move != nil {
		move(snap.Records[moved:])
	}
}

// decodeRecordOf decodes the record that lies under a key.
func decodeRecordOf(key, payload []byte) (Record, error) {
	r, err := DecodeRecord(payload)
	if err == nil && string(r.Tool.ID()) != string(key) {
		err = fmt.Errorf("holds the record of %q", r.Tool.ID())
	}
	return r, err
}

// readServers reads the configuration of servers.
func (snap *Snapshot) readServers(tx *bolt.Tx) {
	snap.readBucket(tx, bucketServers, "server", func(_, payload []byte) error {
		var v upstream.Server
		err := json.Unmarshal(payload, &v)
		if err == nil {
			snap.Servers = append(snap.Servers, v)
		}
		return err
	})
}

// readRest reads servers, sources, overlays and decisions.
func (snap *Snapshot) readRest(tx *bolt.Tx) {
	snap.readServers(tx)
	snap.readBucket(tx, bucketSources, "source", func(_, payload []byte) error {
		var v SourceState
		err := json.Unmarshal(payload, &v)
		if err == nil {
			snap.Sources[v.Name] = v
		}
		return err
	})
	snap.readBucket(tx, bucketOverlays, "overlay", func(k, payload []byte) error {
		snap.Overlays[string(k)] = bytes.Clone(payload)
		return nil
	})
	snap.readTrust(tx)
}

// readVectors reads the vectors of one model. Their bucket has no sum: a vector that is lost is made again.
func (snap *Snapshot) readVectors(tx *bolt.Tx, v View) {
	b := tx.Bucket([]byte(bucketVectors)).Bucket(modelKey(v.Model))
	snap.readValues(b, "vector", func(k, payload []byte) error {
		if len(k) != len(TextHash{}) || len(payload) != vectorLen(v.Model.Dims) {
			return errTruncated
		}
		if v.Slim {
			snap.Vectors[TextHash(k)] = Vector{}
			return nil
		}
		one, err := DecodeVector(payload, v.Model.Dims)
		if err == nil {
			snap.Vectors[TextHash(k)] = one
		}
		return err
	})
}

// readBucket is readValues for a bucket that has a sum, and notes a sum that does not agree.
func (snap *Snapshot) readBucket(tx *bolt.Tx, bucket, kind string, fn func(key, payload []byte) error) {
	snap.readValues(tx.Bucket([]byte(bucket)), kind, fn).compareSum(tx, bucket, snap)
}

// readValues calls fn with every value of a bucket whose checksum holds, and notes as damaged those where it does not,
// or where fn fails. It returns the sum of all values, damaged ones included. Payloads are valid until fn returns.
func (snap *Snapshot) readValues(b *bolt.Bucket, kind string, fn func(key, payload []byte) error) (all bucketSum) {
	if b == nil { // nothing of this kind, model or version yet
		return all
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		all = all.addValue(v)
		payload, err := unsealValue(k, v)
		if err == nil {
			err = fn(k, payload)
		}
		if err != nil {
			snap.Damaged = append(snap.Damaged, Damage{Kind: kind, Key: printableKey(k), Err: err})
		}
	}
	return all
}

// printableKey returns names as they are, and hashes in hexadecimal.
func printableKey(key []byte) string {
	for _, c := range key {
		if c < ' ' || c > '~' {
			return fmt.Sprintf("%x", key)
		}
	}
	return string(key)
}
