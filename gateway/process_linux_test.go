package gateway

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The kernel ends a server whose gateway was killed without a chance to do it.
func TestChildrenEndWithTheParent(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(exe)
	parent.Env = append(os.Environ(), serverVariable+"=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid := strings.TrimSpace(line)
	if err != nil || dead(t, pid) {
		t.Errorf("child %q, error %v", pid, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	waitFor(t, "the child to end", func() bool { return dead(t, pid) || zombie(pid) })
}

// zombie reports whether a process has ended and nobody has asked how, as in a container without an init.
func zombie(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && strings.Contains(string(b), ") Z ")
}
