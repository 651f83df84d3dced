package tooldex_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherModule builds and runs the program of the guide in a module of its own, as somebody does who follows the
// guide: all that it needs can be imported, and finding a tool takes ten lines. It asks no proxy: what this module
// needs is there.
func TestOtherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another program")
	}
	guide, err := os.ReadFile("docs/guides/go-library.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```go\n")
	program, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/guides/go-library.md has no program")
	}
	if n := linesOf(t, program, "find"); n > 10 {
		t.Errorf("finding a tool takes %d lines, ten at most were promised", n)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{"main.go": program}
	for name, from := range map[string]string{"go.sum": "go.sum", "github.yaml": "cmd/tooldex/demo/github.yaml"} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
		}
		return string(out)
	}
	run("mod", "init", "example.com/agent")
	run("mod", "edit", "-require", "tooldex@v0.0.0", "-replace", "tooldex="+root)
	const want = "create_pull_request true"
	if got := strings.TrimSpace(run("run", ".")); got != want {
		t.Errorf("it prints %q, want %q", got, want)
	}
	if !strings.Contains(string(guide), "`"+want+"`") {
		t.Errorf("the guide does not say that it prints %q", want)
	}
	// Where no tool can be found it says so.
	const disabled = "tools:\n  - {server: github, name: merge, description: Merge a proposal., enabled: false}\n"
	if err := os.WriteFile(filepath.Join(dir, "github.yaml"), []byte(disabled), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(run("run", ".")); got != "no tool does this" {
		t.Errorf("without a tool that is enabled it prints %q", got)
	}
}

// linesOf counts the lines between the braces of a function, but for the last one, which returns.
func linesOf(t *testing.T, program, name string) int {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "main.go", program, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name {
			return set.Position(f.Body.List[len(f.Body.List)-1].Pos()).Line - set.Position(f.Body.Lbrace).Line - 1
		}
	}
	t.Fatalf("there is no function %s", name)
	return 0
}
