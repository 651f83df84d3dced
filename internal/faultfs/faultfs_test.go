package faultfs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/internal/faultfs"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("FAULTFS_WRITE"); dir != "" {
		if err := rewrite(dir); err != nil {
			fmt.Println(err)
			os.Exit(7)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// rewrite is what is spoiled: it writes a file beside another and renames it.
func rewrite(dir string) error {
	f, err := os.Create(filepath.Join(dir, "new"))
	if err != nil {
		return err
	}
	if _, err := f.WriteString("12345678"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, "old"))
}

func run(t *testing.T, p faultfs.Plan) *faultfs.Outcome {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "FAULTFS_WRITE="+p.Dir)
	out, err := faultfs.Run(cmd, p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRun spoils each operation of a small program in each way.
func TestRun(t *testing.T) {
	if err := faultfs.Supported(); err != nil {
		t.Skip(err)
	}
	operations := []string{"open new", "write new", "sync new", "close new", "rename new"}
	t.Run("count", func(t *testing.T) {
		out := run(t, faultfs.Plan{Dir: folder(t)})
		if d := cmp.Diff(operations, out.Ops); d != "" || out.Code != 0 || out.Hit || out.Killed {
			t.Errorf("%+v\n%s", out, d)
		}
	})
	for n := 1; n <= len(operations); n++ {
		for _, fault := range []faultfs.Fault{faultfs.Fail, faultfs.Short, faultfs.Kill, faultfs.Tear} {
			t.Run(fmt.Sprintf("%s %s", fault, operations[n-1]), func(t *testing.T) {
				p := faultfs.Plan{Dir: folder(t), N: n, Fault: fault, Errno: syscall.EIO}
				out := run(t, p)
				if out.Op(p) != operations[n-1] {
					t.Errorf("spoiled %q", out.Op(p))
				}
				if killed := fault == faultfs.Kill || fault == faultfs.Tear; out.Killed != killed || !killed &&
					out.Code != 7 {
					t.Errorf("killed %v, exit code %d", out.Killed, out.Code)
				}
				want := "input/output error"
				if fault == faultfs.Short && n == 2 {
					want = "no space left"
				}
				if !out.Killed && !strings.Contains(string(out.Stdout), want) {
					t.Errorf("it says %q, want %q", out.Stdout, want)
				}
				left, _ := os.ReadFile(filepath.Join(p.Dir, "new"))
				if n == 2 && len(left) != map[faultfs.Fault]int{faultfs.Short: 4, faultfs.Tear: 4}[fault] {
					t.Errorf("%q was written", left)
				}
				if _, err := os.Stat(filepath.Join(p.Dir, "old")); err == nil {
					t.Error("it went on to the end")
				}
			})
		}
	}
	t.Run("past the end", func(t *testing.T) {
		if out := run(t, faultfs.Plan{Dir: folder(t), N: 99}); out.Hit || out.Code != 0 {
			t.Errorf("%+v", out)
		}
	})
}

// TestProcesses starts processes in the command: they work, do not count, and end with it.
func TestProcesses(t *testing.T) {
	if err := faultfs.Supported(); err != nil {
		t.Skip(err)
	}
	p := faultfs.Plan{Dir: folder(t)}
	cmd := exec.Command("/bin/sh", "-c", "echo mine >own; cat own; (echo theirs >other; cat other); sleep 1000 &")
	cmd.Dir = p.Dir
	out, err := faultfs.Run(cmd, p)
	if err != nil {
		t.Fatal(err)
	}
	if string(out.Stdout) != "mine\ntheirs\n" || out.Killed || out.Code != 0 {
		t.Errorf("%+v", out)
	}
	if ops := strings.Join(out.Ops, "\n"); !strings.Contains(ops, "open own") || strings.Contains(ops, "other") {
		t.Errorf("counted %q", out.Ops)
	}
}

// folder returns a new folder by the name that the system knows it by.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
