//go:build !windows && !plan9

package audit

import (
	"io"
	"log/syslog"
)

// supportsSyslog returns nil: this system has syslog.
func supportsSyslog(string) error { return nil }

// dialSyslog connects to a syslog server; an empty network is the system's own.
func dialSyslog(network, address string) (io.WriteCloser, error) {
	const priority = syslog.LOG_NOTICE | syslog.LOG_AUTHPRIV
	if network == "unix" { // which kind of socket it is, only an attempt shows
		if w, err := syslog.Dial("unixgram", address, priority, "tooldex"); err == nil {
			return w, nil
		}
	}
	return syslog.Dial(network, address, priority, "tooldex")
}
