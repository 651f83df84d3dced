//go:build !linux

package postgres

import (
	"syscall"
	"time"
)

// boundSilence does nothing: only Linux can bound for how long what was sent is not acknowledged.
func boundSilence(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
