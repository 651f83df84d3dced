package arch

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestDocs(t *testing.T) {
	for _, top := range []string{root, toolsFolder} {
		for _, finding := range docFindings(readTree(t, top)) {
			t.Error(finding)
		}
	}
}

// TestLimitsAreTested holds that the page of limits names tests that there are.
func TestLimitsAreTested(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		b, err := os.ReadFile(file)
		for _, m := range declared.FindAllSubmatch(b, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bTest\w+`).FindAllString(string(page), -1)
	for _, name := range named {
		if !tests[name] {
			t.Errorf("there is no test %s", name)
		}
	}
	if len(named) < 30 {
		t.Errorf("the page names %d tests", len(named))
	}
}

// TestDocFindings shows that the checks above can fail.
func TestDocFindings(t *testing.T) {
	got := docFindings(readTree(t, "testdata/docs"))
	want := []string{
		`store: has no doc.go`,
		`tool/doc.go: the first sentence is "Package tool is here."`,
		`tool/tool.go:3: exported Undocumented has no comment`,
		`tool/tool.go:8: exported Method has no comment`,
		`tool/tool.go:13: exported Field has no comment`,
		`tool/tool.go:17: exported Bare has no comment`,
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

func docFindings(tr *tree) []string {
	var out []string
	packages := tr.packages()
	for _, dir := range sortedKeys(packages) {
		out = append(out, packageDoc(dir, packages[dir])...)
		for _, s := range packages[dir] {
			if !s.test {
				out = append(out, exportedDocs(tr, s)...)
			}
		}
	}
	return out
}

// packageDoc wants the documentation of a package in doc.go alone, and its first sentence as the table has it.
func packageDoc(dir string, sources []*source) []string {
	var out []string
	found := false
	for _, s := range sources {
		if s.test || s.file.Doc == nil {
			continue
		}
		if path.Base(s.path) != "doc.go" {
			out = append(out, s.path+": the package is documented here as well as in doc.go")
			continue
		}
		found = true
		first := new(doc.Package).Synopsis(s.file.Doc.Text())
		if want := table[dir].doc; want != "" && first != want {
			out = append(out, fmt.Sprintf("%s: the first sentence is %q, the table of internal/arch has %q", s.path,
				first, want))
		}
	}
	if !found {
		out = append(out, dir+": has no doc.go with a package comment")
	}
	return out
}

// exportedDocs wants a comment on every exported function, method of an exported type, type, constant and variable, and
// on the fields of exported interfaces. A group of constants or variables may share one.
func exportedDocs(tr *tree, s *source) []string {
	var out []string
	bare := func(pos token.Pos, name string) {
		out = append(out, fmt.Sprintf("%s:%d: exported %s has no comment", s.path, tr.line(pos), name))
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && receiverExported(d) && d.Doc == nil {
				bare(d.Pos(), d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				specDocs(d, spec, bare)
			}
		}
	}
	return out
}

func specDocs(d *ast.GenDecl, spec ast.Spec, bare func(token.Pos, string)) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return
		}
		if d.Doc == nil && spec.Doc == nil {
			bare(spec.Pos(), spec.Name.Name)
		}
		if it, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, m := range it.Methods.List {
				if len(m.Names) > 0 && m.Names[0].IsExported() && m.Doc == nil && m.Comment == nil &&
					it.Methods.NumFields() > 1 {
					bare(m.Pos(), m.Names[0].Name)
				}
			}
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				bare(name.Pos(), name.Name)
			}
		}
	}
}

// receiverExported reports whether d is a function, or a method of an exported type.
func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
