//go:build unix

package store

import (
	"os"
	"syscall"
)

// releaseLock gives up a file that bbolt can no longer close. The lock is released by hand, because the memory map that is
// left behind would keep it.
func releaseLock(f *os.File) {
	if f == nil {
		return
	}
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // already closed: nothing to release
	_ = f.Close()
}
