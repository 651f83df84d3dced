package gateway

import (
	"bufio"
	"errors"
	"log/slog"
	"os"
	"os/exec"
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

	tail     lineTail
	stderred chan struct{} // closed when all of stderr has been read
}

// startProcess runs a command. Each line that it prints to stderr goes to the logger and the record, redacted.
func startProcess(x *expandedServer, env []string, logger *slog.Logger, rec *stderrLog) (*process, error) {
	cmd := exec.Command(x.command, x.args...) //nolint:noctx // it outlives the call that starts it; stop ends it
	cmd.Env, cmd.Dir = env, x.dir
	setProcessGroup(cmd)
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
	p := &process{cmd: cmd, stdin: inW, stdout: outR, exited: make(chan struct{}), stderred: make(chan struct{})}
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
	lines := &lineReader{r: bufio.NewReaderSize(r, maxStderrLine), limit: maxStderrLine}
	for {
		line, over, err := lines.next()
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
		p.tail.add(text)
		rec.add(upstream.FromServer, text)
		logger.Info("upstream stderr", "line", text)
	}
}

// stop ends the process as the protocol asks: close its input, wait, ask it to terminate, wait, kill it. It returns
// when the process is gone. It calls grace before each wait, since the time allowed may have become shorter by then.
func (p *process) stop(grace func() time.Duration) {
	_ = p.stdin.Close()
	for _, next := range []func(*os.Process){terminateGroup, killGroup} {
		t := time.NewTimer(grace())
		select {
		case <-p.exited:
			t.Stop()
			return
		case <-t.C:
			next(p.cmd.Process)
		}
	}
	<-p.exited
}

// exitReason describes for people how the process ended: "exit status 3: last lines of stderr". While it runs, the
// result is the last lines of stderr.
func (p *process) exitReason() string {
	select {
	case <-p.exited:
	default:
		return p.tail.last()
	}
	s := "exit status 0"
	if p.status != nil {
		s = p.status.Error()
	}
	if last := p.tail.last(); last != "" {
		s += ": " + last
	}
	return s
}

// lineTail keeps the last lines of a stream, which usually hold the reason for an end. The zero value is empty.
type lineTail struct {
	mu    sync.Mutex
	lines []string
}

// tailLines is how many lines of stderr an error quotes.
const tailLines = 3

func (t *lineTail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = t.lines[1:]
	}
	t.lines = append(t.lines, truncate(line, 300))
}

// last returns the lines on one line, or "".
func (t *lineTail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, " / ")
}
