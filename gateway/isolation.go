package gateway

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
	"tooldex/upstream"
)

// isolation is what a server may reach, with its paths expanded.
type isolation struct {
	read, write []string
	network     bool
	memory      int64  // bytes; 0 for no bound
	home        string // its own folder, which is its HOME; "" for one that is dropped with the process
	dir         string // in which it runs; "" for home
	dropped     bool   // it ends with this process
}

// isolatedVariables lists the variables that an isolated process gets from ours: what it takes to find a program and to
// write texts. Its HOME is a folder of its own.
func isolatedVariables() []string {
	return []string{"PATH", "USER", "LOGNAME", "TERM", "TZ", "LANG", "LC_ALL", "LC_CTYPE"}
}

// passingHome is the HOME of an isolated process that keeps nothing, in its own /tmp.
const passingHome = "/tmp/home"

// isolatedHome returns the folder that is the HOME of an isolated server, "" if nothing is kept. Package runners install
// the server there, so that it cannot change what other servers are started from.
func isolatedHome(dir, server string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "homes", strings.TrimSuffix(featureFileName(server), ".json"))
}

// expandIsolation fills in what a configuration says of isolation. The home is not set yet.
func (e *expander) expandIsolation(i *upstream.Isolation) *isolation {
	out := &isolation{network: i.Network}
	e.keep(i.Check())
	for _, list := range []struct {
		field string
		from  []string
		to    *[]string
	}{{"isolate.read", i.Read, &out.read}, {"isolate.write", i.Write, &out.write}} {
		for n, path := range list.from {
			field := fmt.Sprintf("%s[%d]", list.field, n)
			if path == "~" || strings.HasPrefix(path, "~/") {
				path = "${HOME}" + path[1:]
			}
			path = e.expandField(field, path)
			if e.err != nil {
				return out
			}
			if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
				e.keep(&tool.Error{
					Code: tool.Invalid, Op: "start server",
					Msg:  fmt.Sprintf("server %q: %s, %s, cannot be used", e.server, field, path),
					Hint: "name a folder or file that exists, by its whole path", Err: err,
				})
			}
			*list.to = append(*list.to, filepath.Clean(path))
		}
	}
	out.memory, _ = i.MemoryBytes() // checked above
	return out
}

// keep keeps the first error.
func (e *expander) keep(err error) {
	if e.err == nil {
		e.err = err
	}
}

// isolate has x run its command in bubblewrap. It returns an error where that cannot be done: the server is then not
// started.
func (x *expandedServer) isolate(i *isolation, server string) error {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		hint := "install bubblewrap (apt install bubblewrap, dnf install bubblewrap), or take isolate out of its configuration"
		if runtime.GOOS != "linux" {
			hint = "bubblewrap runs on Linux only: take isolate out of its configuration, or run the server in a virtual machine"
		}
		return &tool.Error{
			Code: tool.Unavailable, Op: "start server", Hint: hint, Err: err,
			Msg: fmt.Sprintf("server %q is to be isolated by bubblewrap, which is not installed", server),
		}
	}
	program, err := exec.LookPath(x.command)
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return &tool.Error{
			Code: tool.Unavailable, Op: "start server", Msg: fmt.Sprintf("server %q: its command cannot be run", server),
			Hint: "install the command, or correct it in the configuration", Err: err,
		}
	}
	command := append([]string{program}, x.args...)
	if i.memory > 0 {
		limiter, err := exec.LookPath("prlimit")
		if err != nil {
			return &tool.Error{
				Code: tool.Unavailable, Op: "start server", Err: err,
				Msg:  fmt.Sprintf("the memory of server %q is to be bounded by prlimit, which is not installed", server),
				Hint: "install util-linux, or take memory out of its isolate",
			}
		}
		command = append([]string{limiter, fmt.Sprintf("--data=%d:%[1]d", i.memory), "--"}, command...)
	}
	if x.env["HOME"] == "" {
		x.env["HOME"] = i.home
		if i.home == "" {
			x.env["HOME"] = passingHome
		}
	}
	if !i.network { // package runners take what is there, and do not wait for a registry
		for _, name := range []string{"npm_config_offline", "UV_OFFLINE"} {
			if x.env[name] == "" {
				x.env[name] = "true"
			}
		}
	}
	x.command, x.args, x.dir, x.isolated = bwrap, append(i.flags(program), command...), "", true
	return nil
}

// flags returns the arguments of bubblewrap up to the command.
func (i *isolation) flags(program string) []string {
	out := []string{"--unshare-all", "--cap-drop", "ALL"}
	if i.network {
		out = append(out, "--share-net")
	}
	if i.dropped {
		out = append(out, "--die-with-parent")
	}
	for _, m := range i.mounts(program) {
		out = append(out, m.args...)
	}
	dir := i.dir
	if dir == "" {
		dir = i.home
	}
	if dir == "" {
		dir = passingHome
	}
	return append(out, "--remount-ro", "/", "--chdir", dir, "--")
}

// mount is one thing that an isolated process sees, and the arguments that put it at path.
type mount struct {
	path string
	args []string
}

// mounts lists what an isolated process sees, each folder before what is below it. What was named replaces what every
// process gets.
func (i *isolation) mounts(program string) []mount {
	var out []mount
	bind := func(flag, path string) { out = append(out, mount{path, []string{flag, path, path}}) }
	memoryFiles := func(path string) {
		args := []string{"--tmpfs", path}
		if i.memory > 0 {
			args = append([]string{"--size", strconv.FormatInt(i.memory, 10)}, args...)
		}
		out = append(out, mount{path, args})
	}
	for _, path := range systemPaths() {
		bind("--ro-bind-try", path)
	}
	for _, path := range programPaths(program) {
		bind("--ro-bind-try", path)
	}
	out = append(out, mount{"/proc", []string{"--proc", "/proc"}}, mount{"/dev", []string{"--dev", "/dev"}},
		mount{"/dev/tty", []string{"--ro-bind", "/dev/null", "/dev/tty"}}) // which would be ours
	memoryFiles("/dev/shm")
	memoryFiles("/tmp")
	if i.home != "" {
		bind("--bind", i.home)
	} else {
		out = append(out, mount{passingHome, []string{"--dir", passingHome}})
	}
	for _, path := range i.read {
		bind("--ro-bind", path)
	}
	for _, path := range i.write {
		bind("--bind", path)
	}
	slices.SortStableFunc(out, func(a, b mount) int { return strings.Compare(a.path, b.path) })
	return out
}

// systemPaths lists what every isolated process sees of the system, where it exists: programs, libraries, and the files
// of /etc by which they find names, certificates and users. None holds secrets.
func systemPaths() []string {
	out := []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/run/current-system",
		"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem",
		"/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust",
	}
	for _, name := range []string{
		"alternatives", "ca-certificates", "crypto-policies", "fonts", "gai.conf", "group", "host.conf", "hosts",
		"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf", "os-release", "passwd",
		"protocols", "resolv.conf", "services", "timezone",
	} {
		out = append(out, "/etc/"+name)
	}
	return out
}

// programPaths lists what a program needs that is not one of the system: the folder bin in which it lies, with the
// libraries beside it, as installations of Node and uv have them; the file alone if it lies elsewhere.
func programPaths(program string) []string {
	var out []string
	files := []string{program}
	if target, err := filepath.EvalSymlinks(program); err == nil && target != program {
		files = append(files, target)
	}
	for _, file := range files {
		bin := filepath.Dir(file)
		if filepath.Base(bin) != "bin" {
			out = append(out, file)
			continue
		}
		out = append(out, bin)
		for _, name := range []string{"lib", "lib64", "libexec"} {
			out = append(out, filepath.Join(filepath.Dir(bin), name))
		}
	}
	return out
}

// sees reports whether a path is, or lies below, one that the isolated process sees.
func (i *isolation) sees(path string) bool {
	for _, seen := range slices.Concat(i.read, i.write, []string{i.home}, systemPaths()) {
		if seen != "" && (path == seen || strings.HasPrefix(path, strings.TrimSuffix(seen, "/")+"/")) {
			return true
		}
	}
	return false
}

// hint is the advice after a start that failed in isolation. printed is what the server printed last, args are its own.
func (i *isolation) hint(printed string, args []string) string {
	switch {
	case strings.HasPrefix(printed, "bwrap:") && strings.Contains(printed, "nknown option"):
		return "install a newer bubblewrap, 0.7 at least"
	case strings.HasPrefix(printed, "bwrap:") && (strings.Contains(printed, "namespace") ||
		strings.Contains(printed, "uid map") || strings.Contains(printed, "RTM_NEWADDR") ||
		strings.Contains(printed, "mount proc")):
		return "this machine does not let programs isolate themselves: allow user namespaces (sysctl " +
			"kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu, kernel.unprivileged_userns_clone=1 on older Debian; " +
			"containers need --security-opt seccomp=unconfined), or take isolate out of its configuration"
	case !i.network && (strings.Contains(printed, "ENOTCACHED") || strings.Contains(printed, "only-if-cached") ||
		strings.Contains(printed, "network was disabled")):
		return "its package could not be fetched: check that the registry can be reached, and name the variables of a proxy " +
			"or registry, such as HTTPS_PROXY, in env"
	}
	for _, arg := range args {
		if filepath.IsAbs(arg) && !i.sees(filepath.Clean(arg)) {
			if _, err := os.Stat(arg); err == nil {
				return "it does not see " + arg + ": name that, or the folder that it lies in, in read or write of its isolate"
			}
		}
	}
	hint := "it runs isolated, and sees the folders that its isolate names and no others"
	if !i.network {
		hint += ", and no network"
	}
	return hint + "; name there what it needs"
}

// makeHome creates the home of an isolated server.
func (i *isolation) makeHome() error {
	if i.home == "" {
		return nil
	}
	// Not durable: it holds what can be installed again.
	return errors.Join(atomicfile.MkdirAll(filepath.Dir(i.home), 0o700), os.MkdirAll(i.home, 0o700))
}
