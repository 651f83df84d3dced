package gateway

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// setProcessGroup puts the child into a process group of its own, so that a terminal's Ctrl-C does not reach it and
// signals reach its own children, and has the kernel kill it should this process die without a chance to do so.
//
// The kernel sends that signal when the thread that started the child ends. Go ends a thread only if a goroutine exits
// while locked to it, which nothing here does. A package runner is left out: it may install something, which would be
// broken from then on, and the server that it runs would not get the signal in any case. A child of its own session
// has no terminal, whose input it could forge; the first process of a session leads a group, too.
func setProcessGroup(cmd *exec.Cmd, runner, session bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !session, Setsid: session}
	if !runner {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}

// childProcesses lists the processes below one, or below its only descendant at a depth. It returns false if they cannot
// be listed.
func childProcesses(pid, depth int) ([]childProcess, bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, false
	}
	children := map[int][]int{}
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may hold anything; the state and the parent follow it.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 || string(fields[0]) == "Z" {
			continue
		}
		if parent, err := strconv.Atoi(string(fields[1])); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/stat", pid)); err != nil {
		return nil, false // not shown to us
	}
	for ; depth > 0 && len(children[pid]) > 0; depth-- {
		pid = children[pid][0]
	}
	if depth > 0 { // it was not started yet
		return nil, true
	}
	var out []childProcess
	for _, child := range descendants(children, pid) {
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", child)) // empty if it has ended
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		out = append(out, childProcess{builds: isBuild(environment, command)})
	}
	return out, true
}
