//go:build unix && !linux

package gateway

import (
	"os/exec"
	"syscall"
)

// setProcessGroup puts the child into a process group of its own. These systems have no way to tie its life to this
// process; servers end when their standard input does.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
