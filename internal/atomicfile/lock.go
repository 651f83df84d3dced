package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrLocked is the error of a lock that another process holds.
var ErrLocked = errors.New("another process is changing the file")

// lockWait bounds how long Lock waits for another process, in steps of lockLook. A lock older than lockStale was left by
// a process that died.
const (
	lockWait  = 5 * time.Second
	lockStale = 30 * time.Second
	lockLook  = 20 * time.Millisecond
)

// Lock keeps other processes from changing a file whose changers all call Lock. The lock is the file path.lock, which
// unlock removes; the folder is made if it is missing. The error is ErrLocked after 5 seconds, or that of the file
// system.
func Lock(path string) (unlock func(), err error) {
	lock := path + ".lock"
	if err := MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	for until := time.Now().Add(lockWait); ; time.Sleep(lockLook) {
		held, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = held.Close()
			return func() { _ = os.Remove(lock) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Stat(lock); err == nil && time.Since(info.ModTime()) > lockStale {
			_ = os.Remove(lock)
			continue
		}
		if time.Now().After(until) {
			return nil, ErrLocked
		}
	}
}
