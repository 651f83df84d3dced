//go:build unix && !linux

package gateway

import (
	"bytes"
	"os/exec"
	"strconv"
	"syscall"
)

// setProcessGroup puts the child into a process group of its own. These systems have no way to tie its life to this
// process; servers end when their standard input does.
func setProcessGroup(cmd *exec.Cmd, _, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// childProcesses lists the processes below one. It returns false if they cannot be listed.
func childProcesses(pid, _ int) ([]childProcess, bool) {
	table, err := exec.Command("ps", "-axo", "pid=,ppid=,command=").Output() //nolint:noctx // it ends at once
	if err != nil {
		return nil, false
	}
	children, commands := map[int][]int{}, map[int][]byte{}
	for line := range bytes.Lines(table) {
		fields := bytes.Fields(line)
		if len(fields) < 3 {
			continue
		}
		child, err1 := strconv.Atoi(string(fields[0]))
		parent, err2 := strconv.Atoi(string(fields[1]))
		if err1 == nil && err2 == nil {
			children[parent], commands[child] = append(children[parent], child), line
		}
	}
	var out []childProcess
	for _, child := range descendants(children, pid) {
		out = append(out, childProcess{builds: isBuild(nil, commands[child])})
	}
	return out, true
}
