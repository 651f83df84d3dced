package store

import (
	"context"
	"crypto/rand"
	"os"
	"sync"
	"time"

	"tooldex/upstream"

	bolt "go.etcd.io/bbolt"
)

// settled is how old the modification time of a file must be before it can distinguish two writes: clocks of file
// systems tick as coarsely as once in two seconds.
const settled = 3 * time.Second

// seenGeneration caches the generation of one state of the file. mu guards the other fields, and is held while the file
// is read.
type seenGeneration struct {
	mu         sync.Mutex
	info       os.FileInfo // of the state; nil if nothing is cached
	generation uint64
	preferred  uint64 // the number of the last change of preferences
}

// Generation returns the number of the last write by any process. While the file does not change, it costs one stat;
// the file is opened only if it was written since the last call, or within the last three seconds. The errors are those
// of [Store.Load].
func (s *Store) Generation(ctx context.Context) (uint64, error) {
	gen, _, err := s.readGeneration(ctx)
	return gen, err
}

// readGeneration returns the generation, and the number of the last change of preferences.
func (s *Store) readGeneration(ctx context.Context) (gen, preferred uint64, err error) {
	s.lastSeen.mu.Lock()
	defer s.lastSeen.mu.Unlock()
	info, err := os.Stat(s.path)
	if err == nil && s.lastSeen.info != nil && os.SameFile(info, s.lastSeen.info) &&
		info.Size() == s.lastSeen.info.Size() && info.ModTime().Equal(s.lastSeen.info.ModTime()) {
		return s.lastSeen.generation, s.lastSeen.preferred, nil
	}
	if err := s.readCurrent(ctx, func(tx *bolt.Tx) error {
		gen, preferred = readGeneration(tx), readCounter(tx, keyPreferences)
		info, err = os.Stat(s.path) // under the lock: this is the state that has this generation
		return err
	}); err != nil {
		return 0, 0, err
	}
	s.lastSeen.info = nil
	if time.Since(info.ModTime()) > settled {
		s.lastSeen.info, s.lastSeen.generation, s.lastSeen.preferred = info, gen, preferred
	}
	return gen, preferred, nil
}

// Stamp identifies one state of the file's tools and all that belongs to them. Other than a generation, it never comes
// again: neither in another file nor after an older one was put back. The zero Stamp means that the state has none, as
// those that older versions wrote.
type Stamp [16]byte

// Head is what a process needs to know of the file before it uses an index that was made of it.
type Head struct {
	Generation uint64
	Stamp      Stamp
	Servers    []upstream.Server // by name
	Damaged    bool              // a server cannot be read
}

// ReadHead reads the head of the file as it is now, in one transaction. The errors are those of [Store.Load].
func (s *Store) ReadHead(ctx context.Context) (Head, error) {
	var h Head
	err := s.readCurrent(ctx, func(tx *bolt.Tx) error {
		snap := newSnapshot()
		snap.readServers(tx)
		h = Head{readGeneration(tx), readStamp(tx), snap.Servers, len(snap.Damaged) > 0}
		return nil
	})
	return h, err
}

// readStamp returns the stamp that tx sees; the zero Stamp for one that is missing or damaged.
func readStamp(tx *bolt.Tx) (stamp Stamp) {
	payload, err := unsealValue([]byte(keyStamp), tx.Bucket([]byte(bucketMeta)).Get([]byte(keyStamp)))
	if err == nil && len(payload) == len(stamp) {
		copy(stamp[:], payload)
	}
	return stamp
}

// renewStamp gives the state that tx writes a stamp of its own.
func renewStamp(tx *bolt.Tx) error {
	var stamp Stamp
	_, _ = rand.Read(stamp[:]) // it never fails
	return tx.Bucket([]byte(bucketMeta)).Put([]byte(keyStamp), sealPayload([]byte(keyStamp), stamp[:]))
}
