package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFirstPage clones a small repository whose commands tell what they find.
func TestFirstPage(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	root := t.TempDir()
	readme := "# x\n\n```sh\nmkdir bin && echo \"home: $(ls -A $HOME | wc -l), data: $TOOLDEX_DATA_DIR, secret: $SECRET\"\n```\n\n```sh\ntrue\n```\n\n```sh\nfalse\n```\n"
	readme = strings.Replace(readme, "mkdir bin", "mkdir -p bin", 1)
	if err := os.WriteFile(filepath.Join(root, "README.md"), []byte(readme), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {
		"-c", "user.name=x", "-c",
		"user.email=x@example.com", "commit", "-q", "-m", "x",
	}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	t.Setenv("SECRET", "sauce")
	t.Setenv("TOOLDEX_DATA_DIR", "/somewhere")
	page, err := firstPage(t.Context(), root, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"home: 0, data: , secret:\n", "`git clone -q --no-hardlinks 'REPOSITORY' tooldex`",
		"| the second command: all tests | `true` | 0.", "From the clone to the first answer: **0.",
		"Written by `make clean-machine`",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
}

func TestReadmeCommands(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	first, second, err := readmeCommands(string(b))
	if err != nil || last(first) != `bin/tooldex search --demo "open a merge proposal"` || second != "go test ./..." {
		t.Errorf("README.md has %q and %q: %v", first, second, err)
	}
	for name, text := range map[string]string{
		"none": "# x\n", "one": "```sh\na && b\n```\n",
		"two in one": "```sh\na && b\nc\n```\n```sh\nd\n```\n",
	} {
		if _, _, err := readmeCommands(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
