//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock of a file. It reports false if another process has it.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

// releaseLock releases the lock of a file.
func releaseLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
