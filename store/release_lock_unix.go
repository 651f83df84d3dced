//go:build unix

package store

import (
	"os"
	"syscall"
)

// releaseLock closes a file that bbolt can no longer close. The lock is released explicitly, since the memory map that
// is left behind would keep it. A nil file is ignored.
func releaseLock(f *os.File) {
	if f == nil {
		return
	}
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // already closed: nothing to release
	_ = f.Close()
}
