package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk mounts a disk of its own, with room for little.
func smallDisk(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	dir := realTempDir(t)
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk can be mounted: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return dir
}

// fill writes to a file until there is no room.
func fill(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	for size := 64 << 10; size > 0; size /= 2 {
		for err == nil {
			_, err = f.Write(bytes.Repeat([]byte{1}, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		err = nil
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// asks is a request for preferences to be stored, and its answer.
func (m *mortal) asks(t *testing.T, body string) (status int, answer string) {
	t.Helper()
	return askWith(t, m.base, "", http.MethodPut, "/api/tools/preferences", body)
}

// TestDiskThatTakesNothing serves from a disk that is full, and from one that is read-only: searches are answered from
// memory, writes are refused with a code, health tells of it, the log does once, and all is well when there is room
// again.
func TestDiskThatTakesNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for what servers store every few seconds")
	}
	for name, disk := range map[string]struct {
		spoil, mend func(t *testing.T, dir string)
	}{
		"full": {
			func(t *testing.T, dir string) { fill(t, filepath.Join(dir, "filler")) },
			func(t *testing.T, dir string) {
				if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
					t.Fatal(err)
				}
			},
		},
		"read-only": {
			func(t *testing.T, dir string) { remount(t, dir, "ro") },
			func(t *testing.T, dir string) { remount(t, dir, "rw") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := smallDisk(t)
			data := filepath.Join(dir, "data")
			runCommand(t, data, append([]string{"import"}, manyDumps(t, 1)[:3]...)...)
			var servers []*mortal
			if name == "full" { // a disk on which files are open for writing cannot be made read-only
				servers = append(servers, startMortal(t, data))
				ends(t, servers[0])
			}
			disk.spoil(t, dir)
			servers = append(servers, startMortal(t, data)) // one that starts when it is too late
			ends(t, servers[len(servers)-1])
			for _, m := range servers {
				if got := string(fetched(t, m.base+"/search?q=list+invoices")); !strings.Contains(got, "kind") {
					t.Errorf("search: %s", got)
				}
				status, answer := m.asks(t, `{"maxTools": 7}`)
				if status == http.StatusOK { // there were free pages in the file
					var names []string
					for n := range 900 {
						names = append(names, fmt.Sprintf(`"gone/%d%s"`, n, strings.Repeat("x", 100)))
					}
					status, answer = m.asks(t, `{"neverInclude": [`+strings.Join(names, ",")+`]}`)
				}
				if status != http.StatusInternalServerError || !strings.Contains(answer, `"code":"internal"`) {
					t.Errorf("a write: %d %s", status, answer)
				}
				if got := string(fetched(t, m.base+"/readyz")); !strings.Contains(got, "warnings") ||
					!strings.Contains(got, "disk") {
					t.Errorf("health: %s", got)
				}
			}
			if got := tried(t, data, "list"); got.code != exitDone || !strings.Contains(got.stdout, "kind00") {
				t.Errorf("list: %+v", got)
			}
			big := strings.Repeat("x", 100<<10)
			if got := tried(t, data, "servers", "add", "--no-import", "more", "--", "none", big, big, big, big, big,
				big); got.code != exitFailed || !strings.Contains(got.stderr, "hint: ") {
				t.Errorf("servers add: %+v", got)
			}
			if name == "read-only" { // a full disk has room for small things within the file
				eventually(t, "the log tells of it", func() bool { return servers[0].said("could not be stored") > 0 })
			}
			disk.mend(t, dir)
			for _, m := range servers {
				if status, answer := m.asks(t, `{"maxTools": 8}`); status != http.StatusOK {
					t.Errorf("a write when there is room: %d %s", status, answer)
				}
				if got := string(fetched(t, m.base+"/readyz")); strings.Contains(got, "warnings") {
					t.Errorf("health: %s", got)
				}
				if n := m.said("counted could not be stored"); n > 1 {
					t.Errorf("the log tells of it %d times", n)
				}
			}
			runCommand(t, data, "index", "verify")
		})
	}
}

// ends stops a server at the end of the test.
func ends(t *testing.T, m *mortal) {
	t.Cleanup(func() {
		if err := m.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = m.Wait() // killed
	})
}

func remount(t *testing.T, dir, how string) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,"+how, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
