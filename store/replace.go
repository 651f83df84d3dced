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

// build makes a file beside the store's, has fill write to it, brings it to the disk and returns its path.
func (s *Store) build(fill func(*bolt.Tx) error) (_ string, err error) {
	path := atomicfile.Beside(s.path)
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		NoSync: true, NoGrowSync: true, FreelistType: bolt.FreelistMapType,
		NoStatistics: true,
	})
	if err != nil {
		return "", errors.Join(err, remove(path))
	}
	whole := false
	defer func() {
		if !whole { // also where fill panics, because what it reads is damaged
			err = errors.Join(err, db.Close(), remove(path))
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
		return "", errors.Join(err, remove(path))
	}
	return path, nil
}

// remove removes a file that need not be there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// changeNumbers count the changes of a file. Processes tell by them whether what they know is old, so that a file that takes
// the place of another goes on where that one was.
type changeNumbers map[string]uint64

func readNumbers(tx *bolt.Tx) changeNumbers {
	n := changeNumbers{}
	for key := range counters() {
		n[key] = counter(tx, key)
	}
	return n
}

// writeBeyond writes numbers that are greater than those of the file that is replaced, and than those of tx. Where old is
// nil, because the file could not be read, the time is greater than any number it can have had.
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
	return nil
}

// keepAside gives the store's file a second name, under which it stays when another takes its place, and returns that name.
// A name that it has already been given, before a death in the middle, is given again.
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

// copyFile copies a file.
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

// withExclusiveLock runs fn under the exclusive lock of the store's file, if there is one and it can be locked. Where it
// cannot, because it is damaged, fn runs without, with a nil db. Timeout means that someone is at work in it, and fn
// has not run; nor has it if the file could not be opened.
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

// isOpenError reports whether a file could not be opened for a reason that may pass, such as too many open files: that
// says nothing about what is in it.
func isOpenError(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p) && p.Op == "open" && !errors.Is(err, fs.ErrPermission)
}

// readNumbersOf reads the numbers of a file that may be damaged, nil if it cannot.
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

// catchPanic makes an error of a panic, which is what bbolt answers to damage. The caller has SetPanicOnFault on.
func catchPanic(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return fn()
}
