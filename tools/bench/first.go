package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"tooldex/tools/internal/provenance"
)

// firstPage does what somebody does who hears of the project: it clones the repository in root and runs the commands of
// its README, on a machine that has git and Go and nothing else: no home, no caches, no variables but those below. The
// second command, which runs all tests, is left out unless it is asked for.
func firstPage(ctx context.Context, root string, tests bool) (string, error) {
	dir, err := os.MkdirTemp("", "tooldex-first")
	if err != nil {
		return "", err
	}
	defer removeAll(dir)
	m := &bareMachine{root: root, dir: dir, env: []string{
		"HOME=" + filepath.Join(dir, "home"),
		"TMPDIR=" + filepath.Join(dir, "tmp"), "LANG=C.UTF-8",
	}}
	for _, name := range networkVariables() {
		if v, ok := os.LookupEnv(name); ok {
			m.env = append(m.env, name+"="+v)
		}
	}
	for _, d := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return "", err
		}
	}
	if err := m.run(ctx, "", "clone", fmt.Sprintf("git clone -q --no-hardlinks '%s' tooldex", root)); err != nil {
		return "", err
	}
	clone := filepath.Join(dir, "tooldex")
	readme, err := os.ReadFile(filepath.Join(clone, "README.md"))
	if err != nil {
		return "", err
	}
	first, second, err := readmeCommands(string(readme))
	if err != nil {
		return "", err
	}
	if err := m.run(ctx, clone, "the first command: download, build, answer", first); err != nil {
		return "", err
	}
	answer := strings.ReplaceAll(strings.TrimSpace(m.said), clone, "tooldex")
	modules, err := sizeOf(filepath.Join(dir, "home", "go", "pkg", "mod", "cache", "download"))
	if err != nil {
		return "", err
	}
	steps := [][2]string{{"the same again", first}, {"the answer alone", last(first)}}
	if tests {
		steps = append(steps, [2]string{"the second command: all tests", second})
	}
	for _, step := range steps {
		if err := m.run(ctx, clone, step[0], step[1]); err != nil {
			return "", err
		}
	}
	return m.page(ctx, answer, modules), nil
}

// networkVariables are how a machine reaches Go's modules, npm and the rest, which is no part of what is measured.
func networkVariables() []string {
	return []string{
		"PATH", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "GOPROXY",
		"GOSUMDB", "GONOSUMDB", "GOINSECURE", "SSL_CERT_FILE", "SSL_CERT_DIR", "NPM_CONFIG_REGISTRY",
	}
}

// bareMachine runs commands with an environment of its own, and keeps the time.
type bareMachine struct {
	root  string // of the repository that is cloned
	dir   string // where everything lies
	env   []string
	steps []step
	said  string // by the last command, on standard output
}

type step struct {
	what, command string
	took          time.Duration
}

// run runs a command in dir, or where everything lies if it is "".
func (m *bareMachine) run(ctx context.Context, dir, what, command string) error {
	if dir == "" {
		dir = m.dir
	}
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", command)
	cmd.Dir, cmd.Env = dir, m.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	fmt.Fprintf(os.Stderr, "%s: %s\n", what, took.Round(time.Millisecond))
	if err != nil {
		return fmt.Errorf("%s: %w\n%s\n%s", command, err, &stdout, &stderr)
	}
	m.said = stdout.String()
	m.steps = append(m.steps, step{what, strings.ReplaceAll(command, m.root, "REPOSITORY"), took})
	return nil
}

// page reports the steps, the output of the first command, and how much was downloaded.
func (m *bareMachine) page(ctx context.Context, answer string, modules int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# From a clone to the first answer\n\n%s\n\n", provenance.Line(ctx, "make clean-machine"))
	b.WriteString("On a machine with git and Go, with an empty home directory, no caches, and no variables except those for the network. The\n" +
		"commands are those of the [README](../README.md); the clone is of this repository on the same disk.\n\n| step | command | took |\n|---|---|---|\n")
	var total time.Duration
	for i, s := range m.steps {
		if i < 2 {
			total += s.took
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", s.what, s.command, seconds(s.took))
	}
	fmt.Fprintf(&b, "\nFrom the clone to the first answer: **%s**, with %.0f MB of modules downloaded. What it answered:\n\n```text\n%s\n```\n", seconds(total), float64(modules)/1e6, answer)
	return b.String()
}

func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

var shellBlock = regexp.MustCompile("(?m)^```sh\n((?:.*\n)*?)```$")

// readmeCommands finds the command that builds and asks, and the one that tests.
func readmeCommands(readme string) (first, second string, err error) {
	for _, m := range shellBlock.FindAllStringSubmatch(readme, 2) {
		first, second = second, strings.TrimSpace(m[1])
	}
	if !strings.Contains(first, "&&") || strings.Contains(first, "\n") || second == "" ||
		strings.Contains(second, "\n") {
		return "", "", errors.New("README.md does not begin with two commands, one that builds and asks and one that tests")
	}
	return first, second, nil
}

// last is the last part of a command: what comes after the build.
func last(command string) string {
	parts := strings.Split(command, "&&")
	return strings.TrimSpace(parts[len(parts)-1])
}

// sizeOf adds up the files below a folder; one that is not there is empty.
func sizeOf(dir string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// removeAll removes a folder, and in it modules, which Go keeps from being written to.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	_ = os.RemoveAll(dir)
}
