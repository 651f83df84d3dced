package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"tooldex/tool"
)

// The wait between two attempts at the file lock doubles from firstWait to mostWait. bbolt's own wait is fixed at 50
// ms, longer than most sections last.
const (
	firstWait = 500 * time.Microsecond
	mostWait  = 16 * time.Millisecond
)

var (
	errMoved = errors.New("the file was replaced") // while its lock was awaited
	errEmpty = errors.New("it is empty")
)

// readTx runs fn in a read transaction under the shared lock. Slices that fn gets from tx are invalid once it returns.
func (s *Store) readTx(ctx context.Context, fn func(*bolt.Tx) error) error {
	err := s.withFile(ctx, true, func(db *bolt.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			if err := s.checkLength(tx); err != nil {
				return err
			}
			return fn(tx)
		})
	})
	s.health.recordError(true, err)
	return err
}

// writeTx runs fn in a write transaction under the exclusive lock. If it returns nil, the changes are on the disk;
// otherwise none are made.
func (s *Store) writeTx(ctx context.Context, fn func(*bolt.Tx) error) error {
	err := s.withFile(ctx, false, func(db *bolt.DB) error {
		return db.Update(func(tx *bolt.Tx) error {
			if err := s.checkLength(tx); err != nil {
				return err
			}
			if err := fn(tx); err != nil {
				return err
			}
			return s.injectFault("commit")
		})
	})
	s.health.recordError(false, err)
	return err
}

// withFile opens the file, which it creates if need be, waits for its lock, runs fn and closes the file. A damaged file
// makes bbolt panic, and a truncated one makes the mapped memory fault: both become errors here. fn must not use the
// Store, which would wait for itself.
func (s *Store) withFile(ctx context.Context, readOnly bool, fn func(*bolt.DB) error) (err error) {
	select {
	// Goroutines of this process take turns here, without polling the file lock.
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // also where it was this goroutine's turn
		return s.timeoutError(err)
	}
	var held *os.File
	// It applies to this goroutine alone, on which fn runs.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			releaseLock(held) // not DB.Close: the panic may have left its mutexes locked
			err = s.damagedError(fmt.Errorf("%v", p))
		}
	}()
	db, err := s.acquireFile(ctx, readOnly, &held)
	if err != nil {
		return err
	}
	if err = fn(db); err != nil {
		err = s.explainError(err)
	}
	return errors.Join(err, db.Close())
}

// acquireFile opens the file and gets its lock. It tries again until the lock is free, ctx ends or the timeout is over.
// *held is the file that was opened last.
func (s *Store) acquireFile(ctx context.Context, readOnly bool, held **os.File) (*bolt.DB, error) {
	deadline := time.Now().Add(s.o.LockTimeout)
	for wait := firstWait; ; wait = min(wait*2, mostWait) {
		db, err := s.openOnce(readOnly, held)
		if err == nil {
			return db, nil
		}
		// Another process may have moved the file aside; the first that looks makes a new one.
		if errors.Is(err, fs.ErrNotExist) {
			err = s.createFile()
			if err == nil {
				err = errMoved
			}
		}
		if !errors.Is(err, berrors.ErrTimeout) && !errors.Is(err, errMoved) {
			return nil, s.explainError(err)
		}
		if time.Now().After(deadline) {
			return nil, s.timeoutError(err)
		}
		timer := time.NewTimer(wait/2 + rand.N(wait)) // random, so that processes do not wait in step
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, s.timeoutError(ctx.Err())
		}
	}
}

// openOnce makes one attempt. It sets *held to the open file, for the case that bbolt panics before it returns. The
// error is ErrTimeout of bbolt if the lock is taken, and errMoved if the file was replaced while it was being opened.
func (s *Store) openOnce(readOnly bool, held **os.File) (*bolt.DB, error) {
	if err := s.injectFault("open"); err != nil {
		return nil, err
	}
	db, err := bolt.Open(s.path, 0o600, &bolt.Options{
		Timeout:      time.Nanosecond, // one try; the waiting is ours
		ReadOnly:     readOnly,
		FreelistType: bolt.FreelistMapType,
		NoStatistics: true,
		OpenFile: func(path string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(path, flag&^os.O_CREATE, mode) // bbolt would make a file, and fill an empty one
			if err != nil {
				return nil, err
			}
			*held = f
			if info, err := f.Stat(); err != nil || info.Size() == 0 {
				return nil, errors.Join(err, s.damagedError(errEmpty), f.Close())
			}
			return f, nil
		},
	})
	if err != nil {
		return nil, err
	}
	here, err := (*held).Stat()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	now, err := os.Stat(s.path)
	if err != nil || !os.SameFile(here, now) { // moved aside by Recover in another process
		return nil, errors.Join(errMoved, db.Close())
	}
	return db, nil
}

// checkLength checks that the file is as long as its own pages say, before any of them is read: reading a mapped page
// beyond the end would fault.
func (s *Store) checkLength(tx *bolt.Tx) error {
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if info.Size() < tx.Size() {
		return s.damagedError(fmt.Errorf("truncated to %d of %d bytes", info.Size(), tx.Size()))
	}
	return nil
}

// explainError turns an error of bbolt or the system into one with a hint. It returns errors that have one as they are.
func (s *Store) explainError(err error) error {
	var own *tool.Error
	switch {
	case errors.As(err, &own):
		return err
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch),
		errors.Is(err, berrors.ErrChecksum):
		return s.damagedError(err)
	case errors.Is(err, fs.ErrPermission):
		return &tool.Error{
			Code: tool.Internal, Op: "store", Msg: "no permission to use " + s.path,
			Hint: "make it writable, or choose another directory with --data-dir", Err: err,
		}
	case s.isTiny():
		return s.damagedError(err)
	default:
		return &tool.Error{
			Code: tool.Internal, Op: "store", Msg: "cannot use " + s.path,
			Hint: "see that the disk is neither full nor failing", Err: err,
		}
	}
}

// isTiny reports whether the file is shorter than its first two pages, for which bbolt has no error of its own.
func (s *Store) isTiny() bool {
	info, err := os.Stat(s.path)
	return err == nil && info.Size() > 0 && info.Size() < int64(2*os.Getpagesize())
}

// damagedError returns the error of a damaged file, which wraps ErrDamaged.
func (s *Store) damagedError(err error) error {
	return &tool.Error{
		Code: tool.Internal, Op: "store", Msg: "the file " + s.path + " is damaged",
		Hint: `run "tooldex index rebuild": it keeps the damaged file as a backup, saves what can be read, ` +
			`and the next import adds the rest`,
		Err: damage{err},
	}
}

// timeoutError returns the error of a lock that was not obtained, because of the timeout or the end of a context.
func (s *Store) timeoutError(err error) error {
	return &tool.Error{
		Code: tool.Timeout, Op: "store", Msg: "gave up waiting for " + s.path + ", which is in use",
		Hint: "try again; if this stays so, end the process that keeps it locked", Err: err,
	}
}
