package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// top is the repository, as seen from this folder.
const top = "../.."

// TestLicences wants every module that is linked, on any platform, to be under a licence that is allowed, and to be in
// NOTICE.
func TestLicences(t *testing.T) {
	lines, err := source{dir: top}.licences(t.Context(), platforms()...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(top, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "Modules whose code is compiled")
	if !found {
		t.Fatal("NOTICE has no list of modules")
	}
	var noted []string
	for line := range strings.Lines(list) {
		if name, ok := strings.CutPrefix(line, "  "); ok {
			noted = append(noted, strings.TrimSpace(name))
		}
	}
	for _, l := range lines {
		if !slices.Contains(noted, l) {
			t.Errorf("NOTICE lacks %q; bin/tools/release licences prints the list", l)
		}
	}
	for _, n := range noted {
		if !slices.Contains(lines, n) {
			t.Errorf("NOTICE has %q, which is not linked, or not under that licence", n)
		}
	}
}

func TestLicenceOf(t *testing.T) {
	modules, err := source{dir: top}.linked(t.Context(), host())
	if err != nil {
		t.Fatal(err)
	}
	dir := map[string]string{}
	for _, m := range modules {
		dir[m.Path] = m.Dir
	}
	text := map[string]string{}
	for name, file := range map[string]string{
		"Apache-2.0": filepath.Join(top, "LICENSE"), "MIT": filepath.Join(dir["go.etcd.io/bbolt"], "LICENSE"),
		"GPL": filepath.Join(dir["github.com/golang/freetype"], "licenses", "gpl.txt"),
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text[name] = string(b)
	}
	for name, c := range map[string]struct {
		path  string
		files map[string]string
		ids   []string
		keeps []string
		fault string
	}{
		"one": {
			"a",
			map[string]string{"LICENSE": text["MIT"]},
			[]string{"MIT"},
			[]string{"LICENSE"},
			"",
		},
		"two files": {"a", map[string]string{
			"LICENSE": text["MIT"], "COPYING.md": text["Apache-2.0"],
			"README": "x",
		}, []string{"Apache-2.0", "MIT"}, []string{"COPYING.md", "LICENSE"}, ""},
		"a notice": {
			"a",
			map[string]string{"LICENSE.txt": text["Apache-2.0"], "NOTICE": "Portions by many."},
			[]string{"Apache-2.0"},
			[]string{"LICENSE.txt", "NOTICE"},
			"",
		},
		"chosen by hand": {
			"github.com/golang/freetype",
			map[string]string{"LICENSE": "your choice of two"},
			[]string{"FTL"},
			[]string{"LICENSE", "licenses/ftl.txt"},
			"",
		},
		"none":        {"a", map[string]string{"README": "free as in beer"}, nil, nil, "module a: no licence"},
		"not allowed": {"a", map[string]string{"LICENSE": text["GPL"]}, nil, nil, "module a: licence GPL-2.0"},
		"unknown": {
			"a",
			map[string]string{"LICENSE": "Do what you like, on Tuesdays."},
			nil, nil,
			"module a: only 0 %",
		},
		"known, and more": {"a", map[string]string{"LICENSE": text["MIT"] +
			strings.Repeat("But you owe us a tenth of what you earn. ", 20)}, nil, nil, "module a: only"},
		"a file of the code": {
			"a",
			map[string]string{"license.go": "package license"},
			nil, nil,
			"module a: no licence",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := licenceOf(module{Path: c.path, Dir: dir})
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("got %v, %v; want %q", got, err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(licence{c.ids, c.keeps}, got, cmp.AllowUnexported(licence{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestNotices(t *testing.T) {
	text, err := source{dir: top}.notices(t.Context(), host())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nstd ", "\ngo.etcd.io/bbolt v", "Copyright (c) 2013 Ben Johnson", "Mozilla Public License Version 2.0",
		"The FreeType Project LICENSE",
		"source: https://pkg.go.dev/github.com/philippgille/chromem-go@v",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the notices lack %q", want)
		}
	}
}
