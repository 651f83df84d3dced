package store

import (
	"context"
	"path/filepath"
	"time"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// FileName is the name of the one file that a Store keeps in its directory.
const FileName = "tooldex.db"

// defaultLockTimeout is much longer than any section takes: only a stuck process reaches it.
const defaultLockTimeout = 10 * time.Second

// Options adjusts a Store. The zero value is right for almost everyone.
type Options struct {
	// LockTimeout is how long an operation waits for other processes to release the file. Zero means ten seconds.
	LockTimeout time.Duration
}

// withDefaults fills in what was left out.
func (o Options) withDefaults() Options {
	if o.LockTimeout <= 0 {
		o.LockTimeout = defaultLockTimeout
	}
	return o
}

// Store is the durable state in one data directory. It is safe for concurrent use by goroutines and, through other
// Stores on the same directory, by processes. It holds no file open between operations, so there is nothing to close.
type Store struct {
	path     string
	o        Options       // with its defaults filled in
	turn     chan struct{} // holds one token: sections of this process take turns here, without polling the file lock
	lastSeen seenGeneration

	health health
	// fault is set by tests only. It is called before each step of a section; an error makes the step fail.
	fault func(step string) error
}

// Open prepares the data directory dir: it makes the directory and the file where they are missing. It waits for other
// processes as any operation does.
//
// The error is Timeout when another process keeps the file locked, Invalid when the file has the layout of another
// version, and Internal when it is damaged. The hint names the remedy, and the file is left as it is.
func Open(dir string, o Options) (*Store, error) {
	s := newStore(dir, o)
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return nil, &tool.Error{
			Code: tool.Internal, Op: "open store", Msg: "cannot make the data directory " + dir,
			Hint: "choose another with --data-dir", Err: err,
		}
	}
	if err := s.ensureLayout(context.Background()); err != nil {
		return nil, err
	}
	return s, nil
}

// newStore returns a Store for dir without touching the disk.
func newStore(dir string, o Options) *Store {
	s := &Store{path: filepath.Join(dir, FileName), o: o.withDefaults(), turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// injectFault marks a step that a test may make fail. It returns nil outside of tests.
func (s *Store) injectFault(name string) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(name)
}
