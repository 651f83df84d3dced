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

	"tooldex/tool"
)

// layout is the version of what the buckets hold. A change that an older program would misread raises it, and comes with
// a migration and a fixture of the older layout under testdata.
//
//	1  values without checksums; no sources, lent or overlays
//	2  each value ends in a checksum of its key and content
const layout = 2

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
	keyGeneration = "generation"
)

// buckets lists all that a file of the current layout has.
func buckets() []string {
	return []string{bucketMeta, bucketTools, bucketVectors, bucketLent, bucketServers, bucketSources, bucketOverlays}
}

// migrations holds at n-1 what brings layout n to n+1.
func migrations() []func(*bolt.Tx) error {
	return []func(*bolt.Tx) error{addChecksums}
}

// prepare makes the file usable: a shared lock is enough where there is nothing to do.
func (s *Store) prepare(ctx context.Context) error {
	ready := false
	if info, err := os.Stat(s.path); err == nil && info.Size() > 0 {
		err := s.view(ctx, func(tx *bolt.Tx) error {
			n, err := s.layoutOf(tx)
			ready = n == layout
			return err
		})
		if err != nil || ready {
			return err
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.explain(err)
	}
	if err := s.update(ctx, s.migrate); err != nil {
		return err
	}
	return s.explainNil(syncDir(filepath.Dir(s.path)))
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
	if err := b.Put([]byte(keyLayout), []byte{layout}); err != nil {
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
			return 0, s.damaged(fmt.Errorf("not a tooldex file: it has a bucket %q", k))
		}
		return 0, nil
	}
	v := b.Get([]byte(keyLayout))
	switch {
	case len(v) != 1 || v[0] == 0:
		return 0, s.damaged(fmt.Errorf("layout is %x", v))
	case v[0] > layout:
		return 0, &tool.Error{
			Code: tool.Invalid, Op: "open store", Msg: fmt.Sprintf("%s has layout %d, this version knows up to %d", s.path, v[0], layout),
			Hint: "upgrade tooldex, or choose another directory with --data-dir",
		}
	}
	return int(v[0]), nil
}

// raise adds one to the generation and returns it.
func raise(tx *bolt.Tx) (uint64, error) {
	gen := generation(tx) + 1
	var v [8]byte
	binary.BigEndian.PutUint64(v[:], gen)
	return gen, tx.Bucket([]byte(bucketMeta)).Put([]byte(keyGeneration), v[:])
}

func generation(tx *bolt.Tx) uint64 { return counter(tx, keyGeneration) }

// counter returns a number of the bucket of numbers, zero before it was first set.
func counter(tx *bolt.Tx, key string) uint64 {
	if v := tx.Bucket([]byte(bucketMeta)).Get([]byte(key)); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
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

// syncDir makes a new name in a directory durable. Systems that cannot open directories do not need it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil //nolint:nilerr // such a system makes names durable by itself
	}
	err = d.Sync()
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	return err
}

func (s *Store) explainNil(err error) error {
	if err == nil {
		return nil
	}
	return s.explain(err)
}
