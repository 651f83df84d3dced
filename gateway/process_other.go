//go:build !unix

package gateway

import (
	"os"
	"os/exec"
	"strconv"
)

func prepare(*exec.Cmd) {}

// terminate does nothing: there is no signal to ask with, and closing standard input has asked already.
func terminate(*os.Process) {}

// kill ends the process and, where taskkill exists, its children.
func kill(p *os.Process) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run()
	_ = p.Kill()
}
