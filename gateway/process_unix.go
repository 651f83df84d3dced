//go:build unix

package gateway

import (
	"os"
	"syscall"
)

// terminateGroup asks the process and its children to end.
func terminateGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// killGroup ends the process and its children. It does nothing once all of them have ended.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
