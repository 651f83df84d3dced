package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPins wants everything that is fetched from elsewhere to build, test or run tooldex to be named by what it hashes
// to, or by an exact version where there is nothing to hash: actions, images, and the packages of npm that tests run.
// Modules of Go have go.sum.
func TestPins(t *testing.T) {
	for _, finding := range pinFindings(t, root) {
		t.Error(finding)
	}
}

// TestPinFindings shows that the check can fail.
func TestPinFindings(t *testing.T) {
	got := strings.Join(pinFindings(t, "testdata/pins"), "\n")
	want := strings.Join([]string{
		".github/workflows/a.yml:2: actions/checkout@v5 is not pinned to a commit, with its version behind it",
		".github/workflows/a.yml:3: actions/setup-go@44694675825211faa026b3c33043df3e48a5fa00 is not pinned to a commit, with its version behind it",
		".github/workflows/a.yml:5: golang:1.26 is not pinned to a digest",
		"Dockerfile:1: golang:1.26 is not pinned to a digest",
		"deploy/compose.yaml:4: ollama/ollama:latest is not pinned to a digest",
		`cmd/npx_test.go:4: package "@scope/loose" of npm has no exact version`,
		`cmd/npx_test.go:5: package "@scope/range@^1.0.0" of npm has no exact version`,
		`cmd/npx_test.go:6: package "@scope/" of npm has no exact version`,
		`cmd/npx_test.go:10: package "plain" of npm has no exact version`,
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

var (
	uses    = regexp.MustCompile(`^\s*(?:- )?uses:\s*(\S+)(.*)$`)
	action  = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+@[0-9a-f]{40}$`)
	release = regexp.MustCompile(`^\s+# v\d+\.\d+\.\d+$`)
	digest  = regexp.MustCompile(`^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$`)
	exact   = regexp.MustCompile(`^(@[\w.-]+/)?[\w.-]+@\d+\.\d+\.\d+(-[\w.-]+)?$`)
	scoped  = regexp.MustCompile(`^@[\w.-]+/`)
	// others only read what names a package
	runsNpm = regexp.MustCompile(`LookPath\("npx"\)|\bwithNpx\(|\bmodernNode\(`)
)

func pinFindings(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	lines := func(pattern string, judge func(line string) string) {
		names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil || len(names) == 0 {
			t.Fatalf("no file is called %s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if wrong := judge(line); wrong != "" {
					out = append(out, fmt.Sprintf("%s:%d: %s", filepath.ToSlash(rel), i+1, wrong))
				}
			}
		}
	}
	lines(".github/workflows/*.yml", func(line string) string {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "image: "); ok {
			return imagePin(name)
		}
		m := uses.FindStringSubmatch(line)
		if m == nil || action.MatchString(m[1]) && release.MatchString(m[2]) {
			return ""
		}
		return m[1] + " is not pinned to a commit, with its version behind it"
	})
	lines("Dockerfile", func(line string) string {
		word := strings.Fields(line)
		switch {
		case len(word) > 1 && word[0] == "ARG" && strings.Contains(word[1], ":"):
			_, value, _ := strings.Cut(word[1], "=")
			return imagePin(value)
		case len(word) > 1 && word[0] == "FROM" && !strings.Contains(line, "${") && word[1] != "scratch":
			return imagePin(word[1])
		}
		return ""
	})
	lines("deploy/compose.yaml", func(line string) string {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "image: ")
		if !ok || strings.HasSuffix(name, ":local") { // built, never fetched
			return ""
		}
		return imagePin(name)
	})
	tr := readTree(t, dir)
	for _, s := range tr.sources {
		if s.test && runsNpm.Match(s.text) {
			out = append(out, npmFindings(tr, s)...)
		}
	}
	return out
}

func imagePin(name string) string {
	if digest.MatchString(name) {
		return ""
	}
	return name + " is not pinned to a digest"
}

// npmFindings looks at strings that name a package of npm: by their scope, or as the field pkg of a table. A version
// may be added by a constant that is called so.
func npmFindings(tr *tree, s *source) []string {
	var out []string
	judge := func(e ast.Expr, always bool) {
		text, versioned, ok := concatenated(e)
		if ok && (always || scoped.MatchString(text)) && !versioned && !exact.MatchString(text) {
			out = append(out, fmt.Sprintf("%s:%d: package %q of npm has no exact version", s.path, tr.line(e.Pos()),
				text))
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "pkg" {
				judge(n.Value, true)
				return false
			}
		case *ast.BinaryExpr:
			judge(n, false)
			return false
		case *ast.BasicLit:
			judge(n, false)
		}
		return true
	})
	return out
}

// concatenated is the text that an expression of strings begins with, and whether the name of a version follows.
func concatenated(e ast.Expr) (text string, versioned, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false, false
		}
		text, err := strconv.Unquote(e.Value)
		return text, false, err == nil
	case *ast.BinaryExpr:
		text, versioned, ok = concatenated(e.X)
		name, isName := e.Y.(*ast.Ident)
		return text, versioned || isName && strings.HasSuffix(name.Name, "Version"), ok
	}
	return "", false, false
}
