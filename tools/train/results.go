package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tooldex/scan"
	"tooldex/tool"
)

// trainResults makes the weights by which package scan knows passages of results that are like those of attacks: from
// the passages of a folder, the sentences about tools of another, and the documents of the modules that this program is
// built of.
func trainResults(ctx context.Context, out io.Writer, passages, examples, file string) error {
	rows, err := readExamples(passages)
	if err != nil {
		return err
	}
	ofTools, err := readExamples(examples)
	if err != nil {
		return err
	}
	documents, err := moduleDocuments(ctx)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("the documents of %d modules", len(documents))
	return writeScanner(out, append(rows, ofTools...), documents, of, file)
}

// moduleDocuments returns the sentences of the readme files, manuals, licences and release notes of all modules that
// tools/go.mod builds with, by module. They are the same wherever this runs.
func moduleDocuments(ctx context.Context) (map[string][]scan.Example, error) {
	out := map[string][]scan.Example{}
	for _, of := range [][2]string{{"tools", "./..."}, {"tools/linters", "tool"}} {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Dir}}{{end}}", of[1])
		cmd.Dir = of[0]
		list, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list modules of %s: %w", of[0], err)
		}
		for line := range strings.Lines(string(list)) {
			module, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
			if dir == "" || out[module] != nil || strings.HasPrefix(module, "tooldex") {
				continue
			}
			if out[module], err = documentsOf(dir); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// documentsOf returns the sentences of the documents in a folder, never nil.
func documentsOf(dir string) ([]scan.Example, error) {
	out := []scan.Example{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isDocument(path) {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		if err == nil {
			out = append(out, scan.Examples(&tool.Tool{Description: string(b)})...)
		}
		return err
	})
	return out, err
}

// isDocument reports whether a file is written for people.
func isDocument(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	return slices.Contains([]string{".md", ".txt", ".rst"}, filepath.Ext(name)) || strings.HasPrefix(name, "license")
}
