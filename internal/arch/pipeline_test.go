package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestPipeline holds that package service alone puts the chain of calls and that of searches together, and that package
// config alone reads the environment.
func TestPipeline(t *testing.T) {
	for _, finding := range pipelineFindings(readTree(t, root)) {
		t.Error(finding)
	}
}

// TestPipelineFindings shows that the checks above can fail.
func TestPipelineFindings(t *testing.T) {
	got := pipelineFindings(readTree(t, "testdata/pipeline"))
	want := []string{
		`mcpsrv/chain.go:8: builds a chain of callers`,
		`mcpsrv/chain.go:9: builds a chain of searchers`,
		`mcpsrv/chain.go:10: reads the environment by os.Getenv`,
		`service: builds 2 chains of calls, want 1`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}

// wrappers are the methods that put a stage around a Caller or a Searcher, by their name.
var wrappers = map[string]string{"Caller": "callers", "Searcher": "searchers"}

// environmentReader returns the name of the function of package os that n names and that reads the environment, "" for
// anything else.
func environmentReader(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok || x.Name != "os" || !slices.Contains([]string{"Getenv", "LookupEnv", "Environ"}, sel.Sel.Name) {
		return ""
	}
	return sel.Sel.Name
}

func pipelineFindings(tr *tree) []string {
	var out []string
	chains := map[string]int{} // functions of package service that build one
	for _, s := range tr.sources {
		if s.test || strings.HasPrefix(s.dir, "tools") {
			continue
		}
		for _, decl := range s.file.Decls {
			built := map[string]bool{}
			ast.Inspect(decl, func(n ast.Node) bool {
				if name := environmentReader(n); name != "" && s.dir != "config" {
					out = append(out, fmt.Sprintf("%s:%d: reads the environment by os.%s", s.path, tr.line(n.Pos()), name))
				}
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				sel, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				kind, ok := wrappers[sel.Sel.Name]
				if !ok || len(call.Args) == 0 {
					return true
				}
				if s.dir == "service" {
					built[kind] = true
				} else {
					out = append(out, fmt.Sprintf("%s:%d: builds a chain of %s", s.path, tr.line(n.Pos()), kind))
				}
				return true
			})
			for kind := range built {
				chains[kind]++
			}
		}
	}
	for kind, name := range map[string]string{"callers": "calls", "searchers": "searches"} {
		if n := chains[kind]; n != 1 {
			out = append(out, fmt.Sprintf("service: builds %d chains of %s, want 1", n, name))
		}
	}
	return out
}
