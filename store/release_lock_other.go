//go:build !unix

package store

import "os"

// releaseLock closes a file that bbolt can no longer close. Closing it releases its lock. A nil file is ignored.
func releaseLock(f *os.File) {
	if f != nil {
		_ = f.Close() // already closed: nothing to release
	}
}
