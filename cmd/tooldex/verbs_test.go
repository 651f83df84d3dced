package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// bareRoot is the command without an environment.
func bareRoot() *cobra.Command {
	root := newRoot(&app{getenv: func(string) string { return "" }})
	root.InitDefaultHelpCmd()
	return root
}

// exitCodesInScripts tells with which codes the transcripts show each command to end, by its path.
func exitCodesInScripts(t *testing.T, root *cobra.Command) map[string][]int {
	t.Helper()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(?:\[[^\]]*\] +)*(exec|exits (\d+)) tooldex(?: (.*))?$`)
	seen := map[string]map[int]bool{}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			m := line.FindStringSubmatch(strings.TrimSpace(l))
			if m == nil {
				continue
			}
			code, _ := strconv.Atoi(m[2]) // exec wants 0
			cmd, _, err := root.Find(strings.Fields(strings.ReplaceAll(m[3], "'", "")))
			if err != nil || cmd == nil {
				continue
			}
			path := cmd.CommandPath()
			if seen[path] == nil {
				seen[path] = map[int]bool{}
			}
			seen[path][code] = true
		}
	}
	out := map[string][]int{}
	for path, codes := range seen {
		out[path] = slices.Sorted(maps.Keys(codes))
	}
	return out
}

// TestVerbs wants a transcript for every command that shows it doing what it should, one that shows wrong usage
// refused, and one for each other code that it is known to end with.
func TestVerbs(t *testing.T) {
	more := map[string][]int{ // beside 0 and 2
		"tooldex call": {1, 3}, "tooldex config show": {1}, "tooldex connect": {1, 3}, "tooldex describe": {3},
		"tooldex doctor":       {1},
		"tooldex enrich apply": {1, 3}, "tooldex enrich forget": {3}, "tooldex eval": {1, 3},
		"tooldex eval collide": {1}, "tooldex eval compare": {1},
		"tooldex eval describe": {1, 3}, "tooldex eval explain": {1, 3}, "tooldex eval gate": {1, 3},
		"tooldex eval init": {1}, "tooldex health": {1},
		"tooldex import": {1}, "tooldex index copy": {1, 3}, "tooldex index verify": {1}, "tooldex learn approve": {3}, "tooldex learn export": {3},
		"tooldex learn forget": {3},
		"tooldex learn list":   {3}, "tooldex list": {1, 3}, "tooldex search": {3}, "tooldex select": {3},
		"tooldex serve": {1}, "tooldex servers add": {1},
		"tooldex servers import": {1, 3}, "tooldex servers list": {1}, "tooldex servers login": {3},
		"tooldex servers remove": {3}, "tooldex servers disable": {1, 3}, "tooldex tools disable": {3}, "tooldex tools enable": {1},
		"tooldex tokens add": {1}, "tooldex tokens revoke": {3},
	}
	// elsewhere are commands whose doing well needs another program, and the test that has it.
	elsewhere := map[string]string{"tooldex servers login": "TestLogin", "tooldex health": "TestDocuments", "tooldex servers search": "TestServersRegistry"}
	root := bareRoot()
	seen := exitCodesInScripts(t, root)
	for _, cmd := range commandsBelow(root) {
		path := cmd.CommandPath()
		for _, code := range append([]int{0, 2}, more[path]...) {
			if name := elsewhere[path]; code == 0 && name != "" {
				if !hasTest(t, name) {
					t.Errorf("there is no test %s, which should show what %s does", name, path)
				}
			} else if !slices.Contains(seen[path], code) {
				t.Errorf("no transcript of testdata/script has %s end with %d", path, code)
			}
		}
		delete(more, path)
	}
	for path := range more {
		t.Errorf("there is no command %s any more", path)
	}
}

// hasTest reports whether this package has a test of that name.
func hasTest(t *testing.T, name string) bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		b, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(b), "\nfunc "+name+"(")
	})
}
