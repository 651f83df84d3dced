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
	"strings"
	"syscall"
	"time"
)

// trial runs an image as an engine would, with a root that cannot be written to, and looks whether it does what it
// must.
type trial struct {
	Root       string
	Space      space
	UID, GID   int
	Env        []string
	Workdir    string
	Volumes    []string
	Entrypoint []string
	Cmd        []string
	Health     []string

	// For the tests of this program itself.
	Ask   string // what is asked of the running program, below its address
	Hit   string // what the answer has
	Tools string // a file that is imported before
}

// patience is how long one thing may take. All of it takes a second.
const patience = 30 * time.Second

const token = "a-token-of-the-trial"

// do is called in namespaces of its own.
func (t trial) do() error {
	if err := t.mount(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	defer cancel()
	for _, c := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"HEALTHCHECK fails while nothing serves", t.unhealthy},
		{"without a token it does not start", t.refuses},
		{"the volume can be written to: import", t.imports},
		{"nothing else can", t.locked},
		{"it serves: HEALTHCHECK, /search with and without the token, SIGTERM", t.serves},
	} {
		start := time.Now()
		if err := c.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
		fmt.Printf("ok    %s (%d ms)\n", c.what, time.Since(start).Milliseconds())
	}
	return nil
}

// mount makes the root what --read-only --tmpfs /tmp makes it.
func (t trial) mount() error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("reach oneself: %w", err)
	}
	if err := bind(t.Root, t.Root, false); err != nil {
		return err
	}
	for _, v := range t.Volumes {
		dir := filepath.Join(t.Root, v)
		if err := bind(dir, dir, false); err != nil {
			return err
		}
	}
	if err := syscall.Mount("tmpfs", filepath.Join(t.Root, "tmp"), "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV,
		"mode=1777,size=16m"); err != nil {
		return fmt.Errorf("give an empty /tmp: %w", err)
	}
	return lock(t.Root)
}

// command is a process of the container.
func (t trial) command(ctx context.Context, argv []string, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = append(env, t.Env...), t.Workdir, t.Space.become(t.Root, owner{t.UID, t.GID})
	return cmd
}

// program is a process of the container with other arguments than those of CMD.
func (t trial) program(ctx context.Context, args ...string) *exec.Cmd {
	return t.command(ctx, append(append([]string{}, t.Entrypoint...), args...))
}

// ends wants a process to end with a code, and to say something, on whatever stream.
func ends(cmd *exec.Cmd, code int, says string) error {
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	if got := cmd.ProcessState.ExitCode(); got != code || !bytes.Contains(out, []byte(says)) {
		return fmt.Errorf("%s ends with %d, want %d and %q\n%s", strings.Join(cmd.Args, " "), got, code, says, out)
	}
	return nil
}

func (t trial) unhealthy(ctx context.Context) error {
	return ends(t.command(ctx, t.Health), 1, "does not answer")
}

func (t trial) refuses(ctx context.Context) error {
	return ends(t.program(ctx, t.Cmd...), 2, "there is no token")
}

func (t trial) imports(ctx context.Context) error {
	to := filepath.Join(t.Root, t.Volumes[0], filepath.Base(t.Tools))
	text, err := os.ReadFile(t.Tools)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		return err
	}
	return ends(t.program(ctx, "import", "/"+filepath.Join(t.Volumes[0], filepath.Base(t.Tools))), 0, "")
}

func (t trial) locked(ctx context.Context) error {
	inside := "/" + filepath.Join(t.Volumes[0], filepath.Base(t.Tools))
	return ends(t.program(ctx, "--data-dir", "/usr/elsewhere", "import", inside), 1, "read-only file system")
}

// serves starts the program as the Dockerfile says, asks it, and stops it.
func (t trial) serves(ctx context.Context) error {
	cmd := t.command(ctx, append(append([]string{}, t.Entrypoint...), t.Cmd...), "TOOLDEX_TOKEN="+token,
		"TZ=Asia/Tokyo")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	said, ready := listen(stderr)
	select {
	case <-ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	err = t.whileServing(ctx, cmd.Process.Pid)
	if err == nil {
		err = cmd.Process.Signal(syscall.SIGTERM)
	} else {
		_ = cmd.Process.Kill() // what is wrong is known already
	}
	text := <-said
	go func() { ended <- cmd.Wait() }()
	if err != nil {
		return fmt.Errorf("%w\nit said:\n%s", err, text)
	}
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("after SIGTERM it ends with %w\nit said:\n%s", err, text)
		}
		return nil
	case <-time.After(patience):
		return errors.New("SIGTERM does not end it")
	}
}

// listen reads what a process says until it ends, and tells when it says that it serves, or ends before.
func listen(r io.Reader) (said <-chan string, ready <-chan struct{}) {
	text, serving := make(chan string, 1), make(chan struct{})
	go func() {
		var all strings.Builder
		open := true
		for s := bufio.NewScanner(r); s.Scan(); {
			all.WriteString(s.Text() + "\n")
			if open && strings.HasPrefix(s.Text(), "serving on ") {
				close(serving)
				open = false
			}
		}
		text <- all.String()
		if open {
			close(serving)
		}
	}()
	return text, serving
}

func (t trial) whileServing(ctx context.Context, pid int) error {
	if err := ends(t.command(ctx, t.Health), 0, "answers"); err != nil {
		return fmt.Errorf("HEALTHCHECK: %w", err)
	}
	if err := t.powerless(pid); err != nil {
		return err
	}
	for _, c := range []struct {
		token string
		want  int
	}{{"", http.StatusUnauthorized}, {"another", http.StatusUnauthorized}, {token, http.StatusOK}} {
		if err := t.ask(ctx, c.token, c.want); err != nil {
			return err
		}
	}
	return nil
}

func (t trial) ask(ctx context.Context, token string, want int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:8733"+t.Ask, nil)
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != want || bytes.Contains(body, []byte(t.Hit)) != (want == http.StatusOK) {
		return fmt.Errorf("%s with token %q: status %d, want %d and %q\n%s", t.Ask, token, res.StatusCode, want, t.Hit,
			body)
	}
	return nil
}

// powerless wants a process to be who the Dockerfile says, and to have no capability.
func (t trial) powerless(pid int) error {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return err
	}
	who := fmt.Sprint(t.UID)
	if t.Space == alone {
		who = "0" // as this process sees it, which is that user there
	}
	for line := range strings.Lines(string(status)) {
		part := strings.Fields(line)
		switch {
		case len(part) > 2 && part[0] == "Uid:" && (part[1] != who || part[2] != who):
			return fmt.Errorf("the program runs as %s, want %s", part[2], who)
		case len(part) > 1 && part[0] == "CapEff:" && strings.Trim(part[1], "0") != "":
			return fmt.Errorf("the program has capabilities %s", part[1])
		}
	}
	return nil
}
