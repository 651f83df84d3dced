package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// packed writes the packages for this machine, at a version, into a folder. The program is the real one, or with -short
// a script that prints the version.
func packed(t *testing.T, version string) (out string) {
	t.Helper()
	s := source{dir: top, version: version, downloads: "https://example.com/v1/"}
	p := platform{"linux", host().arch}
	program := filepath.Join(t.TempDir(), "tooldex")
	if testing.Short() {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho "+version+" \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	} else if err := s.binary(t.Context(), p, program); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := os.ReadFile("../../deploy/tooldex.service")
	if err != nil {
		t.Fatal(err)
	}
	files := []entry{
		{"tooldex", 0o755, data},
		{"LICENSE", 0o644, []byte("licence\n")},
		{"README.md", 0o644, []byte("read\n")},
		{"tooldex.service", 0o644, unit},
		{"completions/tooldex.bash", 0o644, []byte("complete\n")},
		{"completions/tooldex.zsh", 0o644, []byte("complete\n")},
		{"completions/tooldex.powershell", 0o644, []byte("x\n")},
	}
	out = t.TempDir()
	at := time.Unix(1_750_000_000, 0).UTC()
	if err := s.writePackages(p, t.TempDir(), out, s.archiveName(p), files, at); err != nil {
		t.Fatal(err)
	}
	if err := s.writeNPMProgram(p, out, files, at); err != nil {
		t.Fatal(err)
	}
	if err := s.writeNPMLauncher(out, at, platforms()...); err != nil {
		t.Fatal(err)
	}
	return out
}

// oneFile returns the only file that matches a pattern.
func oneFile(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// do runs a program, and returns what it writes.
func do(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "TOOLDEX_DATA_DIR="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// need returns the path of a program, and skips the test without it.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(program, " is not installed: ", err)
	}
	return path
}

// requireInstalled requires that a package has put everything into its place below root.
func requireInstalled(t *testing.T, root, licence string) {
	t.Helper()
	if got := do(t, filepath.Join(root, "usr/bin/tooldex"), "version"); !strings.Contains(got, "v1.2.3") {
		t.Errorf("the installed program says %q", got)
	}
	for _, name := range []string{
		licence, "usr/share/doc/tooldex/README.md", "usr/share/bash-completion/completions/tooldex",
		"usr/lib/systemd/system/tooldex.service",
	} {
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/tooldex.service"))
	if err != nil || !bytes.Contains(unit, []byte("ExecStart=/usr/bin/tooldex ")) {
		t.Errorf("the unit starts another program: %v", err)
	}
	if found, _ := filepath.Glob(filepath.Join(root, "usr/share/doc/tooldex/completions/*")); len(found) > 0 {
		t.Errorf("completions lie beside the documents: %v", found)
	}
}

// TestDebian installs the package with dpkg into a folder, runs the program, and removes it again.
func TestDebian(t *testing.T) {
	dpkg := need(t, "dpkg")
	root, deb := t.TempDir(), oneFile(t, filepath.Join(packed(t, "v1.2.3-rc.1"), "*.deb"))
	for _, dir := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, dpkg, "--root="+root, "--force-not-root", "--install", deb)
	requireInstalled(t, root, "usr/share/doc/tooldex/copyright")
	got := do(t, "dpkg-query", "--admindir="+root+"/var/lib/dpkg", "-W", "-f", "${Version} ${Architecture}", "tooldex")
	if got != "1.2.3~rc.1 "+host().arch { // before 1.2.3, as ~ means
		t.Errorf("dpkg knows %q", got)
	}
	do(t, dpkg, "--root="+root, "--force-not-root", "--purge", "tooldex")
	if _, err := os.Stat(filepath.Join(root, "usr/bin/tooldex")); err == nil {
		t.Error("the program is there after the package was removed")
	}
}

// TestRedHat does the same with rpm.
func TestRedHat(t *testing.T) {
	rpm := need(t, "rpm")
	root, file := t.TempDir(), oneFile(t, filepath.Join(packed(t, "v1.2.3"), "*.rpm"))
	do(t, rpm, "--install", "--ignorearch", "--nodeps", "--badreloc", "--dbpath", root+"/db", "--relocate",
		"/usr="+root+"/usr", file)
	requireInstalled(t, root, "usr/share/doc/tooldex/LICENSE")
}

// TestNPM installs the packages with npm, without the network, and runs the command that npm links.
func TestNPM(t *testing.T) {
	npm := need(t, "npm")
	need(t, "node")
	out, to := packed(t, "v1.2.3"), t.TempDir()
	name, _, _ := npmName(platform{"linux", host().arch})
	do(t, npm, "install", "--offline", "--no-audit", "--no-fund", "--cache", t.TempDir(), "--prefix", to,
		filepath.Join(out, name+"-1.2.3.tgz"), filepath.Join(out, "tooldex-1.2.3.tgz"))
	command := filepath.Join(to, "node_modules/.bin/tooldex")
	if got := do(t, command, "version"); !strings.Contains(got, "v1.2.3") {
		t.Errorf("the installed command says %q", got)
	}
	if err := os.RemoveAll(filepath.Join(to, "node_modules", name)); err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), command, "version").CombinedOutput()
	if err == nil || !strings.Contains(string(text), name+" is not installed") {
		t.Errorf("without the program: %v, %s", err, text)
	}
}

// TestLauncher requires that the launcher passes on standard input, the exit code, and signals.
func TestLauncher(t *testing.T) {
	node := need(t, "node")
	dir := t.TempDir()
	name, _, _ := npmName(host())
	script := "#!/bin/sh\ntrap 'echo ended; exit 7' TERM\nread line; echo \"$line\" \"$@\"\n" +
		"[ \"$1\" = stay ] || exit 5\nwhile :; do sleep 0.05; done\n"
	for file, text := range map[string]string{
		"launcher.js": string(launcher), "node_modules/" + name + "/package.json": "{}",
		"node_modules/" + name + "/bin/" + host().program(): script,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(arg string, signal bool) (string, int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), node, filepath.Join(dir, "launcher.js"), arg)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = in.Write([]byte("hello\n"))
		var said []byte
		for one := make([]byte, 1); ; {
			n, err := stdout.Read(one)
			said = append(said, one[:n]...)
			if err != nil {
				break
			}
			if signal && strings.HasSuffix(string(said), "stay\n") {
				_ = cmd.Process.Signal(syscall.SIGTERM)
				signal = false
			}
		}
		_ = cmd.Wait()
		return string(said), cmd.ProcessState.ExitCode()
	}
	if said, code := run("go", false); said != "hello go\n" || code != 5 {
		t.Errorf("it says %q and ends with %d", said, code)
	}
	if said, code := run("stay", true); said != "hello stay\nended\n" || code != 7 {
		t.Errorf("after SIGTERM it says %q and ends with %d", said, code)
	}
}

// TestPackagesAreReproducible requires the same bytes from the same files.
func TestPackagesAreReproducible(t *testing.T) {
	first, second := packed(t, "v1.2.3"), packed(t, "v1.2.3")
	files, err := os.ReadDir(first)
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		a, errA := os.ReadFile(filepath.Join(first, f.Name()))
		b, errB := os.ReadFile(filepath.Join(second, f.Name()))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s has other bytes", f.Name())
		}
	}
}

func TestPackageVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3-rc.1", "dev": "0.0.0-dev", "ab12-dirty": "0.0.0-ab12-dirty",
		"v1.2.3-4-gab12": "1.2.3-4-gab12", "v1.2": "0.0.0-v1-2",
	} {
		if got := packageVersion(version); got != want {
			t.Errorf("%s is packed as %s, want %s", version, got, want)
		}
	}
}

// TestFormula requires that a formula names each archive that Homebrew can use, with its checksum.
func TestFormula(t *testing.T) {
	out, s := t.TempDir(), source{version: "v1.2.3", downloads: "https://example.com/v1/"}
	for _, p := range platforms() {
		if err := os.WriteFile(filepath.Join(out, s.archiveName(p)+".tar.gz"), []byte(p.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.writeFormula(out, platforms()...); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "tooldex.rb"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, m := range regexp.MustCompile(`on_(\w+) do|url "(.*)"|sha256 "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1]+m[2]+m[3])
	}
	for _, word := range []string{
		"macos", "intel darwin/amd64", "arm darwin/arm64", "linux", "intel linux/amd64", "arm linux/arm64",
	} {
		processor, p, ok := strings.Cut(word, " ")
		if want = append(want, processor); ok {
			want = append(want, "https://example.com/v1/tooldex_1.2.3_"+strings.Replace(p, "/", "_", 1)+".tar.gz",
				fmt.Sprintf("%x", sha256.Sum256([]byte(p))))
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if opened, closed := strings.Count(string(text), " do\n")+1+strings.Count(string(text), "def "),
		len(regexp.MustCompile(`(?m)^\s*end$`).FindAllString(string(text), -1)); opened != closed {
		t.Errorf("%d blocks open and %d close", opened, closed)
	}
}
