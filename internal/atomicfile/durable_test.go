package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tooldex/internal/atomicfile"
	"tooldex/internal/faultfs"
)

const envFile = "DURABLE_TEST_FILE"

// change is what the other process does: it makes the folder, if need be, and replaces the file.
func change(file string) error {
	return errors.Join(atomicfile.MkdirAll(filepath.Dir(file), 0o700),
		atomicfile.Write(file, []byte("the new text"), 0o600))
}

func TestMain(m *testing.M) {
	if file := os.Getenv(envFile); file != "" {
		if err := change(file); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestEveryOperationSpoiled spoils each operation of a replacement in each way: there is the old text or the new one,
// the new one where the command said that it was done, and nothing else remains but what a killed process leaves.
func TestEveryOperationSpoiled(t *testing.T) {
	if err := faultfs.Supported(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("runs a hundred processes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, was string }{
		"a new file": {"file", ""}, "a file that is there": {"file", "the old text"}, "new folders": {"a/b/file", ""},
	} {
		for _, fault := range []faultfs.Fault{
			faultfs.Fail, faultfs.Short, faultfs.Kill, faultfs.Tear, faultfs.Power, faultfs.PowerPart,
		} {
			t.Run(fmt.Sprintf("%s of %s", fault, name), func(t *testing.T) {
				t.Parallel()
				was := c.was
				for n := 1; ; n++ {
					dir := folder(t)
					file := filepath.Join(dir, filepath.FromSlash(c.file))
					if was != "" {
						put(t, file, was)
					}
					cmd := exec.Command(self)
					cmd.Env = append(os.Environ(), envFile+"="+file)
					p := faultfs.Plan{Dir: dir, N: n, Fault: fault, Errno: syscall.EIO, Seed: uint64(n)}
					out, err := faultfs.Run(cmd, p)
					if err != nil {
						t.Fatal(err)
					}
					now, err := os.ReadFile(file)
					if err != nil && (was != "" || !errors.Is(err, fs.ErrNotExist)) {
						t.Fatalf("%s: %v", out.Op(p), err)
					}
					done := !out.Killed && out.Code == 0
					if string(now) != "the new text" && (done || string(now) != was) {
						t.Fatalf("%s: the file holds %q", out.Op(p), now)
					}
					if names, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); !out.Killed && len(names) > 0 {
						t.Errorf("%s: left %v", out.Op(p), names)
					}
					if !out.Hit {
						if n < 8 {
							t.Errorf("only %d operations", n-1)
						}
						return
					}
				}
			})
		}
	}
}

func TestCreate(t *testing.T) {
	dir := folder(t)
	file := filepath.Join(dir, "[a]*")
	if err := atomicfile.Write(file, []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if err := atomicfile.Write(link, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "two" {
		t.Errorf("%q, %v; want what the link points to replaced", b, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	failed := errors.New("no more")
	err := atomicfile.Create(file, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "three")
		return errors.Join(err, failed)
	})
	if b, readErr := os.ReadFile(file); !errors.Is(err, failed) || readErr != nil || string(b) != "two" {
		t.Errorf("%v; the file holds %q, %v", err, b, readErr)
	}
	if err := atomicfile.Write(os.DevNull, []byte("x"), 0o600); err != nil {
		t.Errorf("a device: %v", err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "none", "file"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}

// TestStrays leaves files beside another: the old ones go with the next write, and those of others stay.
func TestStrays(t *testing.T) {
	dir := folder(t)
	file := filepath.Join(dir, "file")
	old, young, other := atomicfile.Beside(file), atomicfile.Beside(file), filepath.Join(dir, ".file2.new-1-2")
	for _, name := range []string{old, young, other} {
		put(t, name, "x")
	}
	long := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(old, long, long), os.Chtimes(other, long, long)); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if d := cmp.Diff([]string{young, other}, left); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
}

func TestMkdirAll(t *testing.T) {
	dir := folder(t)
	for _, name := range []string{"a/b/c", "a/b/c/", "a/./d", "."} {
		path := dir + "/" + name
		if err := atomicfile.MkdirAll(path, 0o700); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	put(t, filepath.Join(dir, "file"), "x")
	for _, name := range []string{"file", "file/below"} {
		if err := atomicfile.MkdirAll(filepath.Join(dir, name), 0o700); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := atomicfile.MkdirAll("", 0o700); err == nil {
		t.Error("a folder without a name: no error")
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
