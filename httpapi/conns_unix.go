//go:build unix

package httpapi

import (
	"math"
	"syscall"
)

// openFiles returns how many files this process may open.
func openFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || uint64(l.Cur) > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(l.Cur)
}
