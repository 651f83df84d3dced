//go:build windows || plan9

package audit

import (
	"errors"
	"io"

	"tooldex/tool"
)

// supportsSyslog returns an Invalid error for any address: Go has no syslog for this system.
func supportsSyslog(address string) error {
	if address == "" {
		return nil
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "audit", Msg: "audit.syslog is not available on this system",
		Hint: "set audit.anchor to a file on another machine's disk",
	}
}

// dialSyslog fails.
func dialSyslog(string, string) (io.WriteCloser, error) { return nil, errors.ErrUnsupported }
