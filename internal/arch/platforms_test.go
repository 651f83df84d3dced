package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlatforms checks every package and test of this module as the compiler would for each platform that tooldex is
// published for, but for the one it runs on. It generates no code, which would take minutes; make platforms does.
func TestPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the source of everything that is linked, for each platform")
	}
	readTree(t, root)    // so that a result is not taken from the cache once a file has changed
	trees := newParsed() // platforms have most files in common
	for _, platform := range []string{"linux/arm64", "darwin/arm64", "darwin/amd64", "windows/amd64", "windows/arm64"} {
		t.Run(platform, func(t *testing.T) {
			for _, finding := range typeFindings(t, trees, root, platform, "./...") {
				t.Error(finding)
			}
		})
	}
}

// TestTypeFindings shows that the check can fail, on one platform and not on another.
func TestTypeFindings(t *testing.T) {
	if got := typeFindings(t, newParsed(), "testdata/platforms", "linux/amd64", "./..."); len(got) != 0 {
		t.Errorf("on Linux: %q", got)
	}
	got := typeFindings(t, newParsed(), "testdata/platforms", "windows/amd64", "./...")
	if len(got) != 2 || !strings.Contains(got[0], "undefined: onlyUnix") ||
		!strings.Contains(got[1], "undefined: syscall.Kill") {
		t.Errorf("on Windows: %q", got)
	}
}

// listed is a package as go list tells of it.
type listed struct {
	Dir, ImportPath string
	ForTest         string
	GoFiles         []string
	ImportMap       map[string]string
	DepOnly         bool
	Error           *struct{ Err string }
	Module          *struct{ Main bool }
}

// typeFindings lists what does not fit together on a platform. Bodies of functions are only read in the packages asked
// for.
func typeFindings(t *testing.T, trees *parsed, dir, platform, pattern string) []string {
	t.Helper()
	goos, goarch, _ := strings.Cut(platform, "/")
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-e",
		"-json=Dir,ImportPath,ForTest,GoFiles,ImportMap,DepOnly,Error,Module", pattern)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	var findings []string
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			slices.Sort(findings) // a package is read alone and with its tests
			return slices.Compact(findings)
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the latter are written by the go command
			continue
		}
		if p.Error != nil && !p.DepOnly {
			findings = append(findings, p.Error.Err)
		}
		findings = append(findings, p.check(trees, done, types.SizesFor("gc", goarch))...)
	}
}

// parsed holds files that were read, by path.
type parsed struct {
	positions *token.FileSet
	files     map[string]*parsedFile
}

func newParsed() *parsed { return &parsed{token.NewFileSet(), map[string]*parsedFile{}} }

// parsedFile is the tree of a file, and what is wrong with it.
type parsedFile struct {
	tree *ast.File
	err  error
}

// file parses a file unless that was done before. Of one that is not ours only what others can refer to is kept.
func (p *parsed) file(name string, ours bool) *parsedFile {
	if f := p.files[name]; f != nil {
		return f
	}
	f := &parsedFile{}
	f.tree, f.err = parser.ParseFile(p.positions, name, nil, parser.SkipObjectResolution)
	if f.tree != nil && !ours {
		dropBodies(f.tree)
	}
	p.files[name] = f
	return f
}

// dropBodies removes the bodies of functions, and values of variables whose type is known without them: tables of
// other modules would be most of what is checked.
func dropBodies(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			d.Body = nil
		case *ast.GenDecl:
			for _, s := range d.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok || d.Tok != token.VAR || len(v.Values) != 1 || len(v.Names) != 1 {
					continue
				}
				if v.Type == nil {
					lit, ok := v.Values[0].(*ast.CompositeLit)
					if !ok {
						continue
					}
					if array, ok := lit.Type.(*ast.ArrayType); ok && array.Len != nil {
						if _, counted := array.Len.(*ast.Ellipsis); counted {
							continue
						}
					}
					v.Type = lit.Type
				}
				v.Values = nil
			}
		}
	}
}

// check adds the package to done, which holds all that it imports.
func (p *listed) check(trees *parsed, done map[string]*types.Package, sizes types.Sizes) []string {
	ours := p.Module != nil && p.Module.Main
	var files []*ast.File
	var findings []string
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f := trees.file(name, ours)
		if f.err != nil && ours {
			findings = append(findings, f.err.Error())
		}
		if f.tree != nil {
			files = append(files, f.tree)
		}
	}
	conf := types.Config{
		IgnoreFuncBodies: !ours, FakeImportC: true, Sizes: sizes,
		Importer: importing(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			if got := done[path]; got != nil {
				return got, nil
			}
			return nil, fmt.Errorf("%s is not there", path)
		}),
		Error: func(err error) {
			if ours {
				findings = append(findings, err.Error())
			}
		},
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	done[p.ImportPath], _ = conf.Check(path, trees.positions, files, nil) // what is wrong was told already
	return findings
}

// importing is a function that finds packages.
type importing func(path string) (*types.Package, error)

// Import finds a package by the path that it is imported by.
func (f importing) Import(path string) (*types.Package, error) { return f(path) }
