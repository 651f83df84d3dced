package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Write puts data in the place of a file, which has the mode then. It is [Create] of bytes.
func Write(path string, data []byte, mode fs.FileMode) error {
	return Create(path, mode, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
}

// Create puts what write writes in the place of a file, which has the mode then. Where path is a symbolic link, what it
// points to is replaced. What is there and is no regular file, as a pipe or a terminal, is written to as it is. The
// folder must be there.
func Create(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, write)
	}
	beside := Beside(path)
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return Replace(beside, path)
}

// writeThrough writes to something that cannot be replaced.
func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// Replace renames a file that lies [Beside] another and is on the disk to that one's name. If it cannot, the file is
// removed.
func Replace(beside, path string) error {
	if err := os.Rename(beside, path); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return SyncDir(filepath.Dir(path))
}

// MkdirAll makes a folder and those above it where they are missing, as [os.MkdirAll] does, and brings the names of the
// new ones to the disk.
func MkdirAll(dir string, mode fs.FileMode) error {
	above := filepath.Dir(filepath.Clean(dir))
	if _, err := os.Stat(dir); err == nil || above == dir {
		return os.MkdirAll(dir, mode) // it also says what is wrong with what is there
	}
	if err := MkdirAll(above, mode); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return SyncDir(above)
}

// SyncDir brings the names in a folder to the disk. Systems that cannot open folders do not need it.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid):
		return nil
	case err != nil:
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// strayAfter is how long a file that lies beside another may rest before it is taken for one that a process left behind
// when it was killed. Nobody writes that slowly; one who does finds the file gone and has an error.
const strayAfter = 10 * time.Minute

// Beside returns a name in the folder of path under which something can be written that is to replace it. It removes
// what was left behind under such names.
func Beside(path string) string {
	dir, name := filepath.Split(path)
	prefix := "." + name + ".new-"
	names, _ := os.ReadDir(filepath.Clean(dir)) // what cannot be read has nothing to remove
	for _, e := range names {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > strayAfter {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another process may do the same just now
		}
	}
	return filepath.Join(dir, fmt.Sprintf("%s%d-%08x", prefix, os.Getpid(), rand.Uint32()))
}
