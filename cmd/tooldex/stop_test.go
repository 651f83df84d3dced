package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stopWithin is how long a server may take to end. It is not what it takes: see the figure that the test logs.
const stopWithin = 30 * time.Second

// stopping is a built command that serves two upstreams, one of which does not end by itself.
type stopping struct {
	t    *testing.T
	cmd  *exec.Cmd
	base string // of HTTP; "" if it serves none
	err  bytes.Buffer
	read chan struct{} // closed when stderr has ended
}

func newStopping(t *testing.T, args ...string) *stopping {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("child processes are looked for in /proc")
	}
	data := t.TempDir()
	up := upstreamCommand(t)
	runCommand(t, data, "import", writeServers(t, map[string]any{
		"bed": map[string]any{"command": up, "args": []string{"dozing"}}, "deaf": map[string]any{
			"command": up,
			"args":    []string{"deaf"},
		},
	}))
	return &stopping{
		t: t, cmd: servingCommand(t, data, append([]string{"serve"}, args...)...),
		read: make(chan struct{}),
	}
}

// listening starts it and waits until it says where it listens.
func (s *stopping) listening() {
	s.t.Helper()
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	found := make(chan string, 1)
	go func() {
		defer close(s.read)
		address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if base := address.FindString(lines.Text()); base != "" && len(found) == 0 {
				found <- base
			}
			fmt.Fprintln(&s.err, lines.Text())
		}
	}()
	select {
	case s.base = <-found:
	case <-time.After(wait):
		s.t.Fatal("it does not say where it listens")
	}
}

// children returns the processes that the command has started.
func (s *stopping) children() []int {
	s.t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	var out []int
	for _, name := range lists {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(field); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

// runs reports whether a process runs. One that has ended and that nobody has asked for yet does not.
func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// end sends signals, and wants the command to end so, and its children with it.
func (s *stopping) end(code int, signals ...os.Signal) {
	s.t.Helper()
	children := s.children()
	if len(children) != 2 {
		s.t.Errorf("%d upstreams run, want 2", len(children))
	}
	begin := time.Now()
	for i, sig := range signals {
		if err := s.cmd.Process.Signal(sig); err != nil {
			s.t.Errorf("signal: %v", err)
		}
		if i < len(signals)-1 {
			s.refuses() // the first has been heard
		}
	}
	late := time.AfterFunc(stopWithin, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	if s.base != "" {
		<-s.read
	}
	_ = s.cmd.Wait() // its outcome is in ProcessState
	s.t.Logf("ended %v after the signal: %v", time.Since(begin).Round(time.Millisecond), s.cmd.ProcessState)
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d\n%s", got, code, s.err.String())
	}
	for _, pid := range children {
		for deadline := time.Now().Add(wait); runs(pid); runtime.Gosched() {
			if time.Now().After(deadline) {
				s.t.Errorf("upstream %d is left behind", pid)
				break
			}
		}
	}
}

// refuses waits until the command takes no new connections.
func (s *stopping) refuses() {
	for {
		res, err := http.Get(s.base + "/healthz")
		if err != nil {
			return
		}
		_ = res.Body.Close()
	}
}

// callHTTP calls a tool over the HTTP API.
func (s *stopping) callHTTP(server string, seconds float64) <-chan string {
	out := make(chan string, 1)
	go func() {
		res, err := http.Post(s.base+"/api/tools/"+server+"/doze/call", "application/json",
			strings.NewReader(fmt.Sprintf(`{"arguments":{"seconds":%g}}`, seconds)))
		if err != nil {
			out <- err.Error()
			return
		}
		defer func() { _ = res.Body.Close() }()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			out <- err.Error()
			return
		}
		out <- strconv.Itoa(res.StatusCode) + " " + string(b)
	}()
	return out
}

// callMCP calls a tool over MCP, and returns once the upstream has begun to work on it.
func callMCP(t *testing.T, c *client, server string, seconds float64) <-chan string {
	t.Helper()
	began := make(chan struct{}, 1)
	c.progress.Store(&began)
	out := make(chan string, 1)
	go func() {
		p := &mcp.CallToolParams{Name: server + "__doze", Arguments: json.RawMessage(fmt.Sprintf(`{"seconds":%g}`,
			seconds))}
		p.SetProgressToken("p")
		res, err := c.CallTool(t.Context(), p)
		if err != nil {
			out <- err.Error()
			return
		}
		text := ""
		for _, one := range res.Content {
			if part, ok := one.(*mcp.TextContent); ok {
				text += part.Text
			}
		}
		out <- text
	}()
	select {
	case <-began:
	case got := <-out: // what the upstream says of its progress may come later
		out <- got
	case <-time.After(wait):
		t.Fatal("the call does not begin")
	}
	return out
}

func wantIn(t *testing.T, what string, answer <-chan string, want string) {
	t.Helper()
	select {
	case got := <-answer:
		if !strings.Contains(got, want) {
			t.Errorf("%s is answered %q, want %q", what, got, want)
		}
	case <-time.After(wait):
		t.Errorf("%s is not answered", what)
	}
}

// TestStopHTTP ends a server while calls are under way and a stream is open, over the API and over MCP.
func TestStopHTTP(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for calls that take seconds")
	}
	s := newStopping(t, "--listen", "127.0.0.1:0")
	s.listening()
	c := connectClient(t, &mcp.StreamableClientTransport{Endpoint: s.base + "/mcp", MaxRetries: -1}, nil)
	other := connectClient(t, &mcp.StreamableClientTransport{Endpoint: s.base + "/mcp", MaxRetries: -1}, nil)
	wantIn(t, "a first call of the deaf one", s.callHTTP("deaf", 0), "rested")
	never := callMCP(t, other, "deaf", 60)
	api, apiNever := s.callHTTP("bed", 1.5), s.callHTTP("bed", 60)
	soon := callMCP(t, c, "bed", 1.5)
	s.end(exitFailed, syscall.SIGTERM)
	wantIn(t, "a call of two seconds over the API", api, "200 ")
	wantIn(t, "a call of two seconds over MCP", soon, "rested")
	wantIn(t, "a call of a minute over the API", apiNever, "503 ")
	wantIn(t, "a call of a minute over MCP", never, "the server is stopping")
}

// TestStopHTTPWell ends a server at rest, with streams open.
func TestStopHTTPWell(t *testing.T) {
	t.Parallel()
	s := newStopping(t, "--listen", "127.0.0.1:0")
	s.listening()
	connectClient(t, &mcp.StreamableClientTransport{Endpoint: s.base + "/mcp", MaxRetries: -1}, nil)
	for _, server := range []string{"bed", "deaf"} {
		wantIn(t, "a call", s.callHTTP(server, 0), "rested")
	}
	s.end(exitDone, syscall.SIGTERM)
}

// TestStopAtOnce holds that a second signal does not wait for anybody.
func TestStopAtOnce(t *testing.T) {
	t.Parallel()
	s := newStopping(t, "--listen", "127.0.0.1:0")
	s.listening()
	c := connectClient(t, &mcp.StreamableClientTransport{Endpoint: s.base + "/mcp", MaxRetries: -1}, nil)
	callMCP(t, c, "bed", 60)
	wantIn(t, "a call", s.callHTTP("deaf", 0), "rested")
	s.end(128+int(syscall.SIGTERM), syscall.SIGTERM, syscall.SIGTERM)
}

// TestStopStdio ends a server on standard streams by a signal, and by closing its input, while calls are under way.
func TestStopStdio(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for calls that take seconds")
	}
	for _, tt := range []struct {
		name, long string
		code       int
	}{{"by a signal", "the server is stopping", exitFailed}, {"by the end of its input", "", exitDone}} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStopping(t, "--stdio")
			in, err := s.cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			s.cmd.Stderr = &s.err
			if err := s.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			c := connectClient(t, &mcp.IOTransport{Reader: out, Writer: in}, nil)
			wantIn(t, "a first call", callMCP(t, c, "deaf", 0), "rested")
			soon := callMCP(t, c, "bed", 1.5)
			never := callMCP(t, c, "bed", 60)
			if tt.long != "" {
				s.end(tt.code, syscall.SIGTERM)
				wantIn(t, "a call of two seconds", soon, "rested")
				wantIn(t, "a call of a minute", never, tt.long)
				return
			}
			_ = in.Close()
			wantIn(t, "a call of two seconds", soon, "rested")
			s.end(tt.code)
		})
	}
}
