//go:build !unix

package gateway

import (
	"os"
	"os/exec"
	"strconv"
)

func setProcessGroup(*exec.Cmd, bool, bool) {}

// childProcesses lists nothing: there is no simple way to.
func childProcesses(int, int) ([]childProcess, bool) { return nil, false }

// terminateGroup does nothing: there is no signal to ask with, and closing standard input has asked already.
func terminateGroup(*os.Process) {}

// killGroup ends the process and, where taskkill exists, its children.
func killGroup(p *os.Process) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run()
	_ = p.Kill()
}
