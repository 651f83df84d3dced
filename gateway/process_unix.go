//go:build unix

package gateway

import (
	"os"
	"syscall"
)

// terminate asks the process and its children to end.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// kill ends the process and its children. There is no such group any more once all of them have ended.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
