//go:build linux || darwin || freebsd || netbsd || openbsd

package flatfile

import (
	"os"
	"syscall"
)

const canMap = true

func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmap(b []byte) { _ = syscall.Munmap(b) } // it only fails for memory that is not mapped
