package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/upstream"
)

// needBubblewrap skips the test where bubblewrap is missing or may not isolate anything.
func needBubblewrap(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap does not run here: %v %s", err, out)
	}
}

// sh runs a command of the shell on a server of mode shell, and returns what it prints.
func sh(t *testing.T, g *Gateway, command string, values ...any) string {
	t.Helper()
	args, err := json.Marshal(map[string]string{"run": fmt.Sprintf(command, values...)})
	if err != nil {
		t.Fatal(err)
	}
	return call(t, g, "s/sh", string(args))
}

func writeFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// lookupIn finds variables of the environment, with others in place of some.
func lookupIn(replaced map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if v, ok := replaced[name]; ok {
			return v, true
		}
		return os.LookupEnv(name)
	}
}

// hintOf returns the advice of an error.
func hintOf(err error) string {
	var e *tool.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Hint
}

func TestIsolation(t *testing.T) {
	needBubblewrap(t)
	home := t.TempDir()
	key := writeFile(t, home+"/.ssh/id_rsa", "a private key")
	other := writeFile(t, home+"/docs/private/key", "hidden")
	doc := writeFile(t, home+"/docs/open/page", "a page")
	note := writeFile(t, home+"/notes/note", "a note")
	s := self(t, "s", "shell")
	s.Isolate = &upstream.Isolation{Read: []string{"~/docs/open"}, Write: []string{"${HOME}/notes"}}
	s.Env["GIVEN"] = "yes"
	g := startGateway(t, Options{Dir: t.TempDir(), LookupEnv: lookupIn(map[string]string{
		"HOME": home, "AWS_SECRET_ACCESS_KEY": "hidden", "HTTPS_PROXY": "http://u:p@proxy", "TMPDIR": home,
	}), EnvNames: func() []string { return []string{"HTTPS_PROXY"} }}, s)

	// Every command is harmless where isolation fails, since tests may run as root.
	for _, tt := range []struct{ name, run, want string }{
		{"a named folder is read", "cat " + doc, "a page"},
		{"a named folder is read only", "echo x >" + doc, "Read-only file system"},
		{"a folder may be changed", "echo more >>" + note + " && cat " + note, "a notemore\n"},
		{"a key at home is not there", "cat " + key, "No such file"},
		{"the folder beside a named one is not there", "cat " + other, "No such file"},
		{"it is not listed", "ls -a " + home + "/docs", ".\n..\nopen\n"},
		{"no password file", "test -e /etc/shadow || echo none", "none\n"},
		{"the system is read only", "test -w /usr || echo no", "no\n"},
		{"the root is read only", "test -w / || echo no", "no\n"},
		{"the root has nothing else", "ls -d /boot /sys /srv /media /etc/ssl/private 2>/dev/null || echo none", "none\n"},
		{"its own home may be written", "echo x >~/x && cat ~/x", "x\n"},
		{"so may its own /tmp", "f=$(mktemp -p /tmp) && echo x >$f && cat $f && rm $f", "x\n"},
		{"our processes are not there", fmt.Sprintf("test -e /proc/%d || echo none", os.Getpid()), "none\n"},
		{"our terminal cannot be opened", "cat /dev/tty", "Permission denied"},
		{"no capabilities", "grep CapEff /proc/self/status", "CapEff:\t0000000000000000\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sh(t, g, "%s", tt.run); !strings.Contains(got, tt.want) {
				t.Errorf("%s prints %q, without %q", tt.run, got, tt.want)
			}
		})
	}
	var names []string
	for line := range strings.Lines(sh(t, g, "env")) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	for _, name := range append(isolatedVariables(), "PWD", "OLDPWD", "SHLVL", "_") {
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{serverVariable, "GIVEN", "HOME", "UV_OFFLINE", "npm_config_offline"}, names); diff != "" {
		t.Errorf("its variables (-want +got):\n%s", diff)
	}
	if b, err := os.ReadFile(key); err != nil || string(b) != "a private key" {
		t.Errorf("the key is %q, %v", b, err)
	}
}

// TestIsolationBoundsMemory runs no server, since that of the tests does not fit under the race detector.
func TestIsolationBoundsMemory(t *testing.T) {
	needBubblewrap(t)
	run := func(memory int64, command string) string {
		x := &expandedServer{command: "sh", args: []string{"-c", command}, env: map[string]string{}}
		if err := x.isolate(&isolation{memory: memory}, "s"); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), x.command, x.args...).CombinedOutput()
		if err != nil {
			out = fmt.Appendf(out, "failed: %v", err)
		}
		return string(out)
	}
	const fill = "head -c 200000000 /dev/zero | tail -c 200000000 | wc -c" // tail keeps all of it
	if got := run(0, fill); got != "200000000\n" {
		t.Errorf("without a bound a process has %s", got)
	}
	if got := run(64<<20, fill); !strings.HasSuffix(got, "\n0\n") {
		t.Errorf("with a bound of 64 MiB a process has %s", got)
	}
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		if got := run(64<<20, "head -c 200000000 /dev/zero >"+dir+"/f"); !strings.Contains(got, "No space left") {
			t.Errorf("with a bound of 64 MiB %s takes more: %s", dir, got)
		}
	}
}

func TestIsolationOfTheNetwork(t *testing.T) {
	needBubblewrap(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("reached\n"))
			_ = c.Close()
		}
	}()
	dial := fmt.Sprintf("bash -c 'cat </dev/tcp/127.0.0.1/%d'", l.Addr().(*net.TCPAddr).Port)
	for _, on := range []bool{true, false} {
		s := self(t, "s", "shell")
		s.Isolate = &upstream.Isolation{Network: on}
		got := sh(t, startGateway(t, Options{}, s), "%s", dial)
		if strings.Contains(got, "reached") != on {
			t.Errorf("with network %v, a connection gives %q", on, got)
		}
	}
}

// TestIsolatedProcessesEnd starts processes that leave the session and the group, and ignore signals.
func TestIsolatedProcessesEnd(t *testing.T) {
	needBubblewrap(t)
	s := self(t, "s", "shell")
	s.Isolate = &upstream.Isolation{}
	g := startGateway(t, Options{Dir: t.TempDir(), stopGrace: 50 * time.Millisecond}, s)
	mark := fmt.Sprintf("60.%d", os.Getpid()) // seconds that no other process sleeps
	sh(t, g, "(trap '' TERM HUP INT; setsid sleep %s >/dev/null 2>&1 & setsid nohup sleep %[1]s >/dev/null 2>&1 &)", mark)
	if n := countProcesses(t, mark); n == 0 {
		t.Fatal("no process was left behind, so nothing is tested")
	}
	if err := g.Stop("s"); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); countProcesses(t, mark) > 0; { // the kernel ends them when the first of them has ended
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("%d processes outlived the server", countProcesses(t, mark))
		}
	}
}

// countProcesses counts the processes that have a text in their command line.
func countProcesses(t *testing.T, text string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte("\x00"+text+"\x00")) {
			n++
		}
	}
	return n
}

// TestIsolationThatCannotBe checks that a server which cannot be isolated is not started, and that the error says what
// to do.
func TestIsolationThatCannotBe(t *testing.T) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("bubblewrap is not installed: ", err)
	}
	dir := t.TempDir()
	tests := []struct {
		name    string
		bwrap   string // the script that takes its place on PATH; "" for none
		isolate upstream.Isolation
		cwd     string
		msg     string
		hint    string
	}{
		{name: "not installed", msg: "which is not installed", hint: "apt install bubblewrap"},
		{
			name: "namespaces are refused", hint: "allow user namespaces",
			bwrap: "exec " + bwrap + ` --unshare-user --disable-userns --uid 1000 --dev-bind / / ` + bwrap + ` --unshare-user "$@"`,
		},
		{name: "a folder that is not there", bwrap: "exec " + bwrap + ` "$@"`, isolate: upstream.Isolation{Read: []string{dir + "/none"}}, msg: "isolate.read[0]", hint: "that exists"},
		{name: "a folder that depends on ours", bwrap: "exec " + bwrap + ` "$@"`, isolate: upstream.Isolation{Read: []string{"."}}, msg: "does not begin with /", hint: "whole path"},
		{name: "its cwd is not named", bwrap: "exec " + bwrap + ` "$@"`, cwd: dir, msg: "does not name its cwd", hint: "add the folder"},
		{name: "another program", isolate: upstream.Isolation{With: "docker"}, msg: "docker", hint: "bwrap"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bin := t.TempDir()
			if tt.bwrap != "" {
				if tt.name == "namespaces are refused" {
					needBubblewrap(t)
				}
				if err := os.Chmod(writeFile(t, bin+"/bwrap", "#!/bin/sh\n"+tt.bwrap+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", bin)
			s := self(t, "s", "shell")
			s.Isolate, s.Dir = &tt.isolate, tt.cwd
			g := startGateway(t, Options{Dir: t.TempDir()}, s)
			_, err := g.Call(t.Context(), tool.Call{ID: "s/sh", Arguments: json.RawMessage(`{"run":"true"}`)})
			var e *tool.Error
			if !errors.As(err, &e) || !strings.Contains(e.Error(), tt.msg) || !strings.Contains(e.Hint, tt.hint) {
				t.Fatalf("the error is %v, with the hint %q", err, hintOf(err))
			}
		})
	}
}

func TestIsolatedServerThatLacksAFolder(t *testing.T) {
	needBubblewrap(t)
	program := writeFile(t, t.TempDir()+"/server.sh", "echo never")
	s := upstream.Server{Name: "s", Command: "sh", Args: []string{program}, Isolate: &upstream.Isolation{}}
	g := startGateway(t, Options{}, s)
	_, err := g.Call(t.Context(), tool.Call{ID: "s/x"})
	if want := "it does not see " + program; !strings.Contains(hintOf(err), want) {
		t.Errorf("the hint of %v is %q, without %q", err, hintOf(err), want)
	}
}

// TestFetchedOnce has a package runner note what it sees, and starts it in two processes at once: the package is fetched
// once, and that run sees nothing of the server's.
func TestFetchedOnce(t *testing.T) {
	needBubblewrap(t)
	root := t.TempDir()
	note := writeFile(t, root+"/notes/note", "a note")
	s := self(t, "s", "shell")
	runner := writeFile(t, root+"/npx", fmt.Sprintf("#!/bin/sh\necho \"sees $(cat %s 2>&1) $TOKEN $HTTPS_PROXY $UV_OFFLINE\" >>~/saw\nexec %s\n",
		note, s.Command))
	if err := os.Chmod(runner, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Isolate = &upstream.Isolation{Read: []string{s.Command}, Write: []string{filepath.Dir(note)}}
	s.Command, s.Env["TOKEN"], s.Env["HTTPS_PROXY"] = runner, "secret", "http://proxy"
	o := Options{Dir: root + "/data"}
	var calls sync.WaitGroup
	for range 2 {
		g := startGateway(t, o, s)
		calls.Go(func() {
			if _, err := g.Call(t.Context(), tool.Call{ID: "s/sh", Arguments: json.RawMessage(`{"run":"true"}`)}); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	served := "sees a note secret http://proxy true\n"
	want := "sees cat: " + note + ": No such file or directory  http://proxy \n" + served + served
	if saw, err := os.ReadFile(root + "/data/homes/s/saw"); err != nil || string(saw) != want {
		t.Errorf("it saw %q, %v, and not %q", saw, err, want)
	}
	s.Args = []string{"another", "package"} // which is fetched into an empty folder
	sh(t, startGateway(t, o, s), "true")
	want = strings.TrimSuffix(want, served)
	if saw, err := os.ReadFile(root + "/data/homes/s/saw"); err != nil || string(saw) != want {
		t.Errorf("with other arguments it saw %q, %v, and not %q", saw, err, want)
	}
}

func TestFetchWithoutRegistry(t *testing.T) {
	needBubblewrap(t)
	if _, err := exec.LookPath("npx"); err != nil {
		t.Skip("npx is not installed: ", err)
	}
	s := npx("filesystem", "/")
	s.Env["npm_config_registry"], s.Env["npm_config_fetch_retries"] = "http://127.0.0.1:1", "0"
	s.Isolate = &upstream.Isolation{}
	g := startGateway(t, Options{Dir: t.TempDir()}, s)
	_, err := g.Call(t.Context(), tool.Call{ID: "filesystem/x"})
	if want := "its package could not be fetched"; !strings.Contains(hintOf(err), want) {
		t.Errorf("the hint of %v is %q, without %q", err, hintOf(err), want)
	}
}

// TestIsolatedNpx runs a real server that npx fetches. It has no network, so its package is fetched before.
func TestIsolatedNpx(t *testing.T) {
	needBubblewrap(t)
	npmReachable(t)
	root := t.TempDir()
	secret := writeFile(t, root+"/home/.ssh/id_rsa", "a private key")
	note := writeFile(t, root+"/notes/note.txt", "remember the milk")
	// The server itself is told to serve everything.
	s := npx("filesystem", "/", filepath.Dir(note))
	s.Isolate = &upstream.Isolation{Write: []string{filepath.Dir(note)}, Memory: "1GB"}
	dir := root + "/data"
	o := Options{Dir: dir, StartTimeout: 2 * time.Minute}
	for run := range 2 {
		g := startGateway(t, o, s)
		if got := call(t, g, "filesystem/read_text_file", fmt.Sprintf(`{"path":%q}`, note)); !strings.Contains(got, "remember the milk") {
			t.Errorf("the note is %q", got)
		}
		call(t, g, "filesystem/write_file", fmt.Sprintf(`{"path":%q,"content":"new"}`, filepath.Dir(note)+"/new.txt"))
		if b, err := os.ReadFile(filepath.Dir(note) + "/new.txt"); err != nil || string(b) != "new" {
			t.Errorf("the new file has %q, %v", b, err)
		}
		if got := call(t, g, "filesystem/read_text_file", fmt.Sprintf(`{"path":%q}`, secret)); !strings.Contains(got, "ENOENT") {
			t.Errorf("reading the key gives %q", got)
		}
		log, err := g.Log("filesystem")
		if err != nil {
			t.Fatal(err)
		}
		fetched := slices.ContainsFunc(log, func(l upstream.LogLine) bool { return strings.Contains(l.Text, "is fetched") })
		if fetched != (run == 0) {
			t.Errorf("in run %d it was fetched: %v", run, fetched)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(dir + "/homes/filesystem/.npm/_npx"); err != nil || len(entries) != 1 {
		t.Errorf("its installation is not in a folder of its own: %v", err)
	}
	if err := Forget(dir, "filesystem"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir + "/homes"); err != nil || len(left) > 0 {
		t.Errorf("of a forgotten server %v is left, %v", left, err)
	}
}
