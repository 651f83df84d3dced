package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIgnoring(t *testing.T) {
	ignored, err := ignoring("# what is not sent\n.git\nbin\n*.db\n**/testdata\n\n/docs\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		".git": true, ".git/HEAD": true, ".gitignore": false, "bin/tooldex": true, "cmd/bin": false, "a.db": true,
		"store/a.db": false,
		"testdata":   true, "store/testdata/a.db": true, "store/testdata.go": false, "docs/adr/1.md": true,
		"main.go": false,
	} {
		if got := ignored(name); got != want {
			t.Errorf("%s is ignored: %t, want %t", name, got, want)
		}
	}
	for _, text := range []string{"!keep", "a/**/b", "[x"} {
		if _, err := ignoring(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestCopy(t *testing.T) {
	from := t.TempDir()
	for name, mode := range map[string]fs.FileMode{
		"go.mod": 0o644, "go.sum": 0o600, "cmd/run": 0o755,
		"cmd/deep/x": 0o644, "bin/old": 0o644,
	} {
		file := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("run", filepath.Join(from, "cmd/link")); err != nil {
		t.Fatal(err)
	}
	all := []string{"/cmd/deep/x 0644", "/cmd/link link", "/cmd/run 0755", "/go.mod 0644", "/go.sum 0600"}
	for name, c := range map[string]struct {
		sources []string
		to      string
		want    []string
	}{
		"files to a folder": {[]string{"go.mod", "go.sum"}, "./", []string{
			"/src/go.mod 0644",
			"/src/go.sum 0600",
		}},
		"one file to a name":   {[]string{"cmd/run"}, "/usr/bin/tooldex", []string{"/usr/bin/tooldex 0755"}},
		"one file to a folder": {[]string{"cmd/run"}, "/usr/bin/", []string{"/usr/bin/run 0755"}},
		"what is in a folder": {[]string{"cmd/"}, "/x", []string{
			"/x/deep/x 0644", "/x/link link",
			"/x/run 0755",
		}},
		"all but what is ignored":    {[]string{"."}, "/", all},
		"all, to where the work is":  {[]string{"."}, ".", prefixed("/src", all)},
		"what lies above is no more": {[]string{"../../go.mod"}, "/y", []string{"/y 0644"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			co := copying{from: from, ignored: func(name string) bool { return matches("bin", name) }}
			if err := co.do(root, "/src", c.sources, c.to); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, listed(t, root)); d != "" {
				t.Error(d)
			}
		})
	}
	if err := (copying{from: from}).do(t.TempDir(), "/", []string{"none"}, "/x"); err == nil {
		t.Error("what is not there was copied")
	}
}

func TestReadOwner(t *testing.T) {
	for text, want := range map[string]*owner{"": nil, "65532:65531": {65532, 65531}, "7": {7, 7}} {
		got, err := readOwner(text)
		if err != nil || !cmp.Equal(got, want, cmp.AllowUnexported(owner{})) {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"nobody", "1:staff"} {
		if _, err := readOwner(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func prefixed(with string, names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, with+n)
	}
	return out
}

func listed(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := "link"
		if info.Mode().IsRegular() {
			mode = map[fs.FileMode]string{0o644: "0644", 0o600: "0600", 0o755: "0755"}[info.Mode().Perm()]
		}
		out = append(out, strings.TrimPrefix(name, root)+" "+mode)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
