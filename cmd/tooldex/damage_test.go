package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tooldex/store"
	"tooldex/tool"
)

// outcome is what a run of the command came to.
type outcome struct {
	code           int
	stdout, stderr string
}

func tried(t *testing.T, data string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), builtCommand(t), args...)
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+data)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// TestDamagedFiles flips bits all over the file and cuts it off: the built command lists all there is, or says what is
// damaged; rebuild then keeps the file and saves the rest.
func TestDamagedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the command hundreds of times")
	}
	dir := realTempDir(t)
	data := filepath.Join(dir, "data")
	runCommand(t, data, append([]string{"import"}, manyDumps(t, 1)[:6]...)...)
	runCommand(t, data, "servers", "add", "--no-import", "kept", "--", "none")
	file := filepath.Join(data, store.FileName)
	good, want := fileIn(t, dir), runCommand(t, data, "list", "-o", "json")
	type damage struct {
		what string
		file []byte
	}
	var all []damage
	for at := 0; at < len(good); at += max(1, len(good)*5/(*kills)) {
		b := bytes.Clone(good)
		b[at] ^= 1 << (at % 8)
		all = append(all, damage{"a bit flipped", b})
	}
	for _, n := range []int{0, 1, 4096, 5000, len(good) / 3, len(good) / 2, len(good) - 4096, len(good) - 1} {
		all = append(all, damage{"cut off", good[:n]})
	}
	noticed := 0
	for i, d := range all {
		if err := os.WriteFile(file, d.file, 0o600); err != nil {
			t.Fatal(err)
		}
		got := tried(t, data, "list", "-o", "json")
		if strings.Contains(got.stderr, "panic") || strings.Contains(got.stderr, "goroutine") {
			t.Fatalf("%s, %d: %s", d.what, i, got.stderr)
		}
		said := strings.Contains(got.stderr, "damaged")
		if said {
			noticed++
		}
		if !said && (got.code != exitDone || got.stdout != want) {
			t.Fatalf("%s, %d: exit code %d, and not a word of damage: %s", d.what, i, got.code, got.stderr)
		}
		if !said || i%3 > 0 {
			continue
		}
		if v := tried(t, data, "index", "verify"); v.code != exitFailed || !strings.Contains(v.stderr, file) {
			t.Errorf("%s, %d: verify ends with %d: %s", d.what, i, v.code, v.stderr)
		}
		var r rebuilt
		if out := tried(t, data, "index", "rebuild", "--no-sources", "-o", "json"); out.code != exitDone ||
			json.Unmarshal([]byte(out.stdout), &r) != nil {
			t.Fatalf("%s, %d: rebuild ends with %d: %s", d.what, i, out.code, out.stderr)
		}
		if kept, err := os.ReadFile(r.Backup); err != nil || !bytes.Equal(kept, d.file) {
			t.Errorf("%s, %d: the damaged file is not kept: %v", d.what, i, err)
		}
		if v := tried(t, data, "index", "verify"); v.code != exitDone {
			t.Errorf("%s, %d: after the rebuild: %s", d.what, i, v.stderr)
		}
	}
	if noticed < 8 {
		t.Errorf("only %d of %d kinds of damage were noticed", noticed, len(all))
	}
	t.Logf("%d of %d noticed", noticed, len(all))
}

// TestServeOnADamagedFile starts a server on a file that cannot be opened: it saves what it can, keeps the file, and
// says so. What is damaged while it serves keeps nobody from searching, and is told to who asks for its health.
func TestServeOnADamagedFile(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	data := filepath.Join(dir, "data")
	runCommand(t, data, append([]string{"import"}, manyDumps(t, 1)[:2]...)...)
	backup := filepath.Join(dir, "backup.zip")
	runCommand(t, data, "index", "backup", backup)
	damageFile(t, dir, func(b []byte) []byte {
		clear(b[:2*os.Getpagesize()])
		return b
	})
	base := serveHTTP(t, data)
	found := func() int {
		var r tool.Result
		if err := json.Unmarshal(fetched(t, base+"/search?q=list+invoices"), &r); err != nil {
			t.Fatal(err)
		}
		return len(r.Tools)
	}
	ailing := func() string { return string(fetched(t, base+"/readyz")) }
	if found() == 0 {
		t.Error("nothing was saved")
	}
	if kept, err := filepath.Glob(filepath.Join(data, "*.damaged-*")); err != nil || len(kept) != 1 {
		t.Errorf("kept %v, %v", kept, err)
	}
	if got := ailing(); strings.Contains(got, "warnings") {
		t.Errorf("it ails after it was healed: %s", got)
	}
	damageFile(t, dir, func([]byte) []byte { return []byte("This is no database at all, and it never was one.") })
	eventually(t, "the damage is told", func() bool { return strings.Contains(ailing(), "index rebuild") })
	if found() == 0 {
		t.Error("what is in memory is not served")
	}
	runCommand(t, data, "index", "restore", backup)
	eventually(t, "all is well again", func() bool { return !strings.Contains(ailing(), "warnings") })
	if found() == 0 {
		t.Error("what was restored is not served")
	}
	if names, _ := filepath.Glob(filepath.Join(data, store.FileName+".*")); !slices.ContainsFunc(names,
		func(n string) bool { return strings.Contains(n, "before-restore") }) {
		t.Errorf("the file that was there before the restore is not kept: %v", names)
	}
}
