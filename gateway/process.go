package gateway

import (
	"bufio"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tooldex/upstream"
)

// process is a child process with pipes to its standard streams.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File // our end of the pipe
	stdout *os.File
	exited chan struct{} // closed when it has been waited for
	status error         // of Wait, once exited
	runner bool          // the command is a package runner
	depth  int           // of the command's process below cmd

	tail     lineTail
	stderred chan struct{} // closed when all of stderr has been read
}

// startProcess runs a command. Each line that it prints to stderr goes to the logger and the record, redacted.
func startProcess(x *expandedServer, env []string, logger *slog.Logger, rec *stderrLog) (*process, error) {
	cmd := exec.Command(x.command, x.args...) //nolint:noctx // it outlives the call that starts it; stop ends it
	cmd.Env, cmd.Dir = env, x.dir
	setProcessGroup(cmd, x.runner, x.isolated)
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	inR, inW, err1 := pipe()
	outR, outW, err2 := pipe()
	errR, errW, err3 := pipe()
	err := errors.Join(err1, err2, err3)
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
		err = cmd.Start()
	}
	if err != nil {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, err
	}
	for _, f := range []*os.File{inR, outW, errW} { // the child has its own
		_ = f.Close()
	}
	p := &process{
		cmd: cmd, stdin: inW, stdout: outR, exited: make(chan struct{}), stderred: make(chan struct{}), runner: x.runner,
	}
	if x.isolated {
		p.depth = 2 // bubblewrap, and its first process inside
	}
	go p.readStderr(errR, logger, rec, x.redact)
	go p.waitExit(errR)
	return p, nil
}

// lastWords is how long the pipes of an ended process are still read. They end by themselves unless a child of its own
// that left the process group holds them.
const lastWords = 500 * time.Millisecond

// waitExit reaps the process and ends its group. It closes exited only after stderr was read, so that exitReason can
// quote the last lines.
func (p *process) waitExit(stderr *os.File) {
	p.status = p.cmd.Wait()
	killGroup(p.cmd.Process) // what it has started itself
	deadline := time.Now().Add(lastWords)
	_ = p.stdout.SetReadDeadline(deadline)
	_ = stderr.SetReadDeadline(deadline)
	<-p.stderred
	close(p.exited)
}

// maxStderrLine is the longest line of stderr that is logged whole.
const maxStderrLine = 4 << 10

// readStderr reads stderr to its end, so that the process never blocks on it.
func (p *process) readStderr(r *os.File, logger *slog.Logger, rec *stderrLog, scrub *redactor) {
	defer close(p.stderred)
	defer func() { _ = r.Close() }()
	lines := &lineReader{r: bufio.NewReaderSize(r, maxStderrLine), messageBounds: messageBounds{limit: maxStderrLine}}
	for {
		line, over, err := lines.nextLine()
		if err != nil {
			return
		}
		text := scrub.redactText(strings.ToValidUTF8(string(line), "\uFFFD"))
		if over != nil {
			text = "(a line too long to show)"
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		p.tail.addLine(text)
		rec.addLine(upstream.FromServer, text)
		logger.Info("upstream stderr", "line", text)
	}
}

// stopProcess ends the process as the protocol asks: close its input, wait, ask it to terminate, wait, kill it. It
// returns when the process is gone. It calls grace before each wait, since the time allowed may have become shorter by
// then. A package runner that installs something, unless that has taken too long, is left to finish: it then starts a
// server whose input is closed, which ends.
func (p *process) stopProcess(grace func() time.Duration, tooLong bool) {
	_ = p.stdin.Close()
	for _, next := range []func(*os.Process){terminateGroup, killGroup} {
		t := time.NewTimer(grace())
		select {
		case <-p.exited:
			t.Stop()
			return
		case <-t.C:
			if !tooLong && p.installs() {
				return
			}
			next(p.cmd.Process)
		}
	}
	<-p.exited
}

// exitReason describes for people how the process ended: "exit status 3: the line of stderr that says why". While it
// runs, the result is that line alone.
func (p *process) exitReason() string {
	select {
	case <-p.exited:
	default:
		return p.tail.reason()
	}
	s := "exit status 0"
	if p.status != nil {
		s = p.status.Error()
	}
	if last := p.tail.reason(); last != "" {
		s += ": " + last
	}
	return s
}

// lineTail keeps the last lines of a stream, which usually hold the reason for an end. The zero value is empty.
type lineTail struct {
	mu    sync.Mutex
	lines []string
}

// tailLines is how many lines of stderr are kept: as many as an error with its stack has.
const tailLines = 40

// addLine keeps the first 300 bytes of a line, and drops the oldest line if there are too many.
func (t *lineTail) addLine(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = t.lines[1:]
	}
	t.lines = append(t.lines, truncateText(line, 300))
}

// all returns the lines, oldest first.
func (t *lineTail) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines)
}

// reason returns the line that most likely says why the program failed, or "".
func (t *lineTail) reason() string { return reasonLine(t.all()) }

var (
	// errorLine begins as errors of programs do: "Error: ", "TypeError [CODE]: ", "ModuleNotFoundError: ", "panic: ".
	errorLine = regexp.MustCompile(`^(Uncaught )?([A-Za-z_.]*(Error|Exception)( \[\w+\])?|(?i:error|fatal( error)?|panic))\b ?:`)
	// npmLine is a line of npm's report of an error. It repeats the code and ends with the path of its log.
	npmLine = regexp.MustCompile(`^npm (?:error|ERR!) (?:code |errno |syscall |A complete log|\s*$)`)
	// stackLine is part of a stack or of the frame around an error.
	stackLine = regexp.MustCompile(`^(\s+|[{}\]^~]|at |Node\.js v\d|Traceback |node:|goroutine )`)
)

// reasonLine returns the line of a program's last output that says why it failed: the last one that begins as an error,
// else what npm reports, else the last one that is no part of a stack.
func reasonLine(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if errorLine.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	for _, line := range lines {
		if (strings.HasPrefix(line, "npm error ") || strings.HasPrefix(line, "npm ERR! ")) && !npmLine.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	for _, line := range slices.Backward(lines) {
		if !stackLine.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
