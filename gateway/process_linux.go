package gateway

import (
	"os/exec"
	"syscall"
)

// setProcessGroup puts the child into a process group of its own, so that a terminal's Ctrl-C does not reach it and
// signals reach its own children, and has the kernel kill it should this process die without a chance to do so.
//
// The kernel sends that signal when the thread that started the child ends. Go ends a thread only if a goroutine exits
// while locked to it, which nothing here does.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
