package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// module is one module whose code is in a program.
type module struct {
	Path    string
	Version string
	Dir     string // where its source lies
	Sum     string // as in go.sum, "" for Go itself
}

// standard is the path under which Go's own library goes, as databases of vulnerabilities name it.
const standard = "std"

// linked lists the modules of the program for each of ps, sorted by path: a module counts once a package of it is
// imported.
func (s source) linked(ctx context.Context, ps ...platform) ([]module, error) {
	all := map[string]module{}
	for _, p := range ps {
		out, err := s.run(ctx, p, "go", "list", "-mod=readonly", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "./cmd/tooldex")
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(out) {
			part := strings.SplitN(strings.TrimSpace(string(line)), " ", 3)
			if len(part) == 3 {
				all[part[0]] = module{Path: part[0], Version: part[1], Dir: part[2]}
			}
		}
	}
	lib, err := s.library(ctx)
	if err != nil {
		return nil, err
	}
	all[standard] = lib
	return slices.SortedFunc(maps.Values(all), func(a, b module) int { return cmp.Compare(a.Path, b.Path) }), nil
}

// library is Go's own.
func (s source) library(ctx context.Context) (module, error) {
	root, err := s.run(ctx, host(), "go", "env", "GOROOT")
	return module{
		Path: standard, Version: strings.TrimPrefix(runtime.Version(), "go"),
		Dir: strings.TrimSpace(string(root)),
	}, err
}

// inside lists the modules recorded in a program, and the folders of their source.
func (s source) inside(ctx context.Context, program string) ([]module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read what %s is made of: %w", filepath.Base(program), err)
	}
	lib, err := s.library(ctx)
	if err != nil {
		return nil, err
	}
	lib.Version = strings.TrimPrefix(info.GoVersion, "go")
	out, args := []module{lib}, []string{"mod", "download", "-json"}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		out = append(out, module{Path: dep.Path, Version: dep.Version, Sum: dep.Sum})
		args = append(args, dep.Path+"@"+dep.Version)
	}
	dirs, err := s.downloaded(ctx, args)
	if err != nil {
		return nil, err
	}
	for i, m := range out {
		if m.Path == standard {
			continue
		}
		got := dirs[m.Path]
		if got.Sum != m.Sum {
			return nil, fmt.Errorf("module %s: the program was built from %s, and the source here is %s", m.Path, m.Sum,
				got.Sum)
		}
		out[i].Dir = got.Dir
	}
	slices.SortFunc(out, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

func (s source) downloaded(ctx context.Context, args []string) (map[string]module, error) {
	raw, err := s.run(ctx, host(), "go", args...)
	if err != nil {
		return nil, err
	}
	out := map[string]module{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	for dec.More() {
		var m module
		if err := dec.Decode(&m); err != nil {
			return nil, fmt.Errorf("read the list of modules: %w", err)
		}
		out[m.Path] = m
	}
	return out, nil
}
