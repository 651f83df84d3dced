package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
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

// TestImage does what the Dockerfile says, tries what it makes, and wants the same bits of the same program built here:
// from another folder, with another cache of the compiler.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles everything once")
	}
	may := available(t.Context())
	if may == none {
		t.Skip("neither root nor user namespaces are to be had: the steps of the Dockerfile were not run")
	}
	t.Chdir("../..")
	w := work{tools: "internal/container/testdata/notes.json", args: map[string]string{
		"VERSION": "v0.0.0-trial",
		"COMMIT":  "none",
	}}
	im, err := w.build(t.Context(), may, t.TempDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := w.try(t.Context(), &said, may, im); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	t.Run("the same bits", func(t *testing.T) { sameBits(t, im.root) })
	t.Run("faults are found", func(t *testing.T) { faults(t, may, im) })
}

// sameBits publishes for this platform, and wants what is in the archive to be what is in the image.
func sameBits(t *testing.T, root string) {
	dist := filepath.Join(t.TempDir(), "dist")
	cmd := exec.CommandContext(t.Context(), "go", "run", "./tools/release", "archives", "-platform",
		"linux/"+runtime.GOARCH, "-version", "v0.0.0-trial", "-commit", "none", "-o", dist)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=0") // as in the Dockerfile
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd = exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	cmd.Dir = dist
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Count(out, []byte(": OK\n")) != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	name := "tooldex_0.0.0-trial_linux_" + runtime.GOARCH
	published := unpacked(t, filepath.Join(dist, name+".tar.gz"))
	bill, err := os.ReadFile(filepath.Join(dist, name+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	published["bill"] = bill
	for file, ours := range map[string]string{
		"usr/local/bin/tooldex": name + "/tooldex", "usr/share/doc/tooldex/THIRD_PARTY": name + "/THIRD_PARTY",
		"usr/share/doc/tooldex/NOTICE":  name + "/NOTICE",
		"usr/share/doc/tooldex/LICENSE": name + "/LICENSE", "usr/share/doc/tooldex/tooldex.cdx.json": "bill",
	} {
		got, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Error(err)
		}
		if !bytes.Equal(got, published[ours]) {
			t.Errorf("%s of the image has other bits than what is published", file)
		}
	}
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		if !bytes.Contains(published[name+"/completions/tooldex."+shell], []byte("tooldex")) {
			t.Errorf("there is no completion for %s", shell)
		}
	}
	if len(published) != 12 {
		t.Errorf("the archive holds %q", slices.Sorted(maps.Keys(published)))
	}
}

func unpacked(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if out[h.Name], err = io.ReadAll(tr); err != nil {
			t.Fatal(err)
		}
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
		"a check that is always well": {
			func(tr *trial) { tr.Health = []string{tr.Health[0], "version"} },
			"HEALTHCHECK fails while nothing serves",
		},
		"a program that is not there": {func(tr *trial) { tr.Entrypoint = []string{"/bin/sh"} }, "no such file"},
		"a port that needs no token": {
			func(tr *trial) { tr.Cmd = []string{"version"} },
			"without a token it does not start",
		},
		"a program that is root": {func(tr *trial) { tr.UID, tr.GID = 0, 0 }, "the program has capabilities"},
		"no such tool": {
			func(tr *trial) { tr.Hit = "remove_everything" },
			`want 200 and "remove_everything"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := im.trial(may, tools)
			c.change(&tr)
			if err := may.inside(t.Context(), "trial", false, tr); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
