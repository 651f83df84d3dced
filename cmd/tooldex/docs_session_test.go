//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tooldex/config"
)

// docSession runs the commands of one document one after the other, as a reader would who types them into one shell: in
// a home directory of their own, with the files of testdata/docs in the current folder. Variables that are exported and
// the current folder last.
type docSession struct {
	t      *testing.T
	home   string // the current folder is its folder work
	env    []string
	server *docServer
	ran    int // commands, so far
	lacked int // commands that were not run, since this machine lacks their program
}

// defaultAddress is what the documents say of where the server is, in either spelling.
var defaultAddress = regexp.MustCompile(`(127\.0\.0\.1|localhost|\[::1\]|0\.0\.0\.0):8733\b`)

func newDocSession(t *testing.T, model string) *docSession {
	t.Helper()
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("testdata/docs/home")); err != nil {
		t.Fatal(err)
	}
	s := &docSession{t: t, home: home}
	shims := filepath.Join(home, ".shims")
	for name, script := range s.shims() {
		path := filepath.Join(shims, name)
		if err := os.MkdirAll(shims, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "TOOLDEX_") && !strings.HasPrefix(name, "XDG_") &&
			!strings.HasPrefix(name, "OTEL_") {
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, "HOME="+home, "PATH="+shims+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"TOOLDEX_REGISTRY="+model, "OLLAMA_HOST="+model, "OPENAI_BASE_URL="+model+"/v1", "OPENAI_API_KEY=none")
	return s
}

// shims are the programs that stand before those of the machine. The go command works in this repository, writes what
// it builds into the current folder, and keeps its caches. What comes from npm is played by a server of the tests: real
// ones have tests of their own.
func (s *docSession) shims() map[string]string {
	root, err := filepath.Abs("../..")
	if err != nil {
		s.t.Fatal(err)
	}
	fromNPM, err := exec.LookPath("package")
	if err != nil {
		s.t.Fatal(err)
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		s.t.Fatal(err)
	}
	caches, err := exec.Command(goCommand, "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	dirs := strings.Fields(string(caches))
	return map[string]string{
		"tooldex": fmt.Sprintf("exec '%s' \"$@\"", builtCommand(s.t)),
		"npx":     fmt.Sprintf("exec '%s' \"$@\"", fromNPM),
		"go": fmt.Sprintf("case \"$*\" in 'test ./...'*) echo 'this very test would run again'; exit 97; esac\nGOCACHE='%s' GOMODCACHE='%s' here=$PWD; export GOCACHE GOMODCACHE\nfor a; do shift; [ \"$a\" = bin/ ] && a=\"$here/bin/\"; set -- \"$@\" \"$a\"; done\ncd '%s' && exec '%s' \"$@\"",
			dirs[0], dirs[1], root, goCommand),
	}
}

// run runs the commands of a block, up to the first that goes wrong.
func (s *docSession) run(page string, b *docBlock) error {
	for _, m := range b.marks {
		if m.key == markBefore {
			if err := s.command(m.value, 0); err != nil {
				return fmt.Errorf("%s:%d: %w", page, b.line, err)
			}
		}
	}
	want := 0
	if v, ok := b.mark(markExits); ok {
		var err error
		if want, err = strconv.Atoi(v); err != nil {
			return fmt.Errorf("%s:%d: exits: %w", page, b.line, err)
		}
	}
	commands := splitCommands(typedIn(b))
	for i, c := range commands {
		code := 0
		if i == len(commands)-1 {
			code = want
		}
		if lacks(c.text) {
			s.lacked++
			continue
		}
		if err := s.command(c.text, code); err != nil {
			return fmt.Errorf("%s:%d: %w\n%s", page, b.line+c.line, err, howToMark)
		}
		s.ran++
	}
	return nil
}

// typedIn is what somebody types of a block. In a transcript that is what follows "$ "; the rest was printed.
func typedIn(b *docBlock) string {
	if b.language != "console" {
		return b.text
	}
	var out []string
	for line := range strings.SplitSeq(b.text, "\n") {
		command, _ := strings.CutPrefix(line, "$ ")
		if command == line {
			command = ""
		}
		out = append(out, command)
	}
	return strings.Join(out, "\n")
}

// lacks reports whether a command needs a program that a machine may well do without, and this one does.
func lacks(command string) bool {
	for _, name := range []string{"curl", "jq", "openssl", "sha256sum"} {
		if regexp.MustCompile(`\b` + name + `\b`).MatchString(command) {
			if _, err := exec.LookPath(name); err != nil {
				return true
			}
		}
	}
	return false
}

// serving is a command that goes on until it is told to stop.
var serving = regexp.MustCompile(`(^|\s|/)tooldex (.* )?serve\b.*--listen`)

// command runs one command, and wants an exit code.
func (s *docSession) command(text string, want int) error {
	if serving.MatchString(text) {
		return s.serve(text)
	}
	if defaultAddress.MatchString(text) || strings.Contains(text, "tooldex health") {
		if s.server == nil {
			if err := s.serve("tooldex serve --demo --listen " + config.DefaultListen); err != nil {
				return err
			}
		}
		text = defaultAddress.ReplaceAllString(text, s.server.address)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), wait/2) // of what never ends, such as a log that is followed
	defer cancel()
	cmd := s.shell(ctx, text+"\n{ unset TOOLDEX_LISTEN; export -p; echo cd \"'$PWD'\"; } > "+s.state())
	cmd.WaitDelay = time.Second       // for what it started and left
	cmd.Stdin = strings.NewReader("") // not a terminal, where serve would stay
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want || err != nil && want == 0 {
		return fmt.Errorf("it ends with %d, want %d (%w)\n$ %s\n%s", got, want, err, text, out)
	}
	return nil
}

// state is a script that makes a shell what the one before was.
func (s *docSession) state() string { return filepath.Join(s.home, ".state") }

func (s *docSession) shell(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", "[ ! -f "+s.state()+" ] || . "+s.state()+"\n"+script)
	cmd.Dir, cmd.Env = filepath.Join(s.home, "work"), s.env
	if s.server != nil {
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "TOOLDEX_LISTEN="+s.server.address)
	}
	// What a command has started ends with it, when it takes too long.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

const howToMark = "mend the command, give it what it needs (<!-- before: COMMAND -->), or mark its block (<!-- not run: REASON -->): see CONTRIBUTING.md"

// docServer is a server that a document has started.
type docServer struct {
	cmd     *exec.Cmd
	address string // host and port
	log     bytes.Buffer
	end     chan struct{} // closed when nothing comes any more
}

// serve starts what a document serves, on a port of its own choice, and stops what it served before.
func (s *docSession) serve(text string) error {
	if err := s.stop(); err != nil {
		return err
	}
	text = strings.TrimSuffix(strings.TrimSpace(defaultAddress.ReplaceAllString(text, "127.0.0.1:0")), "&")
	srv := &docServer{cmd: s.shell(context.WithoutCancel(s.t.Context()), text), end: make(chan struct{})}
	stderr, err := srv.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := srv.cmd.Start(); err != nil {
		return err
	}
	found := make(chan string, 1)
	go func() {
		defer close(srv.end)
		defer close(found)
		address, told := regexp.MustCompile(`serving on http://(\S+)`), false
		for lines := bufio.NewScanner(io.TeeReader(stderr, &srv.log)); lines.Scan(); {
			if m := address.FindStringSubmatch(lines.Text()); m != nil && !told {
				told = true
				found <- m[1]
			}
		}
	}()
	var ok bool
	if srv.address, ok = <-found; !ok {
		<-srv.end
		return fmt.Errorf("it does not serve (%w)\n$ %s\n%s", srv.cmd.Wait(), text, &srv.log)
	}
	s.server = srv
	return s.ready()
}

// ready waits until the server can answer.
func (s *docSession) ready() error {
	ctx, cancel := context.WithTimeout(s.t.Context(), wait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.server.address+"/readyz", nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server is never ready (%w)", err)
		case <-tick.C:
		}
	}
}

// stop ends what is served, which must end well.
func (s *docSession) stop() error {
	if s.server == nil {
		return nil
	}
	srv := s.server
	s.server = nil
	if err := syscall.Kill(-srv.cmd.Process.Pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	<-srv.end
	err := srv.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ProcessState.Sys().(syscall.WaitStatus).Signaled() { // the shell around it
		err = nil
	}
	if err != nil {
		return fmt.Errorf("serve ended with %w\n%s", err, &srv.log)
	}
	return nil
}

// shellCommand is a command of a block, which may go over several lines.
type shellCommand struct {
	line int // within the block, from 0
	text string
}

var hereDocument = regexp.MustCompile(`<<-?\s*['"]?(\w+)['"]?`)

// splitCommands tells the commands of a block apart. A command goes on after a backslash, within quotes, within a block
// of the shell's own, and through a here document.
func splitCommands(text string) []shellCommand {
	var out []shellCommand
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		start := i
		command := lines[i]
		if trimmed := strings.TrimSpace(command); trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		if m := hereDocument.FindStringSubmatch(command); m != nil {
			for i+1 < len(lines) && strings.TrimSpace(lines[i]) != m[1] {
				i++
				command += "\n" + lines[i]
			}
		}
		for i+1 < len(lines) && (strings.HasSuffix(command, `\`) || !shellReads(command)) {
			i++
			command += "\n" + lines[i]
		}
		out = append(out, shellCommand{start, command})
	}
	return out
}

// shellReads reports whether a shell can read a command.
func shellReads(command string) bool {
	return exec.Command("sh", "-n", "-c", command).Run() == nil
}

func TestSplitCommands(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"lines":           {"a b  # why\n\n# a comment\nc\n", []string{"a b  # why", "c"}},
		"backslash":       {"a \\\n  b\nc\n", []string{"a \\\n  b", "c"}},
		"quotes":          {"a 'b\nc'\nd\n", []string{"a 'b\nc'", "d"}},
		"here document":   {"cat > f <<EOF\n'a\nEOF\nb\n", []string{"cat > f <<EOF\n'a\nEOF", "b"}},
		"blocks":          {"for x in a b; do\n  c\ndone\nd\n", []string{"for x in a b; do\n  c\ndone", "d"}},
		"what never ends": {"a 'b\nc\n", []string{"a 'b\nc"}},
	} {
		var got []string
		for _, s := range splitCommands(c.text) {
			got = append(got, s.text)
		}
		if strings.Join(got, "\x00") != strings.Join(c.want, "\x00") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestDocSession runs a block that does what it should, and others whose faults must be noticed.
func TestDocSession(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	s := newDocSession(t, "")
	defer func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, step := range []struct {
		name, text string
		marks      []docMark
		says       string
	}{
		{"variables, folders and files stay", "mkdir sub\nexport GREETING='a b'\ncd sub", nil, ""},
		{"", "[ \"$GREETING\" = 'a b' ]\n[ \"$(basename \"$PWD\")\" = sub ]\ncd ..", nil, ""},
		{"a command fails", "true\nfalse", nil, "page.md:8: it ends with 1, want 0"},
		{"it should", "true\nfalse", []docMark{{markExits, "1"}}, ""},
		{"it should and does not", "true", []docMark{{markExits, "3"}}, "it ends with 0, want 3"},
		{"another fails than should", "false\nfalse", []docMark{{markExits, "1"}}, "page.md:7: it ends with 1, want 0"},
		{"something is done before", "[ -f seen ]", []docMark{{markBefore, "touch seen"}}, ""},
		{"a transcript", "$ touch typed\nfalse\n$ [ -f typed ]", nil, ""},
		{"a server that there is not", "tooldex serve --nothing --listen 127.0.0.1:8733", nil, "unknown flag"},
		{"a server is asked", "curl -fsS 'http://localhost:8733/search?q=read+a+file' | grep -q read_file", nil, ""},
		{"it is asked in vain", "curl -fsS http://127.0.0.1:8733/nowhere", nil, "it ends with 22"},
		{"an empty one", "tooldex serve --listen 127.0.0.1:8733 &\ncurl -fsS localhost:8733/search?q=x | grep -q '\"tools\":\\[\\]'", nil, ""},
	} {
		if lacks(step.text) {
			t.Logf("%s: not tried, for want of a program", step.name)
			continue
		}
		err := s.run("page.md", &docBlock{
			line:     7,
			language: map[bool]string{true: "console"}[strings.HasPrefix(step.text, "$")], text: step.text + "\n",
			marks: step.marks,
		})
		if (err == nil) != (step.says == "") || err != nil && !strings.Contains(err.Error(), step.says) {
			t.Errorf("%s: %v, want %q", step.name, err, step.says)
		}
	}
}
