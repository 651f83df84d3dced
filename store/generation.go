package store

import (
	"context"
	"os"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

// settled is how old the modification time of a file must be before it can tell two writes apart: clocks of file
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
