//go:build !unix

package store

import "os"

// releaseLock gives up a file that bbolt can no longer close. Closing it releases its lock.
func releaseLock(f *os.File) {
	if f != nil {
		_ = f.Close() // already closed: nothing to release
	}
}
