package demo

import (
	"bytes"
	"fmt"
	"io/fs"

	"tooldex/catalog/sources"
)

// Sources returns the catalogue, a source for each server. The error is Invalid, and a defect of the files.
func Sources() ([]sources.Source, error) {
	var out []sources.Source
	err := eachFile("*.yaml", func(name string, b []byte) error {
		content, err := sources.Parse(name, b)
		out = append(out, content.Sources...)
		return err
	})
	return out, err
}

// Queries returns the labelled requests as one file of JSON lines.
func Queries() ([]byte, error) {
	var out []byte
	err := eachFile("queries-*.jsonl", func(_ string, b []byte) error {
		out = append(append(out, bytes.TrimSpace(b)...), '\n')
		return nil
	})
	return out, err
}

func eachFile(pattern string, do func(name string, b []byte) error) error {
	files, err := fs.Glob(FS, pattern)
	if err != nil {
		return fmt.Errorf("list the demo: %w", err)
	}
	for _, name := range files {
		b, err := FS.ReadFile(name)
		if err == nil {
			err = do(name, b)
		}
		if err != nil {
			return fmt.Errorf("read the demo: %w", err)
		}
	}
	return nil
}
