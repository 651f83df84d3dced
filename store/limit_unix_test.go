//go:build unix

package store

import "syscall"

// limitFiles makes writes past n bytes of any file fail in this process.
var limitFiles = func(n int) error {
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)})
}
