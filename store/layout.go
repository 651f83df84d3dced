package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// layout is the version of the format of the buckets. It is raised by a change that another program would misread. A
// file of another layout is refused and left as it is: no released version wrote one that would have to be read.
const layout = 4

// The buckets that every file has. The one of vectors holds a bucket for each model, and the one of analyses a bucket
// for each version of the knowledge. Buckets that came later are made by their first write.
const (
	bucketMeta     = "meta"
	bucketTools    = "tools"
	bucketVectors  = "vectors"
	bucketAnalyses = "analyses"
	bucketServers  = "servers"
	bucketSources  = "sources"
	bucketOverlays = "overlays"
)

// The keys of the meta bucket. Besides these it has the sums of buckets (keySum) and the numbers of counters.
const (
	keyLayout     = "layout"
	keyLayoutNot  = "layout~" // the same with all bits inverted: a wrong layout would cause the file to be misread
	keyGeneration = "generation"
	keyStamp      = "stamp"
)

// requiredBuckets lists all buckets that a file of the current layout must have.
func requiredBuckets() []string {
	return []string{
		bucketMeta, bucketTools, bucketVectors, bucketAnalyses, bucketServers, bucketSources, bucketOverlays,
	}
}

// ensureLayout initializes the file if it is new. It looks under the shared lock first, so that a process which only
// reads does not wait for other readers.
func (s *Store) ensureLayout(ctx context.Context) error {
	ready := false
	err := s.readTx(ctx, func(tx *bolt.Tx) (err error) {
		ready, err = s.hasLayout(tx)
		return err
	})
	if err != nil || ready {
		return err
	}
	return s.writeTx(ctx, s.initializeFile)
}

// createFile makes the file if there is none. It builds the file under another name first, so that an empty file under
// the final one is always a damaged one.
func (s *Store) createFile() error {
	beside, err := s.buildFile(s.initializeFile)
	if err != nil {
		return s.explainError(err)
	}
	err = os.Link(beside, s.path)
	if err == nil || errors.Is(err, fs.ErrExist) { // another process was as fast
		err = errors.Join(os.Remove(beside), atomicfile.SyncDir(filepath.Dir(s.path)))
	} else { // a file system without links
		err = atomicfile.Replace(beside, s.path)
	}
	return s.explainAny(err)
}

// initializeFile makes the buckets of a new file. It does nothing if another process was faster. The first generation
// is 1, so that zero can stand for none.
func (s *Store) initializeFile(tx *bolt.Tx) error {
	ready, err := s.hasLayout(tx)
	if err != nil || ready {
		return err
	}
	for _, name := range requiredBuckets() {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	b := tx.Bucket([]byte(bucketMeta))
	if err := errors.Join(b.Put([]byte(keyLayout), []byte{layout}), b.Put([]byte(keyLayoutNot),
		[]byte{layout ^ 0xff})); err != nil {
		return err
	}
	_, err = raiseGeneration(tx)
	return err
}

// hasLayout reports whether the file was initialized; a new file has no bucket at all. The error names the remedy for a
// damaged file, and for one of another program or another layout.
func (s *Store) hasLayout(tx *bolt.Tx) (bool, error) {
	b := tx.Bucket([]byte(bucketMeta))
	if b == nil {
		if k, _ := tx.Cursor().First(); k != nil {
			return false, &tool.Error{
				Code: tool.Internal, Op: "open store", Msg: fmt.Sprintf("%s is of another program: it has a bucket %q",
					s.path, k),
				Hint: `choose another directory with --data-dir, or have "tooldex index rebuild" move it aside`,
			}
		}
		return false, nil
	}
	v, not := b.Get([]byte(keyLayout)), b.Get([]byte(keyLayoutNot))
	switch {
	case len(v) != 1 || v[0] == 0 || not != nil && (len(not) != 1 || not[0] != v[0]^0xff):
		return false, s.damagedError(fmt.Errorf("layout is %x", v))
	case v[0] != layout:
		return false, &tool.Error{
			Code: tool.Invalid, Op: "open store",
			Msg:  fmt.Sprintf("%s has layout %d, this version reads layout %d only", s.path, v[0], layout),
			Hint: layoutRemedy(int(v[0])),
		}
	}
	return true, nil
}

// layoutRemedy returns the hint for a file of the layout have.
func layoutRemedy(have int) string {
	if have > layout {
		return "upgrade tooldex, or choose another directory with --data-dir"
	}
	return `run "tooldex index rebuild": it keeps the old file as a backup and saves its tools and servers`
}

// raiseGeneration adds one to the generation and returns it.
func raiseGeneration(tx *bolt.Tx) (uint64, error) {
	gen := readGeneration(tx) + 1
	return gen, errors.Join(setCounter(tx, keyGeneration, gen), renewStamp(tx))
}

// readGeneration returns the generation that tx sees, zero in a new file.
func readGeneration(tx *bolt.Tx) uint64 { return readCounter(tx, keyGeneration) }

// readCounter returns a number from the meta bucket, zero before it was first set. Its checksum is not verified here:
// readCounters reports a damaged one.
func readCounter(tx *bolt.Tx, key string) uint64 {
	if v := tx.Bucket([]byte(bucketMeta)).Get([]byte(key)); len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// counterKeys lists the keys of numbers, each with the bucket whose changes it counts; "" for the generation, which
// counts those of all buckets without a number of their own.
func counterKeys() map[string]string {
	return map[string]string{
		keyGeneration: "", keyPreferences: bucketPreferences,
		string(learnedBucket): string(learnedBucket), string(countBucket): string(countBucket),
	}
}

// readCounters notes in snap the numbers that are damaged, or missing although their bucket has values.
func (snap *Snapshot) readCounters(tx *bolt.Tx) {
	for key, bucket := range counterKeys() {
		v := tx.Bucket([]byte(bucketMeta)).Get([]byte(key))
		if v == nil && bucket != "" && readSum(tx, bucket).values == 0 {
			continue // never set
		}
		if _, err := unsealValue([]byte(key), v); err != nil {
			snap.Damaged = append(snap.Damaged, Damage{Kind: "number", Key: key, Err: err})
		}
	}
}

// setCounter stores a number, sealed like any value.
func setCounter(tx *bolt.Tx, key string, n uint64) error {
	return tx.Bucket([]byte(bucketMeta)).Put([]byte(key), sealPayload([]byte(key), binary.BigEndian.AppendUint64(nil,
		n)))
}

// explainAny is explainError for an error that may be nil.
func (s *Store) explainAny(err error) error {
	if err == nil {
		return nil
	}
	return s.explainError(err)
}
