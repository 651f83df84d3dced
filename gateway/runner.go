package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A package runner, such as npx or uvx, downloads a server before it runs it. One that is killed meanwhile may leave a
// broken installation, which then fails in every client. So it is not killed while it installs, up to this bound.
const installTimeout = 5 * time.Minute

// isPackageRunner reports whether a command is a package runner, also where it is given to a shell of Windows, as in
// cmd /c npx.
func isPackageRunner(command string, args []string) bool {
	name := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, suffix)
	}
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	switch name {
	case "npx", "pnpx", "bunx", "uvx":
		return true
	case "npm":
		return first == "exec" || first == "x"
	case "pnpm", "yarn":
		return first == "dlx"
	case "bun":
		return first == "x"
	case "uv":
		return first == "tool" || first == "run"
	case "pipx":
		return first == "run"
	case "cmd":
		return len(args) > 1 && strings.EqualFold(first, "/c") && isPackageRunner(args[1], args[2:])
	}
	return false
}

// installs reports whether a package runner still installs its server: it has started nothing yet, or only the scripts
// by which packages build themselves. It is false once the runner has ended. Where the processes of the system cannot
// be listed it is true, so that the installation is not ended.
func (p *process) installs() bool {
	if p == nil || !p.runner {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
	}
	children, ok := childProcesses(p.cmd.Process.Pid, p.depth)
	return !ok || !slices.ContainsFunc(children, func(c childProcess) bool { return !c.builds })
}

// childProcess is a process below another one.
type childProcess struct {
	builds bool // it builds or installs a package
}

// isBuild reports whether a process is one by which a package builds itself, from its environment and command line. npm
// names the script that runs; uv builds in a folder of its own.
func isBuild(environment, command []byte) bool {
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if event, ok := bytes.CutPrefix(entry, []byte("npm_lifecycle_event=")); ok {
			return bytes.Contains(event, []byte("install")) || bytes.Equal(event, []byte("prepare"))
		}
	}
	return bytes.Contains(command, []byte("builds-v"))
}

// limitStart returns a context in which a server is to start: it ends with errStartTimeout after the time for a start,
// in which the time of an installation does not count.
func (d *dialer) limitStart(ctx context.Context) (context.Context, func()) {
	timeout := d.startTimeout()
	if !isPackageRunner(d.cfg.Command, d.cfg.Args) {
		return context.WithTimeoutCause(ctx, timeout, errStartTimeout)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	began := time.Now()
	go func() {
		for at := began; ; { // the last moment when it did not run the server yet
			t := time.NewTimer(min(time.Second, max(time.Until(at.Add(timeout)), time.Millisecond)))
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
				return
			}
			installs := d.process.Load().installs()
			d.installing.Store(installs)
			switch {
			case time.Since(began) >= max(installTimeout, timeout):
				cancel(errInstallTimeout)
			case installs:
				at = time.Now()
			case time.Since(at) >= timeout:
				cancel(errStartTimeout)
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// brokenPackage finds the folder of a broken installation in what a package runner printed: a module that is missing
// below npx's folder of installed packages.
var brokenPackage = regexp.MustCompile(`['"\s(]((?:file://)?(?:/|[A-Za-z]:[\\/])[^'"\n]*?[\\/]_npx[\\/][0-9a-f]+)[\\/]`)

// brokenInstallation returns the folder of the package that failed to start, if it looks like an installation that was
// ended before it was complete; else "".
func brokenInstallation(x *expandedServer, lookup func(string) (string, bool), lines []string) string {
	text := strings.Join(lines, "\n")
	for _, sign := range []string{"ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "Cannot find module", "ENOTEMPTY", "ENOENT"} {
		if !strings.Contains(text, sign) {
			continue
		}
		if m := brokenPackage.FindStringSubmatch(" " + text); m != nil {
			return filepath.FromSlash(strings.TrimPrefix(m[1], "file://"))
		}
	}
	// The program of a package that was not linked yet: the shell does not find it. An isolated server could have put
	// anything in place of the files that installationOf reads.
	if !x.isolated && (strings.Contains(text, "not found") || strings.Contains(text, "Permission denied")) {
		return installationOf(x, lookup)
	}
	return ""
}

// installationOf returns the folder into which npx installed the package of a server, which npx notes in its
// package.json; "" if there is none.
func installationOf(x *expandedServer, lookup func(string) (string, bool)) string {
	folders, err := filepath.Glob(filepath.Join(npmCache(x, lookup), "_npx", "*", "package.json"))
	if err != nil {
		return ""
	}
	for _, file := range folders {
		var noted struct {
			Npx struct {
				Packages []string `json:"packages"`
			} `json:"_npx"`
		}
		if b, err := os.ReadFile(file); err != nil || json.Unmarshal(b, &noted) != nil {
			continue
		}
		for _, name := range noted.Npx.Packages {
			if slices.Contains(x.args, name) {
				return filepath.Dir(file)
			}
		}
	}
	return ""
}

// npmCache returns the folder in which npm keeps what it downloads.
func npmCache(x *expandedServer, lookup func(string) (string, bool)) string {
	value := func(name string) string {
		if v := x.env[name]; v != "" {
			return v
		}
		v, _ := lookup(name)
		return v
	}
	for _, name := range []string{"npm_config_cache", "NPM_CONFIG_CACHE"} {
		if dir := value(name); dir != "" {
			return dir
		}
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(value("LOCALAPPDATA"), "npm-cache")
	}
	return filepath.Join(value("HOME"), ".npm")
}

// descendants returns the processes below pid, in a table of the children of each process.
func descendants(children map[int][]int, pid int) []int {
	var out []int
	for _, child := range children[pid] {
		out = append(append(out, child), descendants(children, child)...)
	}
	return out
}
