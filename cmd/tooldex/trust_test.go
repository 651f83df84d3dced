package main

import (
	"io/fs"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/cmd/tooldex/demo"
	"tooldex/scan"
	"tooldex/tool"
)

// TestDemoIsNotSuspicious holds the scanner to the tools that people see first, and these to the scanner.
func TestDemoIsNotSuspicious(t *testing.T) {
	files, err := fs.Glob(demo.FS, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []*tool.Tool
	for _, name := range files {
		b, err := demo.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		content, err := sources.Parse(name, b)
		if err != nil {
			t.Fatal(err)
		}
		for _, src := range content.Sources {
			tools, err := src.Tools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range tools {
				if one.Server == "" {
					one.Server = src.Name()
				}
			}
			all = append(all, tools...)
		}
	}
	if len(all) < 50 {
		t.Fatalf("%d tools", len(all))
	}
	s := scan.New(all)
	for _, one := range all {
		for _, f := range s.Tool(one) {
			t.Errorf("%s: %+v", one.ID(), f)
		}
	}
}
