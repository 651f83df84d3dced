//go:build linux || darwin || freebsd || netbsd || openbsd

package flatfile

import (
	"os"
	"syscall"
)

const canMap = true

func mapFile(f *os.File, size int) ([]byte, error) { return mapPart(f, 0, size) }

// mapPart maps a part of a file that begins at a multiple of the size of a page.
func mapPart(f *os.File, at int64, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), at, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmap(b []byte) { _ = syscall.Munmap(b) } // it only fails for memory that is not mapped
