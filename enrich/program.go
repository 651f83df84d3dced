package enrich

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Writer has a model write requests for tools. It is safe for concurrent use.
type Writer interface {
	// Name is the author that is stored with what it writes: "claude", "ollama:llama3.2".
	Name() string
	// Write sets the utterances, synonyms and author of the entries that the model answered, and leaves the others as
	// they are. It does not check the texts. The error is Unavailable if the model cannot be asked, does not answer in
	// time or in the requested form, and NotFound if there is no such model or program.
	Write(ctx context.Context, entries []ProposalEntry) error
}

// agents are the programs that are known to answer one request without a person, in the order in which one is chosen.
// They read the request from standard input and print the answer. Their own tools and servers are switched off as far
// as they allow it, since the request contains texts of servers.
var agents = []struct {
	name string
	args []string
}{
	{"claude", []string{"--print", "--output-format", "text", "--tools", "", "--strict-mcp-config"}},
	{"codex", []string{"exec", "--sandbox", "read-only", "--skip-git-repo-check", "-"}},
	{"gemini", []string{"--output-format", "text"}},
}

// programTimeout bounds one answer of a program, for toolsPerBatch tools. Tests shorten it.
const programTimeout = 5 * time.Minute

// program is a Writer that runs a program for each request.
type program struct {
	name string
	path string
	args []string
	// for one answer; 0 means programTimeout
	timeout time.Duration
}

// FindAgent returns a Writer of the first agent that is installed, and false if none is.
func FindAgent() (Writer, bool) {
	for _, a := range agents {
		if path, err := exec.LookPath(a.name); err == nil {
			return &program{name: a.name, path: path, args: a.args}, true
		}
	}
	return nil, false
}

// OpenProgram returns the Writer of an agent by its name (claude, codex, gemini), or of "command:LINE", a command line
// for the system's shell that reads the request from standard input and prints the answer. The error is Invalid for
// another name, and NotFound for an agent that is not installed.
func OpenProgram(name string) (Writer, error) {
	if line, ok := strings.CutPrefix(name, "command:"); ok && strings.TrimSpace(line) != "" {
		if runtime.GOOS == "windows" {
			return &program{name: "command", path: "cmd", args: []string{"/c", line}}, nil
		}
		return &program{name: "command", path: "sh", args: []string{"-c", line}}, nil
	}
	for _, a := range agents {
		if a.name != name {
			continue
		}
		path, err := exec.LookPath(name)
		if err != nil {
			return nil, &tool.Error{
				Code: tool.NotFound, Op: "enrich", Msg: "the program " + name + " is not installed",
				Hint: "install it, or name another: claude, codex, gemini, ollama:MODEL or command:LINE", Err: err,
			}
		}
		return &program{name: a.name, path: path, args: a.args}, nil
	}
	return nil, &tool.Error{
		Code: tool.Invalid, Op: "enrich", Msg: fmt.Sprintf("%q cannot write search phrases", name),
		Hint: "name claude, codex, gemini, ollama:MODEL or command:LINE",
	}
}

// Name implements [Writer].
func (p *program) Name() string { return p.name }

// Write implements [Writer]. The program runs in an empty folder, so that it reads no project.
func (p *program) Write(ctx context.Context, entries []ProposalEntry) (err error) {
	prompt, err := makePrompt(entries)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tooldex-enrich-")
	if err != nil {
		return fmt.Errorf("make a folder for %s: %w", p.name, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	answer, err := p.run(ctx, dir, prompt)
	if err != nil {
		return err
	}
	written, ok := ParseAnswer(answer)
	if !ok {
		return p.fail("did not answer in the requested form", answer, nil)
	}
	fillEntries(entries, written, p.name)
	return nil
}

// run returns what the program prints for a request.
func (p *program) run(ctx context.Context, dir, prompt string) (string, error) {
	timeout := cmp.Or(p.timeout, programTimeout)
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(within, p.path, p.args...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, strings.NewReader(prompt), time.Second
	stdout, stderr := &limitedBuffer{most: maxAnswer}, &limitedBuffer{most: 4 << 10}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case within.Err() != nil:
		return "", p.fail(fmt.Sprintf("did not answer within %s", timeout), stderr.String(), within.Err())
	case errors.Is(err, fs.ErrNotExist):
		return "", p.fail("cannot be started", filepath.Base(p.path), err)
	case err != nil:
		return "", p.fail("failed", stderr.String()+stdout.String(), err)
	}
	return stdout.String(), nil
}

// fail returns the error of a program, with the last line that it printed.
func (p *program) fail(how, printed string, err error) error {
	hint := "run it yourself to see whether it is logged in"
	if lines := strings.Split(strings.TrimSpace(printed), "\n"); lines[len(lines)-1] != "" {
		hint = "it printed: " + strconv.Quote(sanitize.Cut(lines[len(lines)-1], 200))
	}
	return &tool.Error{Code: tool.Unavailable, Op: "enrich", Msg: p.name + " " + how, Hint: hint, Err: err}
}

// fillEntries puts what was written for a tool into its entry. What was written for other tools is dropped.
func fillEntries(entries []ProposalEntry, written []tool.Proposal, by string) {
	for i := range entries {
		for _, w := range written {
			if w.Tool == entries[i].Tool {
				entries[i].Utterances, entries[i].Synonyms, entries[i].By = w.Utterances, w.Synonyms, by
			}
		}
	}
}

// limitedBuffer keeps the first bytes that are written to it, and drops the rest.
type limitedBuffer struct {
	bytes.Buffer
	most int
}

// Write implements [io.Writer]; it never fails.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := b.most - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(room, len(p))]) // it never fails
	}
	return len(p), nil
}
