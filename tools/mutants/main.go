package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// mutant is one protection that is removed.
type mutant struct {
	Without string      `yaml:"without"` // what is missing then
	File    string      `yaml:"file"`
	Edits   [][2]string `yaml:"edits"` // each text, which stands once in the file, and what replaces it
	Test    string      `yaml:"test"`  // that must fail, as SECURITY.md names it
	Args    []string    `yaml:"args"`  // of the test
}

//go:embed mutants.yaml
var list []byte

// readMutants returns the list.
func readMutants() ([]mutant, error) {
	var out []mutant
	d := yaml.NewDecoder(bytes.NewReader(list))
	d.KnownFields(true)
	return out, d.Decode(&out)
}

// apply returns the text of the file with the edits made.
func (m mutant) apply(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	text := string(b)
	for _, e := range m.Edits {
		if n := strings.Count(text, e[0]); n != 1 {
			return "", fmt.Errorf("%s: %q stands there %d times", m.File, e[0], n)
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	return text, nil
}

// testCommand returns the command that runs a test by its name in SECURITY.md.
func testCommand(ctx context.Context, test string, flags ...string) *exec.Cmd {
	at := strings.LastIndex(test, ".")
	args := append([]string{"test", "-timeout", "30m", "-run", "^" + test[at+1:] + "$"}, flags...)
	return exec.CommandContext(ctx, "go", append(args, "./"+test[:at])...)
}

// outcome is what became of a mutant.
type outcome struct {
	mutant
	noticed  bool
	unjudged bool   // the test fails without the mutant, too
	said     string // the first line of the failure
	took     time.Duration
}

// run runs the test of a mutant.
func (m mutant) run(ctx context.Context, dir string) (outcome, error) {
	text, err := m.apply(".")
	if err != nil {
		return outcome{}, err
	}
	path, err := filepath.Abs(m.File)
	if err != nil {
		return outcome{}, err
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return outcome{}, err
	}
	if err := errors.Join(os.WriteFile(changed, []byte(text), 0o600), os.WriteFile(overlay, b, 0o600)); err != nil {
		return outcome{}, err
	}
	begun := time.Now()
	cmd := testCommand(ctx, m.Test, "-count", "1", "-vet", "off", "-overlay", overlay)
	cmd.Args = append(cmd.Args, m.Args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || bytes.Contains(out, []byte("[build failed]")) ||
		bytes.Contains(out, []byte("[setup failed]")) {
		return outcome{}, fmt.Errorf("without %s: %w\n%s", m.Without, err, out)
	}
	if bytes.Contains(out, []byte("no tests to run")) {
		return outcome{}, fmt.Errorf("%s does not exist", m.Test)
	}
	return outcome{mutant: m, noticed: err != nil, said: firstFailure(string(out)), took: time.Since(begun)}, nil
}

// failureLine matches where a test reports a failure.
var failureLine = regexp.MustCompile(`^\s+\w+_test\.go:\d+: |^panic: `)

// firstFailure returns the first line by which a test says what failed, without the names of temporary files.
func firstFailure(out string) string {
	for line := range strings.Lines(out) {
		if failureLine.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func main() {
	page := flag.String("out", "", "the page to write; none if empty")
	only := flag.String("only", "", "run only mutants whose file or test contains this")
	flag.Parse()
	if err := runAll(context.Background(), *page, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// runAll runs the mutants, and fails if one is not noticed, or if its test fails without it.
func runAll(ctx context.Context, page, only string) error {
	all, err := readMutants()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool {
		return !strings.Contains(m.File, only) && !strings.Contains(m.Test, only)
	})
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	passed := map[string]bool{}
	var done []outcome
	var unnoticed []string // and those that cannot be made
	for _, m := range all {
		if _, ran := passed[m.Test]; !ran {
			out, err := testCommand(ctx, m.Test).CombinedOutput()
			passed[m.Test] = err == nil
			if err != nil {
				unnoticed = append(unnoticed, fmt.Sprintf("%s fails without a mutant: %v: %s", m.Test, err, firstFailure(string(out))))
			}
		}
		if !passed[m.Test] { // the others are run all the same
			done = append(done, outcome{mutant: m, unjudged: true})
			continue
		}
		o, err := m.run(ctx, dir)
		if err != nil {
			unnoticed = append(unnoticed, err.Error())
			continue
		}
		what := "noticed"
		if !o.noticed {
			what = "NOT NOTICED"
			unnoticed = append(unnoticed, fmt.Sprintf("%s: without %s, %s passes", m.File, m.Without, m.Test))
		}
		fmt.Printf("%-12s %6.1fs  %s: without %s: %s\n", what, o.took.Seconds(), m.File, m.Without, o.said)
		done = append(done, o)
	}
	if page != "" {
		if err := os.WriteFile(page, []byte(report(ctx, done)), 0o644); err != nil {
			return err
		}
	}
	if len(unnoticed) > 0 {
		return errors.New(strings.Join(unnoticed, "\n"))
	}
	return nil
}

// report returns the page.
func report(ctx context.Context, done []outcome) string {
	noticed := 0
	for _, o := range done {
		if o.noticed {
			noticed++
		}
	}
	commit, _ := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output() // "" outside of a repository
	var b strings.Builder
	fmt.Fprintf(&b, "# Protections removed\n\nWritten by `make mutants` on %s, at commit %s, with %s. Each row removes one "+
		"protection from the code and\nruns the test that [SECURITY.md](../SECURITY.md) names for it. **%d of %d** were "+
		"noticed.\n\n| without | file | test | noticed |\n|---|---|---|---|\n", time.Now().UTC().Format(time.DateOnly),
		strings.TrimSpace(string(commit)), runtime.Version(), noticed, len(done))
	for _, o := range done {
		what := "**no**"
		switch {
		case o.unjudged:
			what = "not judged"
		case o.noticed:
			what = "yes"
		}
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | %s |\n", o.Without, o.File, o.Test, what)
	}
	return b.String()
}
