package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the tests start themselves in namespaces of their own, as the program does.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == insideVerb {
		fail(insideMain(os.Args[2]))
		return
	}
	os.Exit(m.Run())
}

// TestImage does what the Dockerfile says, tries what it makes, and wants the same bits of the same program built here: from another
// folder, with another cache of the compiler.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles everything once")
	}
	may := available(t.Context())
	if may == none {
		t.Skip("neither root nor user namespaces are to be had: the steps of the Dockerfile were not run")
	}
	t.Chdir("../..")
	w := work{tools: "internal/container/testdata/notes.json", args: map[string]string{"VERSION": "v0.0.0-trial", "COMMIT": "none"}}
	im, err := w.build(t.Context(), may, t.TempDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := w.try(t.Context(), &said, may, im); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	t.Run("the same bits", func(t *testing.T) { sameBits(t, filepath.Join(im.root, "usr/local/bin/tooldex")) })
	t.Run("faults are found", func(t *testing.T) { faults(t, may, im) })
}

func sameBits(t *testing.T, program string) {
	again := filepath.Join(t.TempDir(), "tooldex")
	out, err := exec.CommandContext(t.Context(), "go", "run", "./internal/release", "binary", "-version", "v0.0.0-trial", "-commit", "none", "-o", again).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("the program of the image has other bits than the one built here")
	}
}

// faults shows that the trial can fail: each image below lacks one thing.
func faults(t *testing.T, may space, im *image) {
	tools, err := filepath.Abs("internal/container/testdata/notes.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*trial)
		want   string
	}{
		"a check that is always well": {func(tr *trial) { tr.Health = []string{tr.Health[0], "version"} }, "HEALTHCHECK fails while nothing serves"},
		"a program that is not there": {func(tr *trial) { tr.Entrypoint = []string{"/bin/sh"} }, "no such file"},
		"a port that needs no token":  {func(tr *trial) { tr.Cmd = []string{"version"} }, "without a token it does not start"},
		"a program that is root":      {func(tr *trial) { tr.UID, tr.GID = 0, 0 }, "the program has capabilities"},
		"no such tool":                {func(tr *trial) { tr.Hit = "remove_everything" }, `want 200 and "remove_everything"`},
	} {
		t.Run(name, func(t *testing.T) {
			tr := im.trial(may, tools)
			c.change(&tr)
			if err := may.inside(t.Context(), "trial", false, tr); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
