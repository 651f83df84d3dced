package postgres

import (
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// boundSilence returns a control function for net.Dialer. It ends a connection on which sent data is not acknowledged
// for so long. Keepalive alone would not, because it only probes connections on which no data is under way.
func boundSilence(silence time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(network, _ string, c syscall.RawConn) error {
		if !strings.HasPrefix(network, "tcp") {
			return nil
		}
		var err error
		if failed := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
		}); failed != nil {
			return failed
		}
		return err
	}
}
