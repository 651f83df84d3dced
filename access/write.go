package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// replaceFile replaces a file, in one step, by one that only this user can read.
func replaceFile(path string, data []byte) error {
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return writeError(path, err)
	}
	return nil
}

// writeError returns the error of a file that cannot be written.
func writeError(path string, err error) error {
	return &tool.Error{
		Code: tool.Internal, Op: "write tokens", Msg: path + " cannot be written",
		Hint: "check the permissions, and whether the disk is full", Err: err,
	}
}

// lockWait bounds how long an editor of the file waits for another, in steps of lockLook. A lock older than lockStale
// was left by a process that died.
const (
	lockWait  = 5 * time.Second
	lockStale = 30 * time.Second
	lockLook  = 20 * time.Millisecond
)

// lockFile keeps other processes from editing the file. The lock is a file beside it, which unlock removes. The error
// is Unavailable after lockWait.
func lockFile(path string) (unlock func(), err error) {
	lock := path + ".lock"
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, writeError(path, err)
	}
	for until := time.Now().Add(lockWait); ; time.Sleep(lockLook) {
		held, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = held.Close()
			return func() { _ = os.Remove(lock) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, writeError(path, err)
		}
		if info, err := os.Stat(lock); err == nil && time.Since(info.ModTime()) > lockStale {
			_ = os.Remove(lock)
			continue
		}
		if time.Now().After(until) {
			return nil, &tool.Error{
				Code: tool.Unavailable, Op: "write tokens",
				Msg: fmt.Sprintf("another process is changing %s", path), Hint: "try again; if no process does, remove " +
					lock,
			}
		}
	}
}
