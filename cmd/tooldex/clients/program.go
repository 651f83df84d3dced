package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// OwnProgram returns the absolute path of this program, since clients start servers in any folder. If the command of
// this name on PATH is this program, it is the path of that, often a link, which survives an update.
func OwnProgram(name string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if found, err := exec.LookPath(name); err == nil && sameFile(found, program) {
		program = found
	}
	if program, err = filepath.Abs(program); err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return program, nil
}

// sameFile reports whether two paths lead to one existing file, links followed.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
