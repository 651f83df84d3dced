//go:build !linux

package postgres

import (
	"syscall"
	"time"
)

// boundSilence does nothing: only Linux has a timeout for sent data that is not acknowledged.
func boundSilence(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
