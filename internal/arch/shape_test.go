package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestShape(t *testing.T) {
	for _, top := range []string{root, toolsFolder} {
		for _, finding := range shapeFindings(readTree(t, top)) {
			t.Error(finding)
		}
	}
}

// TestShapeFindings shows that the checks above can fail.
func TestShapeFindings(t *testing.T) {
	got := shapeFindings(readTree(t, "testdata/shape"))
	want := []string{
		`tool/long.go: 701 lines`,
		`tool/long.go:4: function tooLong has 81 lines`,
		`tool/state.go:6: package-level variable counter`,
		`tool/state.go:9: package-level variable cache`,
		`tool/state.go:17: init changes the package before main starts`,
		`tool/state.go:12: package-level variable table is changed`,
		`tool/state_test.go:6: a test may not sleep`,
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) }) {
			t.Errorf("finding %q is missing from %q", w, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d findings, want %d: %q", len(got), len(want), got)
	}
}

func shapeFindings(tr *tree) []string {
	var out []string
	packages := tr.packages()
	for _, dir := range sortedKeys(packages) {
		names := packageVars(packages[dir])
		for _, s := range packages[dir] {
			if s.test {
				out = append(out, sleeps(tr, s)...)
				continue
			}
			out = append(out, lengths(tr, s)...)
			out = append(out, state(tr, s)...)
			out = append(out, assignments(tr, s, names)...)
		}
	}
	return out
}

func lengths(tr *tree, s *source) []string {
	var out []string
	if n := bytes.Count(s.text, []byte("\n")); n > maxFile {
		out = append(out, fmt.Sprintf("%s: %d lines, at most %d; split it by step or by type", s.path, n, maxFile))
	}
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		if n := tr.line(f.End()) - tr.line(f.Pos()) + 1; n > maxFunction {
			out = append(out, fmt.Sprintf("%s:%d: function %s has %d lines, at most %d", s.path, tr.line(f.Pos()),
				f.Name.Name, n, maxFunction))
		}
	}
	return out
}

// sleeps finds time.Sleep in tests: a test that waits for the clock is slow and, on a busy machine, wrong. The package
// testing/synctest has a clock that tests can trust. A sleep of an hour is left alone: that is a process which hangs.
func sleeps(tr *tree, s *source) []string {
	if importsPath(s, "testing/synctest") { // inside a bubble Sleep costs nothing
		return nil
	}
	var out []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && selects(call.Fun, "time", "Sleep") && !selects(call.Args[0], "time", "Hour") {
			out = append(out, fmt.Sprintf("%s:%d: a test may not sleep; use testing/synctest or wait for the event",
				s.path, tr.line(n.Pos())))
		}
		return true
	})
	return out
}

// selects reports whether e is pkg.name.
func selects(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && sel.Sel.Name == name
}

func importsPath(s *source, path string) bool {
	return slices.ContainsFunc(s.file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+path+`"` })
}

// state finds package-level variables that hold state by their type, and init functions. A variable that is set once
// where it is declared (a table, a compiled pattern, an embedded file, a function wrapped by sync.OnceValue) is none.
func state(tr *tree, s *source) []string {
	var out []string
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				out = append(out, fmt.Sprintf("%s:%d: init changes the package before main starts; give the caller a constructor", s.path, tr.line(d.Pos())))
			}
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				out = append(out, statefulVar(tr, s, d, spec.(*ast.ValueSpec))...)
			}
		}
	}
	return out
}

func statefulVar(tr *tree, s *source, d *ast.GenDecl, v *ast.ValueSpec) []string {
	if len(v.Values) > 0 || embedded(d, v) {
		return nil
	}
	var out []string
	for _, name := range v.Names {
		out = append(out, fmt.Sprintf("%s:%d: package-level variable %s has no value where it is declared, so it is state; put it in a type", s.path, tr.line(name.Pos()), name.Name))
	}
	return out
}

func embedded(d *ast.GenDecl, v *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{d.Doc, v.Doc} {
		if doc == nil {
			continue
		}
		for _, c := range doc.List {
			if strings.HasPrefix(c.Text, "//go:embed ") {
				return true
			}
		}
	}
	return false
}

// packageVars collects the names of a package's variables.
func packageVars(sources []*source) map[string]bool {
	out := map[string]bool{}
	for _, s := range sources {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				for _, n := range spec.(*ast.ValueSpec).Names {
					out[n.Name] = true
				}
			}
		}
	}
	delete(out, "_")
	return out
}

// assignments finds functions that change a package-level variable. A local variable of the same name is told apart by
// being declared in the same function.
func assignments(tr *tree, s *source, vars map[string]bool) []string {
	var out []string
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		local := localNames(f)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			for _, target := range targets(n) {
				if name := rootName(target); vars[name] && !local[name] {
					out = append(out, fmt.Sprintf("%s:%d: package-level variable %s is changed in %s", s.path,
						tr.line(n.Pos()), name, f.Name.Name))
				}
			}
			return true
		})
	}
	return out
}

// targets gives what a statement assigns to.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	}
	return nil
}

// rootName gives the variable that an assignable expression is a part of, or "".
func rootName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// localNames collects everything that a function declares: its parameters, results and variables.
func localNames(f *ast.FuncDecl) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				out[name.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					out[rootName(e)] = true
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok {
					out[id.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				out[name.Name] = true
			}
		}
		return true
	})
	return out
}
