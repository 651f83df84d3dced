package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// buildFile makes a new file beside the store's, has fill write to it in one transaction, syncs it to the disk and
// returns its path. If anything fails, no file is left.
func (s *Store) buildFile(fill func(*bolt.Tx) error) (_ string, err error) {
	path := atomicfile.Beside(s.path)
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		NoSync: true, NoGrowSync: true, FreelistType: bolt.FreelistMapType, // synced once, below
		NoStatistics: true,
	})
	if err != nil {
		return "", errors.Join(err, removeFile(path))
	}
	whole := false
	defer func() {
		if !whole { // also where fill panics, because what it reads is damaged
			err = errors.Join(err, db.Close(), removeFile(path))
		}
	}()
	if err := db.Update(fill); err != nil {
		return "", err
	}
	if err := db.Sync(); err != nil {
		return "", err
	}
	whole = true
	if err := db.Close(); err != nil {
		return "", errors.Join(err, removeFile(path))
	}
	return path, nil
}

// removeFile removes a file. One that does not exist is no error.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// replaceBy puts the file at beside in the place of the store's, in one step, under the exclusive lock. Its numbers
// become greater than those of the old file. Prepare may refuse the old file, which is nil if it is missing or too
// damaged to be locked, and change the new one. The old file stays under a name with why in it, which is returned; ""
// if there was none. After an error the old file is unchanged, and beside is removed.
func (s *Store) replaceBy(ctx context.Context, beside, why string, prepare func(old *bolt.DB, next *bolt.Tx) error,
) (kept string, err error) {
	err = s.withExclusiveLock(ctx, func(db *bolt.DB) error {
		old := s.readNumbersOf(db)
		if db == nil {
			if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
				old = changeNumbers{}
			}
		}
		err := newStoreAt(beside).writeTx(ctx, func(tx *bolt.Tx) error {
			if err := old.writeBeyond(tx); err != nil {
				return err
			}
			return prepare(db, tx)
		})
		if err != nil {
			return err
		}
		if _, err := os.Stat(s.path); err == nil {
			if kept, err = s.keepAside(why); err != nil {
				return err
			}
		}
		return s.explainAny(atomicfile.Replace(beside, s.path))
	})
	if err != nil {
		return "", errors.Join(err, removeFile(beside))
	}
	return kept, nil
}

// changeNumbers are the counters of a file by key. Processes compare them to decide whether their data is old, so a
// file that replaces another continues its numbers.
type changeNumbers map[string]uint64

// readNumbers returns the counters of a file.
func readNumbers(tx *bolt.Tx) changeNumbers {
	n := changeNumbers{}
	for key := range counterKeys() {
		n[key] = readCounter(tx, key)
	}
	return n
}

// writeBeyond sets the counters of tx to numbers greater than those of n, the replaced file, and than its own. A nil n
// means that the old file could not be read. The time in microseconds is used then, which is greater than any count of
// writes.
func (n changeNumbers) writeBeyond(tx *bolt.Tx) error {
	for key, own := range readNumbers(tx) {
		next := max(own, n[key]) + 1
		if n == nil {
			next = max(next, uint64(time.Now().UnixMicro()))
		}
		if err := setCounter(tx, key, next); err != nil {
			return err
		}
	}
	return renewStamp(tx)
}

// keepAside gives the store's file a second name, under which it stays when another replaces it, and returns that path.
// If it already has such a name, because an earlier attempt died in the middle, that one is returned.
func (s *Store) keepAside(why string) (string, error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return "", s.explainError(err)
	}
	dir, prefix := filepath.Dir(s.path), filepath.Base(s.path)+"."+why+"-"
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if other, err := e.Info(); err == nil && os.SameFile(info, other) {
			return filepath.Join(dir, e.Name()), nil
		}
	}
	if err != nil {
		return "", s.explainError(err)
	}
	name := filepath.Join(dir, prefix+time.Now().UTC().Format("20060102T150405.000"))
	err = os.Link(s.path, name)
	if err != nil { // a file system without links
		err = copyFile(s.path, name)
	}
	return name, s.explainAny(err)
}

// copyFile copies a file in one step: the copy is whole or does not exist.
func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	return atomicfile.Create(to, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// withExclusiveLock runs fn under the exclusive lock of the store's file. If there is no file, or it is too damaged to
// be locked, fn runs with a nil db and without the lock. fn does not run if the lock is taken, which is a Timeout, or
// if the file cannot be opened for a passing reason.
func (s *Store) withExclusiveLock(ctx context.Context, fn func(db *bolt.DB) error) error {
	if _, err := os.Stat(s.path); errors.Is(err, os.ErrNotExist) {
		return fn(nil)
	}
	locked := false
	err := s.withFile(ctx, false, func(db *bolt.DB) error {
		locked = true
		return fn(db)
	})
	if err == nil || locked || tool.CodeOf(err) == tool.Timeout || isOpenError(err) {
		return err
	}
	return fn(nil)
}

// isOpenError reports whether a file could not be opened for a reason that may pass, such as too many open files. Such
// an error is no sign of damage.
func isOpenError(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p) && p.Op == "open" && !errors.Is(err, fs.ErrPermission)
}

// readNumbersOf returns the counters of a file that may be damaged, nil if they cannot be read.
func (s *Store) readNumbersOf(db *bolt.DB) (n changeNumbers) {
	if db == nil {
		return nil
	}
	err := catchPanic(func() error {
		return db.View(func(tx *bolt.Tx) error {
			if err := s.checkLength(tx); err != nil {
				return err
			}
			if tx.Bucket([]byte(bucketMeta)) == nil {
				return errTruncated
			}
			n = readNumbers(tx)
			return nil
		})
	})
	if err != nil {
		return nil
	}
	return n
}

// catchPanic turns a panic of fn, which is how bbolt responds to damage, into an error. The caller must have set
// debug.SetPanicOnFault, so that faults of mapped memory are caught, too.
func catchPanic(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return fn()
}
