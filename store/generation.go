package store

import (
	"context"
	"os"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

// settled is how old a file's modification time must be before it is trusted to tell two writes apart: clocks of file
// systems tick as coarsely as once in two seconds.
const settled = 3 * time.Second

// seen remembers which generation a state of the file was found to have.
type seen struct {
	mu         sync.Mutex
	info       os.FileInfo
	generation uint64
}

// Generation returns the number of the last write by any process. While the file rests, it costs one stat; the file is
// opened only if it was written to since the last call, or in the last seconds. The errors are those of [Store.Load].
func (s *Store) Generation(ctx context.Context) (uint64, error) {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	info, err := os.Stat(s.path)
	if err == nil && s.seen.info != nil && os.SameFile(info, s.seen.info) &&
		info.Size() == s.seen.info.Size() && info.ModTime().Equal(s.seen.info.ModTime()) {
		return s.seen.generation, nil
	}
	var gen uint64
	if err := s.read(ctx, func(tx *bolt.Tx) error {
		gen = generation(tx)
		info, err = os.Stat(s.path) // under the lock: this is the state that has this generation
		return err
	}); err != nil {
		return 0, err
	}
	s.seen.info = nil
	if time.Since(info.ModTime()) > settled {
		s.seen.info, s.seen.generation = info, gen
	}
	return gen, nil
}
