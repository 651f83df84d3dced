package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tooldex/catalog/sources"
	"tooldex/cmd/tooldex/demo"
	"tooldex/eval"
	"tooldex/internal/atomicfile"
	"tooldex/service"
	"tooldex/tool"
)

// labelled is a searchable service with labelled requests for its tools. Close the service after use.
type labelled struct {
	*service.Service
	set *eval.Dataset
}

// openLabelled opens the set at path: a folder with tools and requests, a file with requests for the stored tools, or
// without a path those of the demo.
func (a *app) openLabelled(ctx context.Context, path string) (*labelled, error) {
	var s *service.Service
	var set *eval.Dataset
	var err error
	switch info, e := os.Stat(path); {
	case path == "":
		s, set, err = a.openDemoSet(ctx)
	case errors.Is(e, fs.ErrNotExist):
		return nil, usageError{path + " does not exist", "a set is a folder with tools.jsonl and queries.jsonl (or queries.yaml)"}
	case e == nil && !info.IsDir():
		s, set, err = a.openCases(ctx, path)
	default:
		s, set, err = a.openSet(ctx, path)
	}
	if err != nil {
		return nil, asInput(err)
	}
	return &labelled{s, set}, nil
}

// openStored opens the set at path; without a path the stored tools, without any requests, or with --demo the demo's
// set.
func (a *app) openStored(ctx context.Context, path string) (*labelled, error) {
	if path != "" || a.demo {
		return a.openLabelled(ctx, path)
	}
	s, err := a.open(ctx, service.ToSearch)
	if err != nil {
		return nil, err
	}
	if s.Catalog.Set().Len() == 0 {
		a.close(s)
		return nil, &tool.Error{Code: tool.Invalid, Op: "evaluate", Msg: "no tools are stored yet", Hint: importHint}
	}
	return &labelled{s, eval.NewDataset("stored", s.Catalog.Set())}, nil
}

// openSet loads the set in a folder and makes its tools searchable. The stored tools are not among them.
func (a *app) openSet(ctx context.Context, dir string) (*service.Service, *eval.Dataset, error) {
	set, err := eval.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, note := range set.Notes {
		a.log.Info(note)
	}
	s, err := a.openWith(ctx, []sources.Source{memorySource{set.Name, set.Tools}}, service.Options{Use: service.ToSearch})
	return s, set, err
}

// openCases reads requests for the stored tools.
func (a *app) openCases(ctx context.Context, file string) (*service.Service, *eval.Dataset, error) {
	s, err := a.open(ctx, service.ToSearch)
	if err != nil {
		return nil, nil, err
	}
	set, err := eval.LoadCases(file, s.Catalog.Set())
	if err != nil {
		a.close(s)
		return nil, nil, err
	}
	return s, set, nil
}

// openDemoSet opens the demo catalogue with its labelled requests. Close the service after use.
func (a *app) openDemoSet(ctx context.Context) (*service.Service, *eval.Dataset, error) {
	a.demo = true
	s, err := a.open(ctx, service.ToSearch)
	if err != nil {
		return nil, nil, err
	}
	set, err := demoCases(s)
	if err != nil {
		a.close(s)
		return nil, nil, err
	}
	set.Name = "demo"
	return s, set, nil
}

// demoCases reads the requests against the open catalogue, which resolves the short names of tools in them.
func demoCases(s *service.Service) (*eval.Dataset, error) {
	all, err := demo.Queries()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.Dir(), "queries.jsonl")
	if err := os.WriteFile(file, all, 0o600); err != nil {
		return nil, fmt.Errorf("unpack the demo requests: %w", err)
	}
	return eval.LoadCases(file, s.Catalog.Set())
}

// asInput turns NotFound into Invalid: exit code 3 is reserved for gates.
func asInput(err error) error {
	var te *tool.Error
	if !errors.As(err, &te) || te.Code != tool.NotFound {
		return err
	}
	copied := *te
	copied.Code = tool.Invalid
	return &copied
}

// writeFile replaces the file at path by what write writes, in one step: after an error the old file is unchanged.
func writeFile(op, path string, write func(io.Writer) error) error {
	if err := atomicfile.Create(path, 0o644, write); err != nil {
		return &tool.Error{Code: tool.Invalid, Op: op, Msg: "file " + path +
			" cannot be written", Hint: "check the path", Err: causeOf(err)}
	}
	return nil
}
