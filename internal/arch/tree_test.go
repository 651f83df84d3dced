package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the top of the repository, as seen from this folder, where the tests run.
const root = "../.."

// source is one Go file of the module.
type source struct {
	path string // from the top, with slashes
	dir  string // its folder, likewise
	test bool
	file *ast.File
	text []byte
}

// tree is every Go file of the module, in the order of their paths.
type tree struct {
	fset    *token.FileSet
	sources []*source
}

// readTree parses the module that lies in dir. Folders that the go command ignores, and other modules, are left out.
func readTree(t *testing.T, dir string) *tree {
	t.Helper()
	out := &tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(dir, path, d.Name())
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		return out.add(dir, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func skipFolder(dir, path, name string) error {
	if path == dir {
		return nil
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

func (tr *tree) add(dir, path string) error {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(tr.fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	tr.sources = append(tr.sources, &source{
		path: rel, dir: filepath.ToSlash(filepath.Dir(rel)), file: file, text: text,
		test: strings.HasSuffix(rel, "_test.go"),
	})
	return nil
}

// packages groups the files by folder.
func (tr *tree) packages() map[string][]*source {
	out := map[string][]*source{}
	for _, s := range tr.sources {
		out[s.dir] = append(out[s.dir], s)
	}
	return out
}

// line gives the line of a position, for messages.
func (tr *tree) line(p token.Pos) int { return tr.fset.Position(p).Line }
