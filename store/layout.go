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

// layout is the version of what the buckets hold. A change that an older program would misread raises it, and comes
// with a migration and a fixture of the older layout under testdata.
//
//	1  values without checksums; no sources, lent or overlays
//	2  each value ends in a checksum of its key and content
//	3  checksums behind numbers, too, and sums of the values of each bucket that cannot be made again
const layout = 3

// The buckets. Those of vectors and lent hold one bucket for each model and each version of the knowledge.
const (
	bucketMeta     = "meta"
	bucketTools    = "tools"
	bucketVectors  = "vectors"
	bucketLent     = "lent"
	bucketServers  = "servers"
	bucketSources  = "sources"
	bucketOverlays = "overlays"
)

const (
	keyLayout     = "layout"
	keyLayoutNot  = "layout~" // the same with all bits turned, since a wrong layout would have the file misread
	keyGeneration = "generation"
)

// buckets lists all that a file of the current layout has.
func buckets() []string {
	return []string{bucketMeta, bucketTools, bucketVectors, bucketLent, bucketServers, bucketSources, bucketOverlays}
}

// migrations holds at n-1 what brings layout n to n+1.
func migrations() []func(*bolt.Tx) error {
	return []func(*bolt.Tx) error{addChecksums, addSums}
}

// prepare makes the file usable: a shared lock is enough where there is nothing to do.
func (s *Store) prepare(ctx context.Context) error {
	ready := false
	err := s.view(ctx, func(tx *bolt.Tx) error {
		n, err := s.layoutOf(tx)
		ready = n == layout
		return err
	})
	if err != nil || ready {
		return err
	}
	return s.update(ctx, s.migrate)
}

// create makes the file, if there is none. Until it is whole it has another name, so that an empty file is a damaged
// one.
func (s *Store) create() error {
	beside, err := s.build(s.migrate)
	if err != nil {
		return s.explain(err)
	}
	err = os.Link(beside, s.path)
	if err == nil || errors.Is(err, fs.ErrExist) { // another process was as fast
		err = errors.Join(os.Remove(beside), atomicfile.SyncDir(filepath.Dir(s.path)))
	} else { // a file system without links
		err = atomicfile.Replace(beside, s.path)
	}
	return s.explainNil(err)
}

// migrate brings an empty or older file to the current layout, in the transaction that it is given.
func (s *Store) migrate(tx *bolt.Tx) error {
	have, err := s.layoutOf(tx)
	if err != nil || have == layout { // another process was faster
		return err
	}
	for n := have; n > 0 && n < layout; n++ {
		if err := s.step("migrate"); err != nil {
			return err
		}
		if err := migrations()[n-1](tx); err != nil {
			return s.damaged(fmt.Errorf("migrate layout %d: %w", n, err))
		}
	}
	for _, name := range buckets() {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	b := tx.Bucket([]byte(bucketMeta))
	if err := errors.Join(b.Put([]byte(keyLayout), []byte{layout}), b.Put([]byte(keyLayoutNot),
		[]byte{layout ^ 0xff})); err != nil {
		return err
	}
	_, err = raise(tx)
	return err
}

// layoutOf returns the layout of the file, 0 for one that was never written to.
func (s *Store) layoutOf(tx *bolt.Tx) (int, error) {
	b := tx.Bucket([]byte(bucketMeta))
	if b == nil {
		if k, _ := tx.Cursor().First(); k != nil {
			return 0, &tool.Error{
				Code: tool.Internal, Op: "open store", Msg: fmt.Sprintf("%s is of another program: it has a bucket %q",
					s.path, k),
				Hint: `choose another directory with --data-dir, or have "tooldex index rebuild" move it aside`,
			}
		}
		return 0, nil
	}
	v, not := b.Get([]byte(keyLayout)), b.Get([]byte(keyLayoutNot))
	switch {
	case len(v) != 1 || v[0] == 0 || not != nil && (len(not) != 1 || not[0] != v[0]^0xff):
		return 0, s.damaged(fmt.Errorf("layout is %x", v))
	case v[0] > layout:
		return 0, &tool.Error{
			Code: tool.Invalid, Op: "open store", Msg: fmt.Sprintf("%s has layout %d, this version knows up to %d",
				s.path, v[0], layout),
			Hint: "upgrade tooldex, or choose another directory with --data-dir",
		}
	}
	return int(v[0]), nil
}

// raise adds one to the generation and returns it.
func raise(tx *bolt.Tx) (uint64, error) {
	gen := generation(tx) + 1
	return gen, setCounter(tx, keyGeneration, gen)
}

func generation(tx *bolt.Tx) uint64 { return counter(tx, keyGeneration) }

// counter returns a number of the bucket of numbers, zero before it was first set. One that is damaged is returned as
// it is: what is loaded tells of it.
func counter(tx *bolt.Tx, key string) uint64 {
	if v := tx.Bucket([]byte(bucketMeta)).Get([]byte(key)); len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// counters lists the numbers, each with the bucket whose changes it counts; "" for all that have none of their own.
func counters() map[string]string {
	return map[string]string{
		keyGeneration: "", keyPreferences: bucketPreferences,
		string(learnedNotes): string(learnedNotes), string(countNotes): string(countNotes),
	}
}

// readCounters notes in snap the numbers that are damaged, or not there although they must be.
func (snap *Snapshot) readCounters(tx *bolt.Tx) {
	for key, bucket := range counters() {
		v := tx.Bucket([]byte(bucketMeta)).Get([]byte(key))
		if v == nil && bucket != "" && readSum(tx, bucket).values == 0 {
			continue // never set
		}
		if _, err := unseal([]byte(key), v); err != nil {
			snap.Damaged = append(snap.Damaged, Damage{Kind: "number", Key: key, Err: err})
		}
	}
}

func setCounter(tx *bolt.Tx, key string, n uint64) error {
	return tx.Bucket([]byte(bucketMeta)).Put([]byte(key), seal([]byte(key), binary.BigEndian.AppendUint64(nil, n)))
}

// addChecksums brings layout 1 to layout 2.
func addChecksums(tx *bolt.Tx) error {
	for _, name := range []string{bucketTools, bucketServers} {
		if b := tx.Bucket([]byte(name)); b != nil {
			if err := sealAll(b); err != nil {
				return err
			}
		}
	}
	models := tx.Bucket([]byte(bucketVectors))
	if models == nil {
		return nil
	}
	return models.ForEachBucket(func(k []byte) error { return sealAll(models.Bucket(k)) })
}

func sealAll(b *bolt.Bucket) error {
	type pair struct{ k, v []byte }
	var pairs []pair // a bucket must not be changed while it is walked
	err := b.ForEach(func(k, v []byte) error {
		pairs = append(pairs, pair{append([]byte(nil), k...), seal(k, v)})
		return nil
	})
	for _, p := range pairs {
		err = errors.Join(err, b.Put(p.k, p.v))
	}
	return err
}

func (s *Store) explainNil(err error) error {
	if err == nil {
		return nil
	}
	return s.explain(err)
}
