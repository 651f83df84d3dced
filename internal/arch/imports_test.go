package arch

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	for _, finding := range importFindings(readTree(t, root)) {
		t.Error(finding)
	}
}

// TestImportFindings shows that the check above can fail: it is run on a small tree with one fault of each kind.
func TestImportFindings(t *testing.T) {
	got := importFindings(readTree(t, "testdata/imports"))
	want := []string{
		`rogue: package is not in the table of internal/arch`,
		`tool/tool.go: tool may not import "tooldex/store"`,
		`search/search.go: only tests may import "tooldex/internal/faultfs"`,
		`search/search.go: search may not import "tooldex"`,
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) }) {
			t.Errorf("finding %q is missing from %q", w, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d findings, want %d: %q", len(got), len(want), got)
	}
}

func importFindings(tr *tree) []string {
	var out []string
	unknown := map[string]bool{}
	for _, s := range tr.sources {
		r, ok := table[s.dir]
		if !ok && !testSupport[s.dir] {
			if !unknown[s.dir] {
				unknown[s.dir] = true
				out = append(out, s.dir+": package is not in the table of internal/arch; an existing one may be the place for the code")
			}
			continue
		}
		if s.test || testSupport[s.dir] {
			continue
		}
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			ours, own := strings.CutPrefix(name, module+"/")
			if name == module {
				ours, own = ".", true
			}
			if err != nil || !own {
				continue
			}
			if f := judgeImport(s, r, ours); f != "" {
				out = append(out, f)
			}
		}
	}
	return out
}

// judgeImport says what is wrong with s importing our package ours, or "".
func judgeImport(s *source, r rule, ours string) string {
	switch {
	case testSupport[ours]:
		return fmt.Sprintf("%s: only tests may import %q", s.path, path.Join(module, ours))
	case slices.Equal(r.imports, every) || slices.Contains(r.imports, ours):
		return ""
	}
	return fmt.Sprintf("%s: %s may not import %q; the table allows %q", s.path, s.dir, path.Join(module, ours),
		r.imports)
}

// TestTableIsFull keeps the table free of packages that are gone, apart from those that are planned.
func TestTableIsFull(t *testing.T) {
	planned := map[string]bool{"web": true, "internal/faultfs": true}
	have := readTree(t, root).packages()
	for dir := range table {
		if have[dir] == nil && !planned[dir] {
			t.Errorf("the table of internal/arch has a line for %s, which does not exist", dir)
		}
	}
}
