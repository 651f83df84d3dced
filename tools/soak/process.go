package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// served is the command under test, with what it needs.
type served struct {
	bin, dir, data string
	base           string // of HTTP
	cmd            *exec.Cmd
	read           chan struct{} // closed when its stderr has ended
	far            *exec.Cmd
	pipe           *mcp.ClientSession // of a second one, on standard streams
	pipeCmd        *exec.Cmd
	dumps          [2]string // of the same server, which differ
}

// maxSessions is few, so that the sessions which nobody ends reach it soon.
const maxSessions = 100

func start(ctx context.Context, c config, dir string) (*served, error) {
	s := &served{bin: c.bin, dir: dir, data: filepath.Join(dir, "data"), read: make(chan struct{})}
	if err := s.open(ctx); err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

func (s *served) open(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var base string
	if s.far, base, err = listening(ctx, filepath.Join(s.dir, "far.log"), make(chan struct{}), self, far); err != nil {
		return err
	}
	servers := map[string]any{far: map[string]any{"type": "http", "url": base}}
	for _, name := range []string{steady, mortal, stormy} {
		servers[name] = map[string]any{"command": self, "args": []string{name}}
	}
	if err := s.write("servers.json", map[string]any{"mcpServers": servers}); err != nil {
		return err
	}
	for i := range s.dumps {
		s.dumps[i] = filepath.Join(s.dir, fmt.Sprint("dump", i), "office.json")
		if err := os.MkdirAll(filepath.Dir(s.dumps[i]), 0o700); err != nil {
			return err
		}
		if err := s.write(filepath.Join(fmt.Sprint("dump", i), "office.json"), dump(i)); err != nil {
			return err
		}
	}
	for _, file := range []string{filepath.Join(s.dir, "servers.json"), s.dumps[0]} {
		if out, err := s.command(ctx, "import", file); err != nil {
			return fmt.Errorf("import: %w: %s", err, out)
		}
	}
	s.cmd, s.base, err = listening(ctx, filepath.Join(s.dir, "serve.log"), s.read, s.bin, "serve", "--listen",
		"127.0.0.1:0", "-d", s.data, "--max-sessions", strconv.Itoa(maxSessions))
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.dir, "pipe.log"))
	if err != nil {
		return err
	}
	s.pipeCmd = exec.CommandContext(ctx, s.bin, "serve", "--stdio", "-d", s.data)
	s.pipeCmd.Stderr = log
	s.pipe, err = mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, nil).Connect(ctx,
		&mcp.CommandTransport{Command: s.pipeCmd}, nil)
	return err
}

func (s *served) write(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, name), b, 0o600)
}

// dump is a listing of 400 tools; the second differs from the first in some of them.
func dump(which int) any {
	verbs := []string{"list", "create", "update", "delete", "export", "archive", "share", "count", "rename", "merge"}
	nouns := []string{
		"invoice", "customer", "parcel", "lesson", "recipe", "sensor", "ticket", "contract", "playlist",
		"garden",
	}
	places := []string{"office", "warehouse", "school", "kitchen"}
	type listed struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	var tools []listed
	for i := range len(verbs) * len(nouns) * len(places) {
		verb, noun, place := verbs[i%len(verbs)], nouns[i/len(verbs)%len(nouns)], places[i/len(verbs)/len(nouns)]
		text := fmt.Sprintf("%s one %s of the %s", verb, noun, place)
		if i%20 == 0 {
			text += fmt.Sprintf(", in form %d", which)
		}
		tools = append(tools, listed{
			verb + "_" + noun + "_" + place, text,
			json.RawMessage(`{"type":"object","properties":{"` + noun + `_id":{"type":"string"}}}`),
		})
	}
	return map[string]any{"tools": tools}
}

// command runs the command once, over the same data.
func (s *served) command(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, s.bin, append(args, "-d", s.data)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.CombinedOutput()
}

// listening starts a process, keeps what it logs, and waits until it says where it listens.
func listening(ctx context.Context, log string, read chan struct{}, name string, args ...string) (*exec.Cmd, string,
	error,
) {
	file, err := os.Create(log)
	if err != nil {
		return nil, "", err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		fmt.Fprintln(file, lines.Text())
		if base := address.FindString(lines.Text()); base != "" {
			go func() {
				defer close(read)
				_, _ = io.Copy(file, stderr) // until the process ends
				_ = file.Close()
			}()
			return cmd, base, nil
		}
	}
	return nil, "", errors.Join(fmt.Errorf("%s does not say where it listens", name), cmd.Wait())
}

// state is what a process takes.
type state struct {
	At         time.Duration // since the load began
	Resident   float64       // MiB
	Heap       float64       // MiB in use
	Goroutines float64
	Files      float64
	Threads    float64
	Sessions   float64
	PipeMemory float64 // MiB that the one on standard streams has in memory
	PipeFiles  float64
}

// look asks the command how it is.
func (s *served) look(ctx context.Context) (state, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/metrics", nil)
	if err != nil {
		return state{}, err
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return state{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return state{}, fmt.Errorf("metrics: status %d: %w", res.StatusCode, err)
	}
	got := map[string]float64{}
	for line := range bytes.Lines(body) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			got[name] = v
		}
	}
	out := state{
		Resident: got["process_resident_memory_bytes"] / (1 << 20),
		Heap:     got["go_memstats_heap_inuse_bytes"] / (1 << 20), Goroutines: got["go_goroutines"],
		Files: got["process_open_fds"], Threads: got["go_threads"], Sessions: got["tooldex_sessions"],
	}
	out.PipeMemory, out.PipeFiles = taken(s.pipeCmd.Process.Pid)
	return out, nil
}

// taken reads what a process takes from /proc.
func taken(pid int) (mib, files float64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if fields := strings.Fields(string(b)); err == nil && len(fields) > 1 {
		pages, _ := strconv.Atoi(fields[1])
		mib = float64(pages*os.Getpagesize()) / (1 << 20)
	}
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return mib, float64(len(list))
}

// settled waits until the command takes no more than it did before, or, if that is nil, no less than a moment ago; for
// a while at most.
func (s *served) settled(ctx context.Context, before *state, most time.Duration) (state, error) {
	last := state{Goroutines: math.Inf(1), Files: math.Inf(1)}
	for deadline := time.Now().Add(most); ; {
		now, err := s.look(ctx)
		if err != nil {
			return now, err
		}
		calm := now.Goroutines >= last.Goroutines && now.Files >= last.Files
		if before != nil {
			calm = now.Goroutines <= before.Goroutines && now.Files <= before.Files && now.Heap <= heapMost(before)
		}
		if calm || time.Now().After(deadline) {
			return now, nil
		}
		last = now
		if !pause(ctx, time.Second) {
			return now, ctx.Err()
		}
	}
}

// children returns the processes that a process has started.
func children(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var out []int
	for _, name := range lists {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(field); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}

// play says which upstream a process is.
func play(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	words := strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
	return words[len(words)-1]
}

// end stops the command and reports how long that took, how many of its children are left, and its exit code.
func (s *served) end() (took time.Duration, left, exit int) {
	mine := children(s.cmd.Process.Pid)
	begin := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, len(mine), -1
	}
	late := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	<-s.read
	_ = s.cmd.Wait() // the result is in ProcessState
	took = time.Since(begin)
	for _, pid := range mine {
		if play(pid) != "" {
			left++
		}
	}
	return took, left, s.cmd.ProcessState.ExitCode()
}

// kill ends whatever still runs.
func (s *served) kill() {
	if s.pipe != nil {
		_ = s.pipe.Close()
	}
	for _, cmd := range []*exec.Cmd{s.cmd, s.far} {
		if cmd != nil && cmd.ProcessState == nil {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait() // it was asked to end
		}
	}
}

// pause reports whether the time has passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
